package trigon.entry.warmup;

import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.entry.host.CallFailures;
import trigon.entry.log.SilentThreads;
import trigon.entry.net.DataPathStubs;
import trigon.entry.net.DataPathUpcalls;
import trigon.nccl.DeviceProperties;
import trigon.nccl.NetPlugin;

/**
 * Connects a plugin to itself and moves messages before NCCL has any, so that the classes of a connection are there and
 * the calls of the data path are linked and compiled when NCCL's first ones come.
 *
 * <p>The plugin is one of its own, which reaches no NIC and no other process, and is closed at the end. All happens on
 * a daemon thread, while NCCL goes on with its start; nothing waits for it and nothing depends on it. Its events stay
 * out of the log.
 */
public final class WarmUp implements Runnable {

    /** The source of nodes to warm up on. */
    @FunctionalInterface
    public interface Nodes {

        /**
         * Openers of these nodes, each called at most once.
         *
         * @param ofAllKinds also for links that this process does not have
         */
        List<Supplier<WarmUpNode>> open(boolean ofAllKinds);
    }

    /**
     * A property of the JVM; {@code false} switches it off, and with {@code all} messages go in all ways that there
     * are, for the run that the AOT cache is made by.
     */
    private static final String SWITCH = "trigon.warmup";

    /** A property of the JVM, which the entry library sets: how many of its two compilers it has. */
    private static final String COMPILERS = "trigon.compilers";

    private static final Logger log = LoggerFactory.getLogger(WarmUp.class);

    /** Enough for the first compiler (200 calls), together; the second one has what the AOT cache has learnt. */
    static final int MESSAGES = 100;

    /** Rounds: code that the compiler made in one of them is called, and so linked, in the next. */
    private static final int ROUNDS_FOR_ONE_COMPILER = 4;

    /** The second compiler begins after some 5000 calls. */
    private static final int ROUNDS_FOR_TWO_COMPILERS = 15;

    private static final long BETWEEN_ROUNDS_MILLIS = 50;

    /** No round begins later: a job has begun its work by then, and wants the processors for itself. */
    private static final long ROUNDS_NANOS = 1_200_000_000;

    private static final long PAUSE_NANOS = 10_000;

    /** For each node, including the wait for a processor on a busy machine. */
    private static final Duration DEADLINE = Duration.ofSeconds(3);

    private final List<Supplier<WarmUpNode>> nodes;
    private final DataPathStubs ofProcess;
    private final CallFailures failures;
    private final int rounds;
    private final Duration deadline;
    private long end;

    /** The comms of a connection of a node to itself. */
    private record Connection(long sendComm, long receiveComm) {}

    /**
     * A warm-up.
     *
     * @param nodes each opens a node; called once, on the warm-up's thread
     * @param ofProcess the stubs that NCCL's calls come through: called too, with nothing to do
     * @param rounds at most, for each node
     * @param deadline for each node
     */
    WarmUp(
            List<Supplier<WarmUpNode>> nodes,
            DataPathStubs ofProcess,
            CallFailures failures,
            int rounds,
            Duration deadline) {
        this.nodes = List.copyOf(nodes);
        this.ofProcess = ofProcess;
        this.failures = failures;
        this.rounds = rounds;
        this.deadline = deadline;
    }

    /**
     * Begins one, unless the JVM's options switch it off.
     *
     * @param ofProcess the stubs that NCCL's calls come through: called too, with nothing to do
     */
    public static void begin(Nodes nodes, DataPathStubs ofProcess, CallFailures failures) {
        String extent = System.getProperty(SWITCH, "true");
        boolean ofAllKinds = extent.equals("all");
        if (!ofAllKinds && !Boolean.parseBoolean(extent)) {
            return;
        }
        List<Supplier<WarmUpNode>> openings = nodes.open(ofAllKinds);
        if (!openings.isEmpty()) {
            int rounds = Integer.getInteger(COMPILERS, 2) == 1 ? ROUNDS_FOR_ONE_COMPILER : ROUNDS_FOR_TWO_COMPILERS;
            SilentThreads.newThread("trigon-warm-up", new WarmUp(openings, ofProcess, failures, rounds, DEADLINE))
                    .start();
        }
    }

