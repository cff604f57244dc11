package trigon.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import trigon.nccl.NetPlugin;
import trigon.system.kernel.KernelEvents;
import trigon.testsupport.Await;
import trigon.testsupport.LedgerAssert;
import trigon.testsupport.ProcessResources;
import trigon.testsupport.Seed;
import trigon.transport.testsupport.Connected;
import trigon.transport.testsupport.TestCluster;
import trigon.transport.testsupport.TestNode;
import trigon.verbs.ResourceLedger;

/**
 * Connections and communicators that come and go by the thousand leave nothing behind: no queue pair, completion queue,
 * memory region, protection domain or device context, no native memory, no file descriptor and no thread. A subclass
 * says over what links, and how many.
 */
@Timeout(7200)
public abstract class ChurnContract {

    private static final int BUFFER_BYTES = 256 << 10;
    private static final int MAX_OPEN_AT_ONCE = 12;

    /** A communicator of two ranks, each of which sends to the other. */
    private record Communicator(long contextOfA, long contextOfB, Connected ab, Connected ba) {}

    /** Connects, sends a few messages and closes, so many times, on two threads. */
    protected final void cyclesLeaveNothing(TestCluster cluster, int cycles) throws InterruptedException {
        ProcessResources before = IntegrityContract.afterWarmingUp(cluster);
        long seed = Seed.next();
        TestNode a = cluster.open("a");
        TestNode b = cluster.open("b");
        try (ExecutorService other = Executors.newSingleThreadExecutor()) {
            Map<ResourceLedger.Kind, Integer> idleA = a.verbs().ledger().outstanding();
            Map<ResourceLedger.Kind, Integer> idleB = b.verbs().ledger().outstanding();
            ProcessResources idle = whenAllListen(2);
            cycle(a, b, cycles / 10, seed, other);
            ProcessResources early = ProcessResources.now();
            cycle(a, b, cycles - cycles / 10, seed + 1, other);
            String where = "seed " + seed + ", after " + cycles + " cycles";
            awaitLedger(where, a, idleA);
            awaitLedger(where, b, idleB);
            report(where, early);
            // a process that lives on, with the plugin open
            ProcessResources.assertNoMoreMemoryOrDescriptorsThan(idle, IntegrityContract.TOLERATED_BYTES, where);
        } finally {
            a.close();
            b.close();
        }
        nothingIsLeft(a, b, before, seed);
    }

    private static void cycle(TestNode a, TestNode b, int cycles, long seed, ExecutorService other)
            throws InterruptedException {
        Future<?> half = other.submit(() -> cycle(a, b, cycles / 2, new SplittableRandom(seed)));
        cycle(a, b, cycles - cycles / 2, new SplittableRandom(-seed));
        try {
            half.get();
        } catch (ExecutionException e) {
            throw new AssertionError("on the other thread", e.getCause());
        }
    }

    private static void cycle(TestNode a, TestNode b, int cycles, SplittableRandom random) {
        try (Arena arena = Arena.ofShared()) {
            long buffers = arena.allocate(2L * BUFFER_BYTES, 64).address();
            for (int cycle = 0; cycle < cycles; cycle++) {
                Connected connection = random.nextBoolean() ? new Connected(a, b) : new Connected(b, a);
                transfer(connection, random, buffers);
                close(connection, random);
            }
        }
    }

    /** Opens and closes so many communicators, several of them open at a time, with traffic in each. */
    protected final void communicatorsLeaveNothing(TestCluster cluster, int communicators) {
        ProcessResources before = IntegrityContract.afterWarmingUp(cluster);
        long seed = Seed.next();
        SplittableRandom random = new SplittableRandom(seed);
        TestNode a = cluster.open("a");
        TestNode b = cluster.open("b");
        try {
            long buffers = a.allocate(2L * BUFFER_BYTES);
            Map<ResourceLedger.Kind, Integer> idleA = a.verbs().ledger().outstanding();
            Map<ResourceLedger.Kind, Integer> idleB = b.verbs().ledger().outstanding();
            ProcessResources idle = whenAllListen(2);
            ProcessResources early = idle;
            List<Communicator> open = new ArrayList<>();
            int mostAtOnce = 0;
            for (int opened = 0; opened < communicators || !open.isEmpty(); ) {
                if (opened < communicators && open.size() < random.nextInt(1, MAX_OPEN_AT_ONCE + 1)) {
                    open.add(open(a, b, opened++));
                    mostAtOnce = Math.max(mostAtOnce, open.size());
                    if (opened == communicators / 10) {
                        early = ProcessResources.now();
                    }
                }
                Communicator any = open.get(random.nextInt(open.size()));
                transfer(any.ab, random, buffers);
                transfer(any.ba, random, buffers);
                if (opened == communicators || random.nextBoolean()) {
                    open.remove(any);
                    close(a, b, any, random);
                }
            }
            assertThat(mostAtOnce).isGreaterThan(1);
            String where =
                    "seed %d, after %d communicators, up to %d at a time".formatted(seed, communicators, mostAtOnce);
            awaitLedger(where, a, idleA);
            awaitLedger(where, b, idleB);
            report(where, early);
            // a process that lives on, with the plugin open
            ProcessResources.assertNoMoreMemoryOrDescriptorsThan(idle, IntegrityContract.TOLERATED_BYTES, where);
        } finally {
            a.close();
            b.close();
        }
        nothingIsLeft(a, b, before, seed);
    }

