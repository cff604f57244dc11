package trigon.stream.hop;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
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

    private static final int PAGE = 4096;
    private static final int COMPLETIONS_AT_ONCE = 16;

    /** Chunks up to this need no DMA of their own. */
    private static final int INLINE_BYTES = 128;

    private static final Set<AccessFlag> NO_ACCESS = EnumSet.noneOf(AccessFlag.class);
    private static final Set<AccessFlag> RECEIVED_INTO = EnumSet.of(AccessFlag.LOCAL_WRITE);

    private final HopDevice device;
    private final SlotGeometry receives;
    private final Arena arena = Arena.ofShared();
    private final WorkCompletions batch = new WorkCompletions(COMPLETIONS_AT_ONCE);
    private final CompletionQueue completions;
    private final QueuePairLifecycle lifecycle;
    private final QueuePairEndpoint endpoint;
    private final MemoryRegion receiveSlots;
    private final List<MemoryRegion> sentFrom = new ArrayList<>();
    private long lockedBytes;
    private boolean closed;

    static HopQueuePair open(HopDevice device, SlotGeometry receives, int psn) {
        return new HopQueuePair(device, receives, psn);
    }

    private HopQueuePair(HopDevice device, SlotGeometry receives, int psn) {
        this.device = device;
        this.receives = receives;
        @Nullable CompletionQueue queue = null;
        @Nullable QueuePairLifecycle walked = null;
        @Nullable MemoryRegion slots = null;
        try {
            lock(receives);
            int sends = SlotGeometry.MAX_SLOTS + ChunkWindow.CREDIT_MESSAGES;
            queue = device.context().createCompletionQueue(sends + receives.receives());
            QueuePair queuePair = device.context()
                    .createQueuePair(
                            device.domain(),
                            new QueuePairCapacity(queue, queue, sends, receives.receives(), INLINE_BYTES));
            walked = new QueuePairLifecycle(queuePair, device.port().deviceName(), PARAMETERS);
            walked.initialize(device.port().port(), 0, NO_ACCESS);
            slots = device.domain()
                    .registerMemory(arena.allocate(receives.bytes(), PAGE).address(), receives.bytes(), RECEIVED_INTO);
            PortAttributes attributes = device.portAttributes();
            endpoint = new QueuePairEndpoint(
                    queuePair.number(), psn, device.port().gid(), attributes.lid(), attributes.activeMtu());
            completions = queue;
            lifecycle = walked;
            receiveSlots = slots;
            postAll(queuePair);
        } catch (VerbsException | OutOfMemoryError e) {
            release(walked, slots, queue);
            throw e;
        }
    }

    private void lock(SlotGeometry slots) {
        device.memory().take(slots.bytes(), device.toString());
        lockedBytes += slots.bytes();
    }

    private void postAll(QueuePair queuePair) {
        for (int slot = 0; slot < receives.receives(); slot++) {
            int errno = postReceive(queuePair, slot);
            if (errno != 0) {
                throw new VerbsException("ibv_post_recv", device.toString(), errno, "");
            }
        }
    }

    private int postReceive(QueuePair queuePair, int slot) {
        return queuePair.postReceive(
                slot | ChunkStream.RECEIVE, receiveSlot(slot), receives.slotBytes(), receiveSlots.localKey());
    }

    /**
     * Connects it: READY_TO_SEND.
     *
     * @param theirs the slots there: what is to be sent there takes as much locked memory here, written or forwarded
     * @throws VerbsException if the other side cannot be reached, or too much memory is locked
     */
    void connect(QueuePairEndpoint peer, SlotGeometry theirs) {
        lock(theirs);
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
    }

    /**
     * Slots of its own to send from.
     *
     * @throws VerbsException if the device takes no more memory
     */
    MemoryRegion addSendSlots(long bytes) {
        return own(device.domain().registerMemory(arena.allocate(bytes, PAGE).address(), bytes, NO_ACCESS));
    }

    /**
     * It sends what another receives, from where that lies.
     *
     * @throws VerbsException if the device takes no more memory
     */
    MemoryRegion addForwarded(HopQueuePair source) {
        MemoryRegion slots = source.receiveSlots;
        return own(device.domain().registerMemory(slots.address(), slots.length(), NO_ACCESS));
    }

    private MemoryRegion own(MemoryRegion region) {
        sentFrom.add(region);
        return region;
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

    SlotGeometry receives() {
        return receives;
    }

    long receiveSlot(int slot) {
        return receiveSlots.address() + (long) slot * receives.slotBytes();
    }

    int postReceive(int slot) {
        return postReceive(lifecycle.queuePair(), slot);
    }

    int maxInlineBytes() {
        return lifecycle.queuePair().maxInlineBytes();
    }

    /** Twice is allowed. A queue pair that the device does not let go of keeps all that it may still write. */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        device.forget(this);
        release(lifecycle, receiveSlots, completions);
    }

    private void release(
            @Nullable QueuePairLifecycle walked, @Nullable MemoryRegion slots, @Nullable CompletionQueue queue) {
        try {
            if (walked != null) {
                walked.close();
            }
        } catch (VerbsException _) {
            return; // the log has it
        }
        sentFrom.forEach(MemoryRegion::close);
        if (slots != null) {
            slots.close();
        }
        if (queue != null) {
            queue.close();
        }
        arena.close();
        batch.close();
        device.memory().giveBack(lockedBytes);
    }
}