    @Override
    public void run() {
        nodes.forEach(this::runOn);
        openAllJars();
    }

    /**
     * Looking for what is nowhere opens every jar of the class path. Open jars stay what they are when a package
     * manager replaces the files under a running job; one opened later would be another version's.
     */
    private static void openAllJars() {
        log.trace("in no jar: {}", WarmUp.class.getClassLoader().getResource("trigon/in-no-jar"));
    }

    private void runOn(Supplier<WarmUpNode> opening) {
        try (WarmUpNode node = opening.get();
                Arena arena = Arena.ofConfined()) {
            moveMessages(node, arena);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        } catch (Throwable thrown) {
            // NCCL's first messages take longer then; that is all
            log.debug("the warm-up of the data path failed", thrown);
        }
    }

    /** Leaves nothing open in the plugin. Returns how many messages were moved. */
    int moveMessages(WarmUpNode node, Arena arena) throws InterruptedException, TimeoutException {
        NetPlugin plugin = node.plugin();
        end = System.nanoTime() + deadline.toNanos();
        long context = plugin.openContext(0, NetPlugin.TRAFFIC_CLASS_UNDEFINED);
        try {
            return moveMessages(node, connect(plugin, context, arena), arena);
        } finally {
            plugin.closeContext(context);
        }
    }

    private Connection connect(NetPlugin plugin, long context, Arena arena)
            throws InterruptedException, TimeoutException {
        long handle = arena.allocate(NetPlugin.HANDLE_BYTES, Long.BYTES)
                .fill((byte) 0)
                .address();
        long listenComm = plugin.listen(context, 0, handle);
        long sendComm = 0;
        long receiveComm = 0;
        while (sendComm == 0 || receiveComm == 0) {
            if (sendComm == 0) {
                sendComm = plugin.connect(context, 0, handle, NetPlugin.TRAFFIC_CLASS_UNDEFINED);
            }
            if (receiveComm == 0) {
                receiveComm = plugin.accept(listenComm);
            }
            checkDeadline();
            Thread.sleep(1);
        }
        return new Connection(sendComm, receiveComm);
    }

    private int moveMessages(WarmUpNode node, Connection connection, Arena arena)
            throws InterruptedException, TimeoutException {
        NetPlugin plugin = node.plugin();
        WarmUpCalls calls = new WarmUpCalls(DataPathStubs.to(new DataPathUpcalls(plugin, failures), arena), arena);
        WarmUpCalls vain = new WarmUpCalls(ofProcess, arena);
        long sendMemory = plugin.registerMemory(
                connection.sendComm, calls.source(), WarmUpNode.MAX_MESSAGE_BYTES, DeviceProperties.POINTER_HOST);
        long receiveMemory = plugin.registerMemory(
                connection.receiveComm, calls.target(), WarmUpNode.MAX_MESSAGE_BYTES, DeviceProperties.POINTER_HOST);
        long lastBegin = System.nanoTime() + ROUNDS_NANOS;
        int moved = 0;
        for (int round = 0; round < rounds && System.nanoTime() - lastBegin < 0; round++) {
            if (round > 0) {
                Thread.sleep(BETWEEN_ROUNDS_MILLIS);
            }
            for (int bytes : node.lengths()) {
                for (int message = 0; message < MESSAGES; message++) {
                    move(calls, connection, sendMemory, receiveMemory, bytes);
                    vain.makeInVain();
                    moved++;
                }
            }
        }
        return moved;
    }

    private void move(WarmUpCalls calls, Connection connection, long sendMemory, long receiveMemory, int bytes)
            throws TimeoutException {
        calls.receive(connection.receiveComm, receiveMemory, bytes);
        while (!calls.send(connection.sendComm, sendMemory, bytes)) {
            pause();
        }
        while (!calls.isSent() || !calls.isReceived()) {
            pause();
        }
    }

    /** NCCL, and whoever else has work, goes first. */
    private void pause() throws TimeoutException {
        checkDeadline();
        LockSupport.parkNanos(PAUSE_NANOS);
    }

    private void checkDeadline() throws TimeoutException {
        if (System.nanoTime() - end > 0) {
            throw new TimeoutException("the warm-up did not finish within " + deadline);
        }
    }
}
