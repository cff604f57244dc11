package trigon.stream.hop;

import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import trigon.qpstate.QueuePairLifecycle;
import trigon.qpstate.QueuePairParameters;
import trigon.verbs.AccessFlag;
import trigon.verbs.AddressVector;
import trigon.verbs.CompletionQueue;
import trigon.verbs.MemoryRegion;
import trigon.verbs.Mtu;
import trigon.verbs.PortAttributes;
import trigon.verbs.QueuePair;
import trigon.verbs.QueuePairCapacity;
import trigon.verbs.QueuePairEndpoint;
import trigon.verbs.VerbsException;
import trigon.verbs.WorkCompletions;

/**
 * The resources of a hop on its device: a queue pair that grants the other side nothing but SENDs, its completion
 * queue, and the slots. Opened, connected and closed by one thread at a time, which may block; posted to and polled by
 * the hop's.
 */
final class HopQueuePair implements AutoCloseable {

    /** A neighbour without a receive breaks the rules: no retries. 67 ms 7 times: a dead one is noticed in a second. */
    private static final QueuePairParameters PARAMETERS = new QueuePairParameters(14, 7, 0, 12, 1, 1);

    private static final int COMPLETIONS_AT_ONCE = 16;

    /** Chunks up to this need no DMA of their own. */
    private static final int INLINE_BYTES = 128;

    private static final Set<AccessFlag> NO_ACCESS = EnumSet.noneOf(AccessFlag.class);

    private final HopDevice device;
    private final HopSlots slots;
    private final WorkCompletions batch = new WorkCompletions(COMPLETIONS_AT_ONCE);
    private final CompletionQueue completions;
    private final QueuePairLifecycle lifecycle;
    private final QueuePairEndpoint endpoint;
    private boolean closed;

    /** One in INIT, its receives posted; the slots are its own from now on, also if the device refuses. */
    static HopQueuePair open(HopDevice device, HopSlots slots, int psn) {
        return new HopQueuePair(device, slots, psn);
    }

    private HopQueuePair(HopDevice device, HopSlots slots, int psn) {
        this.device = device;
        this.slots = slots;
        @Nullable CompletionQueue queue = null;
        @Nullable QueuePairLifecycle walked = null;
        try {
            int sends = SlotGeometry.MAX_SLOTS + ChunkWindow.CREDIT_MESSAGES;
            queue = device.context()
                    .createCompletionQueue(sends + slots.receives().receives());
            QueuePair queuePair = device.context()
                    .createQueuePair(
                            device.domain(),
                            new QueuePairCapacity(
                                    queue, queue, sends, slots.receives().receives(), INLINE_BYTES));
            walked = new QueuePairLifecycle(queuePair, device.port().deviceName(), PARAMETERS);
            int port = device.port().port();
            walked.initialize(port, device.context().partitionKeyIndex(port), NO_ACCESS);
            PortAttributes attributes = device.portAttributes();
            endpoint = new QueuePairEndpoint(
                    queuePair.number(), psn, device.port().gid(), attributes.lid(), attributes.activeMtu());
            completions = queue;
            lifecycle = walked;
            postAll(queuePair);
        } catch (VerbsException | OutOfMemoryError e) {
            release(walked, queue);
            throw e;
        }
    }

    private void postAll(QueuePair queuePair) {
        for (int slot = 0; slot < slots.receives().receives(); slot++) {
            int errno = postReceive(queuePair, slot);
            if (errno != 0) {
                throw new VerbsException("ibv_post_recv", device.toString(), errno, "");
            }
        }
    }

    private int postReceive(QueuePair queuePair, int slot) {
        return queuePair.postReceive(
                slot | ChunkStream.RECEIVE,
                slots.address(slot),
                slots.receives().slotBytes(),
                slots.localKey());
    }

    /**
     * Connects it: READY_TO_SEND.
     *
     * @param theirs the slots there
     * @return the slots to fill there: as many, and not longer than what this side has memory to write them from
     * @throws VerbsException if the other side cannot be reached, or too much memory is locked
     */
    SlotGeometry connect(QueuePairEndpoint peer, SlotGeometry theirs) {
        SlotGeometry sends = slots.toFill(theirs);
        AddressVector route = new AddressVector(
                peer.gid(),
                device.gidIndex(),
                peer.lid(),
                0,
                0,
                AddressVector.MAX_HOP_LIMIT,
                device.port().port());
        lifecycle.readyToReceive(peer, Mtu.min(endpoint.mtu(), peer.mtu()), route, null);
        lifecycle.readyToSend(endpoint.psn());
        return sends;
    }

    /**
     * Slots of its own to send from.
     *
     * @throws VerbsException if the device takes no more memory
     */
    MemoryRegion addSendSlots(long bytes) {
        return slots.addSendSlots(bytes);
    }

    /**
     * It sends what another receives, from where that lies.
     *
     * @throws VerbsException if the device takes no more memory
     */
    MemoryRegion addForwarded(HopQueuePair source) {
        return slots.addForwarded(source.slots);
    }

    QueuePair queuePair() {
        return lifecycle.queuePair();
    }

    CompletionQueue completions() {
        return completions;
    }

    /** The batch that completions are polled into. */
    WorkCompletions batch() {
        return batch;
    }

    QueuePairEndpoint endpoint() {
        return endpoint;
    }

    HopSlots slots() {
        return slots;
    }

    SlotGeometry receives() {
        return slots.receives();
    }

    long receiveSlot(int slot) {
        return slots.address(slot);
    }

    int postReceive(int slot) {
        return postReceive(lifecycle.queuePair(), slot);
    }

    int maxInlineBytes() {
        return lifecycle.queuePair().maxInlineBytes();
    }

    /** Twice is allowed. A queue pair that the device does not let go of keeps all that it may still use. */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        if (release(lifecycle, completions)) {
            device.forget(this);
        }
    }

    /** Returns whether the queue pair is destroyed, and so all is given back. */
    private boolean release(@Nullable QueuePairLifecycle walked, @Nullable CompletionQueue queue) {
        try {
            if (walked != null) {
                walked.close();
            }
        } catch (VerbsException _) {
            return false; // the log has it
        }
        slots.release();
        if (queue != null) {
            queue.close();
        }
        batch.close();
        return true;
    }
}
