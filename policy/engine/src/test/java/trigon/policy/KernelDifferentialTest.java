package trigon.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.policy.verdict.VerificationException;
import trigon.policy.verdict.VerifiedProgram;
import trigon.policy.verify.DivisionByZero;
import trigon.policy.verify.Verifier;
import trigon.policy.verify.VerifierLimits;

/**
 * Accepted programs do in the kernel what they do compiled and interpreted: result, and context. Programs without maps
 * and helpers, as the kernel's maps are others. What the kernel's verifier refuses is counted.
 */
class KernelDifferentialTest {

    private static final int PROGRAMS = Integer.getInteger("trigon.policy.kernel", 150);
    private static final int RUNS = 20;
    private static final VerifierLimits LIMITS = new VerifierLimits(5_000, 500, 50_000);

    @Test
    @Timeout(value = 300, unit = TimeUnit.SECONDS)
    void theKernelDoesTheSame() throws Exception {
        Optional<String> unavailable = KernelBpf.unavailable();
        unavailable.ifPresent(System.out::println);
        Assumptions.assumeTrue(unavailable.isEmpty(), unavailable::get);
        long seed = Long.getLong("trigon.policy.seed", System.nanoTime());
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        RandomPrograms programs = RandomPrograms.withoutMaps(random);
        int accepted = 0;
        int inKernel = 0;
        for (int i = 0; i < PROGRAMS; i++) {
            long[] code = i % 2 == 0 ? programs.next() : programs.mutated(programs.next());
            Optional<VerifiedProgram> program = verified(code);
            if (program.isPresent() && !hasNarrowExchange(code)) {
                accepted++;
                inKernel += runs(program.get(), code, random, "seed %d, program %d".formatted(seed, i)) ? 1 : 0;
            }
        }
        System.out.printf(
                "of %d programs %d accepted, %d by the kernel, too: each run %d times%n",
                PROGRAMS, accepted, inKernel, RUNS);
        assertThat(inKernel).isGreaterThan(accepted / 2);
    }

    /**
     * Tells whether it compares and exchanges 32 bits. The instruction set (RFC 9669, section 5.3) fills r0 up with
     * zeros then. Linux 6.18 on x86-64 leaves the upper half as it was, where its verifier has pruned the path that
     * reads it.
     */
    private static boolean hasNarrowExchange(long[] code) {
        return Arrays.stream(code).anyMatch(slot -> (slot & 0xff) == 0xc3 && (int) (slot >> 32) == 0xf1);
    }

    private static Optional<VerifiedProgram> verified(long[] code) {
        try {
            return Optional.of(new Verifier(LIMITS, DivisionByZero.DEFINED)
                    .verify(Code.object("test", List.of(), code), 0, Bench.TYPE));
        } catch (VerificationException _) {
            return Optional.empty();
        }
    }

    private static boolean runs(VerifiedProgram program, long[] code, Random random, String which) throws Exception {
        Optional<KernelBpf> kernel = KernelBpf.load(code);
        if (kernel.isEmpty()) {
            return false;
        }
        try (Arena arena = Arena.ofConfined();
                KernelBpf loaded = kernel.get();
                Bench bench = new Bench(program)) {
            MemorySegment context = arena.allocate(Bench.CONTEXT_BYTES, 8);
            for (int run = 0; run < RUNS; run++) {
                long a = InterestingNumbers.next(random);
                long b = InterestingNumbers.next(random);
                context.fill((byte) 0).set(ValueLayout.JAVA_LONG, 0, a);
                context.set(ValueLayout.JAVA_LONG, 8, b);
                int here = (int) bench.run(a, b, random);
                int there = loaded.run(context);
                if (here != there || bench.context().mismatch(context) >= 0) {
                    throw new AssertionError("%s, a %d, b %d: %x and %s here, %x and %s in the kernel"
                            .formatted(which, a, b, here, words(bench.context()), there, words(context)));
                }
            }
        }
        return true;
    }

    private static List<String> words(MemorySegment context) {
        return Arrays.stream(context.toArray(ValueLayout.JAVA_LONG))
                .mapToObj(Long::toHexString)
                .limit(5)
                .toList();
    }
}