    /** What so many nodes hold that have just been opened: their threads of events open descriptors a little later. */
    static ProcessResources whenAllListen(int nodes) {
        Await.until("%d threads of events listen".formatted(nodes), () -> listening() == nodes);
        return ProcessResources.now();
    }

    private static long listening() {
        return Thread.getAllStackTraces().entrySet().stream()
                .filter(thread -> thread.getKey().getName().equals("trigon-events"))
                .filter(thread -> Stream.of(thread.getValue())
                        .anyMatch(frame -> frame.getClassName().equals(KernelEvents.class.getName())
                                && frame.getMethodName().equals("await")))
                .count();
    }

    private static Communicator open(TestNode a, TestNode b, int id) {
        long contextOfA = a.plugin.openContext(id, NetPlugin.TRAFFIC_CLASS_UNDEFINED);
        long contextOfB = b.plugin.openContext(id, NetPlugin.TRAFFIC_CLASS_UNDEFINED);
        return new Communicator(
                contextOfA,
                contextOfB,
                new Connected(a, contextOfA, b, contextOfB),
                new Connected(b, contextOfB, a, contextOfA));
    }

    /** As NCCL does, or only at the communicator's end. */
    private static void close(TestNode a, TestNode b, Communicator communicator, SplittableRandom random) {
        if (random.nextBoolean()) {
            close(communicator.ab, random);
            close(communicator.ba, random);
        }
        a.plugin.closeContext(communicator.contextOfA);
        b.plugin.closeContext(communicator.contextOfB);
    }

    private static void close(Connected connection, SplittableRandom random) {
        boolean senderFirst = random.nextBoolean();
        if (senderFirst) {
            connection.sender.plugin.closeSend(connection.sendComm);
        }
        connection.receiver.plugin.closeReceive(connection.receiveComm);
        if (!senderFirst) {
            connection.sender.plugin.closeSend(connection.sendComm);
        }
    }

    /** Some messages; memory is sometimes left for the close to deregister. */
    private static void transfer(Connected connection, SplittableRandom random, long buffers) {
        TestNode sender = connection.sender;
        TestNode receiver = connection.receiver;
        long from = sender.register(connection.sendComm, buffers, BUFFER_BYTES);
        long to = receiver.register(connection.receiveComm, buffers + BUFFER_BYTES, BUFFER_BYTES);
        for (int count = random.nextInt(1, 4); count > 0; count--) {
            int size = random.nextInt(10) == 0 ? random.nextInt(BUFFER_BYTES) : random.nextInt(5000);
            PlannedMessage message = new PlannedMessage(0, count, random.nextLong(), size, 0, count, 0, 0);
            message.write(buffers);
            long receive = Connected.retry(() ->
                    receiver.plugin.irecv(connection.receiveComm, buffers + BUFFER_BYTES, size, message.tag(), to));
            long send =
                    Connected.retry(() -> sender.plugin.isend(connection.sendComm, buffers, size, message.tag(), from));
            finishBoth(connection, send, receive, size);
            assertThat(message.isAt(buffers + BUFFER_BYTES)).isTrue();
        }
        if (random.nextBoolean()) {
            sender.plugin.deregisterMemory(connection.sendComm, from);
            receiver.plugin.deregisterMemory(connection.receiveComm, to);
        }
    }

    /** Asks both ends in turn: on software links each moves data only when it is asked. */
    private static void finishBoth(Connected connection, long send, long receive, int size) {
        long[] results = {NetPlugin.NOT_DONE, NetPlugin.NOT_DONE};
        Await.until("a message", () -> {
            results[0] = results[0] == NetPlugin.NOT_DONE ? connection.sender.plugin.test(send) : results[0];
            results[1] = results[1] == NetPlugin.NOT_DONE ? connection.receiver.plugin.test(receive) : results[1];
            return results[0] != NetPlugin.NOT_DONE && results[1] != NetPlugin.NOT_DONE;
        });
        assertThat(results).containsOnly(size);
    }

    static void awaitLedger(String where, TestNode node, Map<ResourceLedger.Kind, Integer> idle) {
        Map<ResourceLedger.Kind, Integer> left = new EnumMap<>(ResourceLedger.Kind.class);
        Await.until(() -> "%s: open are %s, before %s".formatted(where, left, idle), Await.DEADLINE, () -> {
            left.clear();
            left.putAll(node.verbs().ledger().outstanding());
            return left.equals(idle);
        });
    }

    private static void report(String where, ProcessResources early) {
        System.err.printf("%s: %s%n    after a tenth of them: %s%n", where, ProcessResources.now(), early);
    }

    static void nothingIsLeft(TestNode a, TestNode b, ProcessResources before, long seed) {
        LedgerAssert.assertNothingOpen(a.verbs());
        LedgerAssert.assertNothingOpen(b.verbs());
        ProcessResources.assertNothingMoreThan(before, IntegrityContract.TOLERATED_BYTES, "seed " + seed);
    }
}
