package trigon.transport.path;

import java.util.EnumSet;
import trigon.qpstate.QueuePairLifecycle;
import trigon.qpstate.QueuePairParameters;
import trigon.transport.Unwinding;
import trigon.transport.request.FlushReads;
import trigon.verbs.AccessFlag;
import trigon.verbs.AddressVector;
import trigon.verbs.CompletionQueue;
import trigon.verbs.MemoryRegion;
import trigon.verbs.QueuePairCapacity;
import trigon.verbs.QueuePairEndpoint;
import trigon.verbs.VerbsException;

/**
 * A queue pair that is connected to itself, by which a device READs what it has written to a GPU. PCIe lets no read
 * pass the writes before it, so these are in the GPU's memory once the READ is complete. A completion alone does not
 * say that.
 *
 * <p>Opened by a control thread, used by the session's data-path thread, which posts and polls in C; closed after its
 * last call.
 *
 * @see <a href="https://docs.nvidia.com/cuda/gpudirect-rdma/">GPUDirect RDMA, synchronization and memory ordering</a>
 */
public final class FlushQueuePair implements AutoCloseable {

    /** Its packets do not leave the device: nothing is lost, and nothing is far. */
    private static final QueuePairParameters PARAMETERS = new QueuePairParameters(14, 7, 7, 12, 1, 1);

    private static final int PSN = 0;

    private static final int LANDING_BYTES = 64;

    private final Link link;
    private final long memory;
    private final MemoryRegion landing;
    final CompletionQueue completionQueue;
    final QueuePairLifecycle lifecycle;

    /**
     * Opens one on a link's device. May block.
     *
     * @param depth READs that may be outstanding
     * @throws VerbsException if the device refuses; nothing is left open then
     */
    public FlushQueuePair(Link link, int depth) {
        this.link = link;
        memory = link.clearToSendMemory().take(LANDING_BYTES);
        try (Unwinding unwinding = new Unwinding()) {
            unwinding.onFailure(() -> link.clearToSendMemory().giveBack(memory));
            landing = link.protectionDomain().registerMemory(memory, LANDING_BYTES, EnumSet.of(AccessFlag.LOCAL_WRITE));
            unwinding.onFailure(landing::close);
            completionQueue = link.device().createCompletionQueue(depth);
            unwinding.onFailure(completionQueue::close);
            lifecycle = new QueuePairLifecycle(
                    link.device()
                            .createQueuePair(
                                    link.protectionDomain(),
                                    new QueuePairCapacity(completionQueue, completionQueue, depth, 1, 0)),
                    link.local().deviceName(),
                    PARAMETERS);
            unwinding.onFailure(lifecycle::close);
            connect();
            unwinding.succeeded();
        }
    }

    private void connect() {
        QueuePairEndpoint itself = new QueuePairEndpoint(
                lifecycle.queuePair().number(),
                PSN,
                link.local().gid(),
                link.port().lid(),
                link.port().activeMtu());
        AddressVector route = new AddressVector(
                itself.gid(),
                link.gidIndex(),
                itself.lid(),
                0,
                0,
                AddressVector.MAX_HOP_LIMIT,
                link.local().port());
        lifecycle.initialize(
                link.local().port(),
                link.device().partitionKeyIndex(link.local().port()),
                EnumSet.of(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE));
        lifecycle.readyToReceive(itself, itself.mtu(), route, null);
        lifecycle.readyToSend(PSN);
    }

    /** Has C read by it from now on. */
    public void show(FlushReads reads) {
        reads.use(lifecycle.queuePair(), completionQueue, memory, landing.localKey());
    }

    /**
     * Begins to close it, where the device may hang, after all that was {@linkplain Link#begin begun} before. Closing
     * twice is allowed. A queue pair that the device does not let go of keeps what it may still write.
     */
    @Override
    public void close() {
        var _ = link.begin(() -> {
            try {
                lifecycle.close();
            } catch (VerbsException _) {
                return; // the log has it
            }
            landing.close();
            completionQueue.close();
            link.clearToSendMemory().giveBack(memory);
        });
    }
}
