package trigon.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import trigon.policy.elf.PolicyObject;
import trigon.policy.map.MapSet;
import trigon.policy.verdict.Rejection.Rule;
import trigon.policy.verdict.VerificationException;
import trigon.policy.verify.DivisionByZero;
import trigon.policy.verify.Verifier;
import trigon.policy.verify.VerifierLimits;

/**
 * Runs conformance data of the instruction set, interpreted and compiled: a few files of our own, or those in the
 * folder that {@code trigon.conformance} names, as the {@code tests} of bpf_conformance. In a folder {@code negative}
 * each file is wrong in some way.
 */
class ConformanceTest {

    private static final Path OWN = Path.of("src/test/resources/conformance");
    private static final int STACK_BYTES = 9 * 512;
    private static final long MAX_STEPS = 1_000_000;

    /** Rules against what the instruction set has, and policies do not. */
    private static final Set<Rule> NOT_CLAIMED = EnumSet.of(Rule.INVALID_INSTRUCTION, Rule.UNKNOWN_HELPER);

    private final Verifier verifier = new Verifier(VerifierLimits.DEFAULT, DivisionByZero.DEFINED);
    private final Map<String, List<String>> outcomes = new TreeMap<>();
    private final List<String> failed = new ArrayList<>();

    @Test
    void dataHaveTheirResults() throws Exception {
        String folder = System.getProperty("trigon.conformance", "");
        List<Path> files = dataIn(folder.isEmpty() ? OWN : Path.of(folder));
        assertThat(files).as("files *.data").isNotEmpty();

        for (Path file : files) {
            run(file, folder.endsWith("negative"));
        }

        outcomes.forEach((outcome, names) -> System.out.printf(
                "%d %s%s%n",
                names.size(), outcome, outcome.startsWith("passed") ? "" : ": " + String.join(" ", names)));
        System.out.printf("%d failed, of %d files%n", failed.size(), files.size());
        assertThat(failed).isEmpty();
        if (folder.isEmpty()) {
            assertThat(outcomes.keySet())
                    .containsExactly(
                            "not claimed: INVALID_INSTRUCTION",
                            "passed, interpreted and compiled",
                            "passed, interpreted; the verifier's rule ALIGNMENT refuses it",
                            "passed, refused as it has to be");
        }
    }

    private static List<Path> dataIn(Path folder) throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            return all.filter(file -> file.toString().endsWith(".data"))
                    .sorted()
                    .toList();
        }
    }

    private void run(Path file, boolean isWrong) {
        String name = String.valueOf(file.getFileName());
        try {
            String outcome = outcome(ConformanceCase.read(file));
            if (isWrong && !outcome.contains("refuse")) {
                failed.add(name + ": " + outcome);
            } else {
                outcome(outcome, name);
            }
        } catch (Exception | AssertionError e) {
            if (isWrong) {
                outcome("passed, wrong as it has to be", name);
            } else {
                failed.add(name + ": " + e);
            }
        }
    }

    private String outcome(ConformanceCase data) throws Exception {
        return data.result().isEmpty() ? refused(data) : result(data);
    }

    private void outcome(String outcome, String name) {
        outcomes.computeIfAbsent(outcome, _ -> new ArrayList<>()).add(name);
    }

    private String refused(ConformanceCase data) {
        try {
            var _ = verifier.verify(data.object(), 0, Bench.TYPE);
        } catch (VerificationException e) {
            assertThat(e.rejection().rule()).isEqualTo(Rule.INVALID_INSTRUCTION);
            return "passed, refused as it has to be";
        }
        throw new AssertionError("accepted");
    }

    private String result(ConformanceCase data) throws Exception {
        try (Bench bench = new Bench(verifier.verify(data.object(), 0, Bench.TYPE))) {
            assertThat(bench.run(0, 0, new Random(1))).isEqualTo(data.result().getAsLong());
            return "passed, interpreted and compiled";
        } catch (VerificationException e) {
            Rule rule = e.rejection().rule();
            if (NOT_CLAIMED.contains(rule)) {
                return "not claimed: " + rule;
            }
            assertThat(interpreted(data.object())).isEqualTo(data.result().getAsLong());
            return "passed, interpreted; the verifier's rule " + rule + " refuses it";
        }
    }

    private static long interpreted(PolicyObject object) throws Exception {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment stack = arena.allocate(STACK_BYTES, 64);
            Interpreter interpreter = new Interpreter(object, new MapSet().bind(object.maps()), MAX_STEPS);
            interpreter.allow(stack.address(), STACK_BYTES);
            return interpreter.run(0, 0, stack.address() + STACK_BYTES);
        }
    }
}
