package trigon.policy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import trigon.policy.map.MapSet;
import trigon.policy.program.ProgramType;
import trigon.policy.program.ProgramType.Field;
import trigon.policy.verify.VerifierLimits;
import trigon.testsupport.Await;

/**
 * Replaces a policy under decisions: four threads decide at a fixed rate, without and with
 * replacements, in turns. Each call is timed by itself, the clock's cost included. Exits with 1 if a decision is lost
 * or torn. Arguments: the folder of the policies' objects, decisions a second, seconds of a turn, turns.
 */
final class ReloadBenchmark {

    private static final int THREADS = 4;
    private static final int REPLACEMENTS_PER_SECOND = 20;
    private static final int BYTES = 2048;

    private static final ProgramType TUNER = ProgramType.TUNER;
    private static final Field SIZE = TUNER.field("n_bytes");
    private static final Field ALGORITHM = TUNER.field("algorithm");
    private static final Field PROTOCOL = TUNER.field("protocol");
    private static final Field CHANNELS = TUNER.field("n_channels");

    private final PolicyHost host = new PolicyHost(new PolicyLoader(VerifierLimits.DEFAULT), new MapSet());
    private final byte[] sizes;
    private final byte[] steps;
    private final byte[] bad;
    private final long intervalNanos;
    private final long decisionsBetween;

    private ReloadBenchmark(Path objects, long decisionsPerSecond) throws Exception {
        sizes = object(objects, "safe_size_aware");
        steps = object(objects, "safe_size_aware_steps");
        bad = object(objects, "unsafe_division");
        intervalNanos = TimeUnit.SECONDS.toNanos(1) * THREADS / decisionsPerSecond;
        decisionsBetween = decisionsPerSecond / REPLACEMENTS_PER_SECOND;
        host.replace("p", sizes);
    }

    /** The observations of one thread. */
    private static final class Seen {
        private static final int BUCKETS = 1 << 20;

        final int[] byNanos = new int[BUCKETS];
        volatile long decisions;
        long lost;
        long torn;

        void add(long nanos) {
            byNanos[Math.clamp(nanos, 0, BUCKETS - 1)]++;
        }
    }

    public static void main(String[] arguments) throws Exception {
        long rate = arguments.length > 1 ? Long.parseLong(arguments[1]) : 10_000_000;
        int seconds = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 5;
        int turns = arguments.length > 3 ? Integer.parseInt(arguments[3]) : 5;
        ReloadBenchmark benchmark = new ReloadBenchmark(Path.of(arguments[0]), rate);
        boolean ok = true;
        benchmark.turn(seconds, true); // warms up
        for (int turn = 0; turn < turns; turn++) {
            ok &= benchmark.turn(seconds, false);
            ok &= benchmark.turn(seconds, true);
        }
        if (!ok) {
            System.exit(1);
        }
    }

    private boolean turn(int seconds, boolean replaces) throws Exception {
        AtomicBoolean stop = new AtomicBoolean();
        List<Seen> all = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            Seen seen = new Seen();
            all.add(seen);
            threads.add(Thread.ofPlatform().start(() -> decide(stop, seen)));
        }
        long began = System.nanoTime();
        long end = began + TimeUnit.SECONDS.toNanos(seconds);
        int replaced = 0;
        int refused = 0;
        while (System.nanoTime() - end < 0) {
            if (replaces) {
                host.replace("p", replaced++ % 2 == 0 ? steps : sizes);
                refused += isRefused() ? 1 : 0;
            }
            long enough = decisions(all) + decisionsBetween;
            Await.until("decisions", () -> decisions(all) >= enough);
        }
        stop.set(true);
        for (Thread thread : threads) {
            thread.join();
        }
        return print(all, System.nanoTime() - began, replaced, refused);
    }

    private static long decisions(List<Seen> all) {
        return all.stream().mapToLong(seen -> seen.decisions).sum();
    }

    private boolean isRefused() {
        try {
            host.replace("p", bad);
            return false;
        } catch (PolicyException e) {
            return true;
        }
    }

    private void decide(AtomicBoolean stop, Seen seen) {
        PolicyHost.Slot tuner = host.slot(TUNER);
        try (ProgramContext context = new ProgramContext(TUNER)) {
            SIZE.set(context.address(), BYTES);
            long next = System.nanoTime();
            long count = 0;
            while (!stop.get()) {
                context.set(ALGORITHM, -1);
                context.set(PROTOCOL, -1);
                context.set(CHANNELS, 0);
                long start = System.nanoTime();
                long result = tuner.run(context);
                seen.add(System.nanoTime() - start);
                count++;
                seen.decisions = count; // by this thread alone
                if (result != ProgramType.APPLY) {
                    seen.lost++;
                } else if (!isWhole(context)) {
                    seen.torn++;
                }
                next += intervalNanos;
                while (System.nanoTime() - next < 0) {
                    Thread.onSpinWait();
                }
            }
        }
    }

    /** As one of the policies decides: LL trees, or one channel. */
    private static boolean isWhole(ProgramContext context) {
        long algorithm = context.get(ALGORITHM);
        long protocol = context.get(PROTOCOL);
        long channels = context.get(CHANNELS);
        return (algorithm == 0 && protocol == 0 && channels == 0)
                || (algorithm == -1 && protocol == -1 && channels == 1);
    }

    private static boolean print(List<Seen> all, long nanos, int replaced, int refused) {
        long decisions = decisions(all);
        long lost = all.stream().mapToLong(seen -> seen.lost).sum();
        long torn = all.stream().mapToLong(seen -> seen.torn).sum();
        System.out.printf(
                "%3d replaced, %3d refused: %,.0f decisions/s, %d lost, %d torn; ns: P50 %d, P99 %d, P99.9 %d,"
                        + " P99.99 %d%n",
                replaced,
                refused,
                decisions * 1e9 / nanos,
                lost,
                torn,
                percentile(all, decisions, 0.5),
                percentile(all, decisions, 0.99),
                percentile(all, decisions, 0.999),
                percentile(all, decisions, 0.9999));
        return lost == 0 && torn == 0;
    }

    private static int percentile(List<Seen> all, long decisions, double share) {
        long left = (long) (decisions * share);
        for (int nanos = 0; nanos < Seen.BUCKETS; nanos++) {
            for (Seen seen : all) {
                left -= seen.byNanos[nanos];
            }
            if (left < 0) {
                return nanos;
            }
        }
        return Seen.BUCKETS;
    }

    /** Reads the object that clang has made of a policy of that name. */
    private static byte[] object(Path folder, String name) throws IOException {
        return Files.readAllBytes(folder.resolve(name + ".o"));
    }
}
