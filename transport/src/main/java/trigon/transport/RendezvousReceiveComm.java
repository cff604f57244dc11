package trigon.transport;

import java.util.List;
import org.jspecify.annotations.Nullable;
import trigon.verbs.Memory;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletionOpcode;
import trigon.verbs.WorkCompletions;

/**
 * The receiving end with {@link MessageProtocol#RENDEZVOUS}. A receive is a {@link ClearToSend} entry written into the sender's
 * ring, and any of the receive work requests that are posted beforehand, to be taken by the message's immediate.
 *
 * <p>As long as the sender has entries for {@link #ENOUGH_AHEAD} messages that have not come yet, further entries wait until
 * there are {@link #ENTRIES_AT_ONCE}, and are written with one work request: on SoftRoCE a work request is a system call and a
 * packet each way, as much as a short message. None waits longer than it takes the sender to use those it has: whoever takes
 * the messages off, by {@code test} or by a further receive, writes the waiting entries. NCCL calls {@code test} as long as
 * it waits for any of its receives; a caller that posts more than four, and then waits for their sender without a call, may
 * wait for ever.
 */
final class RendezvousReceiveComm extends ReceiveComm {

    /** With so many entries that it has not used yet, a sender need not wait for the next. Half of NCCL's messages in flight. */
    static final int ENOUGH_AHEAD = 4;

    /** Entries that are written with one work request at most. */
    static final int ENTRIES_AT_ONCE = 4;

    /** Every so many writes, one is signalled, which frees the send queue up to it. */
    private static final int SIGNAL_INTERVAL = 16;

    /** Receive work requests that are posted with one call; so many of them may be for requests to come. */
    private static final int RECEIVES_AT_ONCE = 16;

    static final int RECEIVE_QUEUE_DEPTH = RequestRing.SLOTS + RECEIVES_AT_ONCE;

    /** Send queue entries: unsignalled writes of two intervals can be waiting, and all requests of one ring. */
    static final int SEND_QUEUE_DEPTH = RequestRing.SLOTS + 2 * SIGNAL_INTERVAL;

    private final long staging;
    private final int stagingKey;
    private final long remoteRing;
    private final int remoteRingKey;
    private final int maxInlineBytes;

    private int sendQueueRoom = SEND_QUEUE_DEPTH;
    private int writesUntilSignal = SIGNAL_INTERVAL;
    private long nextSequence;
    private long receivesPosted;
    // entries below this one are with the sender
    private long nextEntry;
    // messages below this one have come and are counted; receive work requests complete in the order of posting
    private long settled;

    RendezvousReceiveComm(Connection connection) {
        super(List.of(connection));
        staging = connection.clearToSendRing().address();
        stagingKey = connection.clearToSendRing().localKey();
        remoteRing = connection.remoteMemory().address();
        remoteRingKey = connection.remoteMemory().key();
        maxInlineBytes = queuePair.maxInlineBytes();
    }

    @Override
    long irecv(long address, int size, int tag, @Nullable RegisteredMemory memory) {
        if (failure != 0) {
            return failure;
        }
        if (lost) {
            // SoftRoCE would keep the request for ever
            return failPeerGone();
        }
        settle();
        long sequence = nextSequence;
        int slot = RequestRing.slot(sequence);
        if (isFull(slot)) {
            progress();
            if (failure != 0) {
                return failure;
            }
            if (isFull(slot)) {
                return NetPlugin.TRY_AGAIN;
            }
        }
        int errno = sequence == receivesPosted ? postReceives() : 0;
        if (errno != 0) {
            return failPosting(connection, "ibv_post_recv", errno);
        }
        makeEntry(sequence, address, size, tag, memory == null ? 0 : memory.remoteKey());
        long request = begin(sequence, size);
        nextSequence = sequence + 1;
        if (nextSequence - nextEntry >= ENTRIES_AT_ONCE || isSenderShort()) {
            errno = writeEntries();
            if (errno != 0) {
                return failPosting(connection, "ibv_post_send", errno);
            }
            return request;
        }
        CompletionBoard.letTake(row, 0); // who takes messages off writes the entry, and that is not the library
        // the messages before may have come, and nobody has looked yet
        progress();
        return failure != 0 ? failure : request;
    }

    // entries around the end of the ring take two work requests
    private boolean isFull(int slot) {
        return !RequestRing.isFree(row, slot) || sendQueueRoom < 2;
    }

    // a message's receive work request says nothing of it, so any will do, and they are posted many at a time
    private int postReceives() {
        receivesPosted += RECEIVES_AT_ONCE;
        return queuePair.postEmptyReceives(RECEIVES_AT_ONCE);
    }

    private boolean isSenderShort() {
        return nextEntry - settled < ENOUGH_AHEAD;
    }

    private void makeEntry(long sequence, long address, int capacity, int tag, int remoteKey) {
        long entry = staging + ClearToSend.offset(sequence);
        Memory.putLong(entry + ClearToSend.ADDRESS, address);
        Memory.putInt(entry + ClearToSend.REMOTE_KEY, remoteKey);
        Memory.putInt(entry + ClearToSend.CAPACITY, capacity);
        Memory.putInt(entry + ClearToSend.TAG, tag);
        Memory.putLong(entry + ClearToSend.SEQUENCE, sequence + 1);
    }

    /** Writes all entries that are made, in one piece unless they go round the end of the ring, as far as there is room. */
    private int writeEntries() {
        int errno = 0;
        while (nextEntry < nextSequence && sendQueueRoom > 0 && errno == 0) {
            int slot = RequestRing.slot(nextEntry);
            int count = (int) Math.min(nextSequence - nextEntry, RequestRing.SLOTS - slot);
            errno = writeEntries(slot * ClearToSend.STRIDE, count * ClearToSend.STRIDE);
            nextEntry += count;
        }
        CompletionBoard.letTake(row, nextEntry == nextSequence ? requestOpcode() : 0);
        return errno;
    }

    private int writeEntries(int offset, int length) {
        int flags = length <= maxInlineBytes ? SendFlag.INLINE : SendFlag.NONE;
        writesUntilSignal--;
        if (writesUntilSignal == 0) {
            writesUntilSignal = SIGNAL_INTERVAL;
            flags |= SendFlag.SIGNALED;
        }
        sendQueueRoom--;
        return queuePair.postWrite(
                nextEntry, staging + offset, length, stagingKey, remoteRing + offset, remoteRingKey, flags);
    }

    @Override
    int requestOpcode() {
        return WorkCompletionOpcode.RECEIVE_RDMA_WITH_IMMEDIATE;
    }

    @Override
    void settle() {
        for (int left = RequestRing.completed(row) - (int) settled; left > 0; left--) {
            messages++;
            bytes += RequestRing.size(row, RequestRing.slot(settled));
            settled++;
        }
    }

    @Override
    void onSuccess(WorkCompletions completions, int index) {
        if (completions.opcode(index) == WorkCompletionOpcode.RECEIVE_RDMA_WITH_IMMEDIATE) {
            RequestRing.completeNext(row, completions.immediate(index));
            settle();
        } else {
            sendQueueRoom += SIGNAL_INTERVAL;
        }
        if (nextEntry < nextSequence && isSenderShort()) {
            int errno = writeEntries();
            if (errno != 0) {
                var _ = failPosting(connection, "ibv_post_send", errno);
            }
        }
    }
}
