package trigon.transport.path;

import java.util.EnumSet;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import trigon.qpstate.QueuePairLifecycle;
import trigon.qpstate.QueuePairParameters;
import trigon.transport.Unwinding;
import trigon.verbs.AccessFlag;
import trigon.verbs.CompletionQueue;
import trigon.verbs.PortAttributes;
import trigon.verbs.QueuePair;
import trigon.verbs.QueuePairCapacity;
import trigon.verbs.QueuePairEndpoint;
import trigon.verbs.VerbsException;

/**
 * A path's resources on its device.
 *
 * @param clearToSendRing null where the path's protocol has none
 * @param completionQueue of both the queue pair's queues
 * @param lifecycle of the queue pair
 * @param endpoint what the peer is told of the queue pair
 */
record PathResources(
        @Nullable ClearToSendRing clearToSendRing,
        CompletionQueue completionQueue,
        QueuePairLifecycle lifecycle,
        QueuePairEndpoint endpoint)
        implements AutoCloseable {

    /**
     * Creates them; the queue pair is in INIT then.
     *
     * @param random for the packet sequence number
     * @throws trigon.verbs.VerbsException if the device refuses; nothing is left open then
     */
    static PathResources open(
            Link link, PathRole role, PathCapacity capacity, QueuePairParameters parameters, RandomGenerator random) {
        try (Unwinding unwinding = new Unwinding()) {
            ClearToSendRing ring =
                    capacity.ringBytes() == 0 ? null : new ClearToSendRing(link, role, capacity.ringBytes());
            if (ring != null) {
                unwinding.onFailure(ring::close);
            }
            int depth = capacity.sendQueueDepth() + capacity.receiveQueueDepth();
            CompletionQueue completionQueue = link.device().createCompletionQueue(depth);
            unwinding.onFailure(completionQueue::close);
            QueuePair queuePair = link.device().createQueuePair(link.protectionDomain(), of(capacity, completionQueue));
            unwinding.onFailure(queuePair::close);
            QueuePairLifecycle lifecycle =
                    new QueuePairLifecycle(queuePair, link.local().deviceName(), parameters);
            // the sender's ring is written by the peer, and so are the receiver's buffers; without rings nothing is
            boolean written = capacity.ringBytes() != 0;
            lifecycle.initialize(
                    link.local().port(),
                    link.device().partitionKeyIndex(link.local().port()),
                    written ? EnumSet.of(AccessFlag.REMOTE_WRITE) : EnumSet.noneOf(AccessFlag.class));
            PortAttributes port = link.device().queryPort(link.local().port()); // its MTU may have changed
            QueuePairEndpoint endpoint = new QueuePairEndpoint(
                    queuePair.number(), random.nextInt(1 << 24), link.local().gid(), port.lid(), port.activeMtu());
            unwinding.succeeded();
            return new PathResources(ring, completionQueue, lifecycle, endpoint);
        }
    }

    private static QueuePairCapacity of(PathCapacity capacity, CompletionQueue completionQueue) {
        return new QueuePairCapacity(
                completionQueue,
                completionQueue,
                capacity.sendQueueDepth(),
                capacity.receiveQueueDepth(),
                capacity.inlineBytes());
    }

    /** In the order QP, MR, CQ. A queue pair that the device does not let go of keeps all that it may still write. */
    @Override
    public void close() {
        try {
            lifecycle.close();
        } catch (VerbsException _) {
            return; // the log has it
        }
        if (clearToSendRing != null) {
            clearToSendRing.close();
        }
        completionQueue.close();
    }
}
