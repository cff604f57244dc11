package trigon.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Timeout;
import trigon.testsupport.ProcessResources;
import trigon.testsupport.Seed;
import trigon.transport.testsupport.TestCluster;
import trigon.transport.testsupport.TestNode;
import trigon.verbs.ResourceLedger;

/**
 * Communicators that are aborted at random points, while connections come up or carry data, in any order of closing:
 * the peer gets an error for everything that was not finished, nothing hangs, and nothing is left open. A subclass says
 * over what links, and how many.
 */
@Timeout(7200)
public abstract class AbortContract {

    /**
     * So many communicators are alive at a time: a peer that closes its end in order is told of after a second only.
     */
    private static final int AT_ONCE = 48;

    /** Calls after which the last ones abort, from the start; most do much earlier. */
    private static final int MAX_STEPS = 5_000;

    /** The same for those that have both connections. */
    private static final int MAX_STEPS_IN_TRAFFIC = 300;

    private record Pair(AbortedRank a, AbortedRank b) {}

    /** Aborts so many communicators of two ranks. */
    protected final void abortsLeaveNothing(TestCluster cluster, int aborts) throws InterruptedException {
        ProcessResources before = IntegrityContract.afterWarmingUp(cluster);
        long seed = Seed.next();
        TestNode a = cluster.open("a");
        TestNode b = cluster.open("b");
        try {
            Map<ResourceLedger.Kind, Integer> idleA = a.verbs().ledger().outstanding();
            Map<ResourceLedger.Kind, Integer> idleB = b.verbs().ledger().outstanding();
            ProcessResources idle = ChurnContract.whenAllListen(2);
            AbortedRank.Outcome outcome = new AbortedRank.Outcome();
            abort(a, b, aborts, seed, outcome);
            String where = "seed " + seed + ": " + outcome;
            System.err.println(where);
            assertThat(outcome.aborts().get()).isGreaterThanOrEqualTo(aborts);
            assertThat(outcome.beforeTraffic().get()).isPositive();
            assertThat(outcome.told().get()).isPositive();
            assertThat(outcome.messages().get()).isPositive();
            ChurnContract.awaitLedger(where, a, idleA);
            ChurnContract.awaitLedger(where, b, idleB);
            ProcessResources.assertNoMoreMemoryOrDescriptorsThan(idle, IntegrityContract.TOLERATED_BYTES, where);
        } finally {
            a.close();
            b.close();
        }
        ChurnContract.nothingIsLeft(a, b, before, seed);
    }

    private static void abort(TestNode a, TestNode b, int aborts, long seed, AbortedRank.Outcome outcome)
            throws InterruptedException {
        SplittableRandom random = new SplittableRandom(seed);
        ConcurrentLinkedQueue<AbortedRank> newAtA = new ConcurrentLinkedQueue<>();
        ConcurrentLinkedQueue<AbortedRank> newAtB = new ConcurrentLinkedQueue<>();
        Semaphore room = new Semaphore(2 * AT_ONCE);
        List<Pair> pairs = new ArrayList<>();
        AtomicBoolean failed = new AtomicBoolean();
        Driver atA = new Driver(newAtA, room, failed);
        Driver atB = new Driver(newAtB, room, failed);
        try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
            List<Future<?>> runs = List.of(threads.submit(atA), threads.submit(atB));
            for (int i = 0; i < aborts; i++) {
                while (!room.tryAcquire(2, 100, TimeUnit.MILLISECONDS)) {
                    if (failed.get()) {
                        break;
                    }
                }
                boolean both = random.nextInt(5) == 0;
                boolean aAborts = both || random.nextBoolean();
                boolean bAborts = both || !aAborts;
                AbortedRank atSideA = new AbortedRank(
                        a, outcome, seed, 2 * i, aAborts ? moment(i, random) : AbortedRank.Moment.NEVER);
                AbortedRank atSideB = new AbortedRank(
                        b, outcome, seed, 2 * i + 1, bAborts ? moment(i, random) : AbortedRank.Moment.NEVER);
                atSideA.meet(atSideB);
                atSideB.meet(atSideA);
                pairs.add(new Pair(atSideA, atSideB));
                newAtA.add(atSideA);
                newAtB.add(atSideB);
            }
            atA.stop();
            atB.stop();
            for (Future<?> run : runs) {
                run.get();
            }
        } catch (ExecutionException e) {
            throw new AssertionError("seed " + seed, e.getCause());
        }
        for (Pair pair : pairs) {
            pair.a.checkAndFree();
            pair.b.checkAndFree();
        }
    }

    private static AbortedRank.Moment moment(int number, SplittableRandom random) {
        // of the first two, one certainly aborts with messages moved, and one before it is connected
        if (number < 2) {
            return new AbortedRank.Moment(number == 0 ? AbortedRank.Since.MESSAGE : AbortedRank.Since.START, 1);
        }
        // few steps more often than many, so that all phases of setting up are met
        return random.nextBoolean()
                ? new AbortedRank.Moment(AbortedRank.Since.CONNECTED, random.nextInt(1, MAX_STEPS_IN_TRAFFIC))
                : new AbortedRank.Moment(
                        AbortedRank.Since.START, (int) Math.exp(random.nextDouble() * Math.log(MAX_STEPS)));
    }

    /** A node's thread: drives all of its ranks. */
    private static final class Driver implements Runnable {
        private final ConcurrentLinkedQueue<AbortedRank> added;
        private final Semaphore room;
        private final AtomicBoolean failed;
        private volatile boolean stopping;

        Driver(ConcurrentLinkedQueue<AbortedRank> added, Semaphore room, AtomicBoolean failed) {
            this.failed = failed;
            this.added = added;
            this.room = room;
        }

        void stop() {
            stopping = true;
        }

        @Override
        public void run() {
            List<AbortedRank> ranks = new ArrayList<>();
            try {
                while (!failed.get()) {
                    boolean last = stopping;
                    for (AbortedRank rank = added.poll(); rank != null; rank = added.poll()) {
                        ranks.add(rank);
                    }
                    if (last && ranks.isEmpty()) {
                        return;
                    }
                    for (Iterator<AbortedRank> each = ranks.iterator(); each.hasNext(); ) {
                        if (!each.next().step()) {
                            each.remove();
                            room.release();
                        }
                    }
                    if (ranks.isEmpty()) {
                        Thread.onSpinWait();
                    }
                }
            } catch (RuntimeException | Error e) {
                failed.set(true);
                throw e;
            }
        }
    }
}
