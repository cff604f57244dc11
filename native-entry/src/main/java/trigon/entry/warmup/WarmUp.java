package trigon.entry.warmup;

import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.entry.log.SilentThreads;
import trigon.nccl.DeviceProperties;
import trigon.nccl.NetPlugin;

/**
 * Connects a plugin to itself and moves messages before NCCL has any, so that the classes of a connection are there and
 * its calls are linked when NCCL's first ones come.
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

    private static final Logger log = LoggerFactory.getLogger(WarmUp.class);

    /** So that each call has had an answer of each kind. */
    static final int MESSAGES = 20;

    private static final int BYTES = 64;
    private static final int TAG = 1;
    private static final long PAUSE_NANOS = 10_000;

    /** For each node, including the wait for a processor on a busy machine. */
    private static final Duration DEADLINE = Duration.ofSeconds(3);

    private final List<Supplier<WarmUpNode>> nodes;
    private final Duration deadline;
    private long end;

    /** The comms of a connection of a node to itself. */
    private record Connection(long sendComm, long receiveComm) {}

    /**
     * A warm-up.
     *
     * @param nodes each opens a node; called once, on the warm-up's thread
     * @param deadline for each node
     */
    WarmUp(List<Supplier<WarmUpNode>> nodes, Duration deadline) {
        this.nodes = List.copyOf(nodes);
        this.deadline = deadline;
    }

    /** Begins one, unless the JVM's options switch it off. */
    public static void begin(Nodes nodes) {
        String extent = System.getProperty(SWITCH, "true");
        boolean ofAllKinds = extent.equals("all");
        if (!ofAllKinds && !Boolean.parseBoolean(extent)) {
            return;
        }
        List<Supplier<WarmUpNode>> openings = nodes.open(ofAllKinds);
        if (!openings.isEmpty()) {
            SilentThreads.newThread("trigon-warm-up", new WarmUp(openings, DEADLINE))
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
            return moveMessages(plugin, connect(plugin, context, arena), arena);
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

    private int moveMessages(NetPlugin plugin, Connection connection, Arena arena) throws TimeoutException {
        long source = arena.allocate(BYTES, BYTES).address();
        long target = arena.allocate(BYTES, BYTES).address();
        long sendMemory = plugin.registerMemory(connection.sendComm, source, BYTES, DeviceProperties.POINTER_HOST);
        long receiveMemory =
                plugin.registerMemory(connection.receiveComm, target, BYTES, DeviceProperties.POINTER_HOST);
        for (int message = 0; message < MESSAGES; message++) {
            long received = begin(() -> plugin.irecv(connection.receiveComm, target, BYTES, TAG, receiveMemory));
            long sent = begin(() -> plugin.isend(connection.sendComm, source, BYTES, TAG, sendMemory));
            finish(plugin, sent);
            finish(plugin, received);
        }
        return MESSAGES;
    }

    private long begin(LongSupplier call) throws TimeoutException {
        long request = call.getAsLong();
        while (request == NetPlugin.TRY_AGAIN) {
            pause();
            request = call.getAsLong();
        }
        return request;
    }

    private void finish(NetPlugin plugin, long request) throws TimeoutException {
        long size = plugin.test(request);
        while (size == NetPlugin.NOT_DONE) {
            pause();
            size = plugin.test(request);
        }
        if (size != BYTES) {
            throw new IllegalStateException("the message has come to " + size);
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
