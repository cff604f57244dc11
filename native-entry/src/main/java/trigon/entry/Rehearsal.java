package trigon.entry;

import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.entry.log.SilentThreads;
import trigon.transport.DeviceProperties;
import trigon.transport.NetPlugin;

/**
 * Connects a plugin to itself and moves messages before NCCL has any, so that the classes of a connection are there and
 * the calls of the data path are linked and compiled when NCCL's first ones come.
 *
 * <p>The plugin is one of its own, which reaches no NIC and no other process, and is closed at the end. All happens on a
 * daemon thread, while NCCL goes on with its start; nothing waits for it and nothing depends on it. Its events stay out of
 * the log.
 */
final class Rehearsal implements Runnable {

    /** Where to play: a plugin, and what was opened for it. */
    interface Stage extends AutoCloseable {

        /** A plugin whose device 0 reaches itself. */
        NetPlugin plugin();

        /** Lengths, in bytes, of messages that take different ways; none is longer than {@link RehearsedCalls#BYTES}. */
        List<Integer> lengths();

        @Override
        void close();
    }

    /**
     * A property of the JVM; {@code false} switches it off, and with {@code all} messages go in all ways that there are, for the
     * run that the AOT cache is made by.
     */
    private static final String SWITCH = "trigon.rehearsal";

    private static final Logger log = LoggerFactory.getLogger(Rehearsal.class);

    /** Enough for the first compiler (200 calls), together; the second one has what the AOT cache has learnt. */
    static final int MESSAGES = 100;

    /**
     * What the compilers have made of one round is called, and so linked, in the next. This many, since the second compiler
     * begins after some 5000 calls.
     */
    static final int ROUNDS = 15;

    private static final long BETWEEN_ROUNDS_MILLIS = 50;

    /** No round begins later: a job has begun its work by then, and wants the processors for itself. */
    private static final long ROUNDS_NANOS = 1_200_000_000;

    private static final long PAUSE_NANOS = 10_000;

    /** For each stage, including the wait for a processor on a busy machine. */
    private static final Duration DEADLINE = Duration.ofSeconds(3);

    private final List<Supplier<Stage>> stages;
    private final DataPathStubs ofProcess;
    private final CallFailures failures;
    private final Duration deadline;
    private long end;

    /**
     * A rehearsal.
     *
     * @param stages each opens a stage; called once, on the rehearsal's thread
     * @param ofProcess the stubs that NCCL's calls come through: called too, with nothing to do
     * @param deadline for each stage
     */
    Rehearsal(List<Supplier<Stage>> stages, DataPathStubs ofProcess, CallFailures failures, Duration deadline) {
        this.stages = List.copyOf(stages);
        this.ofProcess = ofProcess;
        this.failures = failures;
        this.deadline = deadline;
    }

    /** Begins one, unless the JVM's options switch it off. */
    static void begin(NetPluginFactory factory, DataPathStubs ofProcess, CallFailures failures) {
        String extent = System.getProperty(SWITCH, "true");
        boolean ofAllKinds = extent.equals("all");
        if (!ofAllKinds && !Boolean.parseBoolean(extent)) {
            return;
        }
        List<Supplier<Stage>> stages = factory.rehearsalStages(ofAllKinds);
        if (!stages.isEmpty()) {
            SilentThreads.newThread("trigon-rehearsal", new Rehearsal(stages, ofProcess, failures, DEADLINE))
                    .start();
        }
    }

    @Override
    public void run() {
        stages.forEach(this::playOn);
    }

    private void playOn(Supplier<Stage> opening) {
        try (Stage stage = opening.get();
                Arena arena = Arena.ofConfined()) {
            play(stage, arena);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        } catch (Throwable thrown) {
            // NCCL's first messages take longer then; that is all
            log.debug("the rehearsal of the data path failed", thrown);
        }
    }

    /** Plays, and leaves nothing open in the plugin. Returns how many messages were moved. */
    int play(Stage stage, Arena arena) throws InterruptedException, TimeoutException {
        NetPlugin plugin = stage.plugin();
        end = System.nanoTime() + deadline.toNanos();
        long context = plugin.openContext(0, NetPlugin.TRAFFIC_CLASS_UNDEFINED);
        try {
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
            RehearsedCalls calls =
                    new RehearsedCalls(DataPathStubs.to(new DataPathCalls(plugin, failures), arena), arena);
            RehearsedCalls vain = new RehearsedCalls(ofProcess, arena);
            long sendMemory = plugin.registerMemory(
                    sendComm, calls.source(), RehearsedCalls.BYTES, DeviceProperties.POINTER_HOST);
            long receiveMemory = plugin.registerMemory(
                    receiveComm, calls.target(), RehearsedCalls.BYTES, DeviceProperties.POINTER_HOST);
            long lastBegin = System.nanoTime() + ROUNDS_NANOS;
            int moved = 0;
            for (int round = 0; round < ROUNDS && System.nanoTime() - lastBegin < 0; round++) {
                if (round > 0) {
                    Thread.sleep(BETWEEN_ROUNDS_MILLIS);
                }
                for (int bytes : stage.lengths()) {
                    for (int message = 0; message < MESSAGES; message++) {
                        move(calls, sendComm, sendMemory, receiveComm, receiveMemory, bytes);
                        vain.makeInVain();
                        moved++;
                    }
                }
            }
            return moved;
        } finally {
            plugin.closeContext(context);
        }
    }

    private void move(
            RehearsedCalls calls, long sendComm, long sendMemory, long receiveComm, long receiveMemory, int bytes)
            throws TimeoutException {
        calls.receive(receiveComm, receiveMemory, bytes);
        while (!calls.send(sendComm, sendMemory, bytes)) {
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
            throw new TimeoutException("the rehearsal was not over within " + deadline);
        }
    }
}
