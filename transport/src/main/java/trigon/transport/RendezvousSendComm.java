package trigon.transport;

import java.util.List;
import org.jspecify.annotations.Nullable;
import trigon.verbs.Memory;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletionOpcode;
import trigon.verbs.WorkCompletions;

/**
 * The sending end with {@link MessageProtocol#RENDEZVOUS}. A message waits for the receiver's {@link ClearToSend} entry, then goes out as RDMA WRITEs to the
 * memory named there, the last of them with an immediate that is the message's size.
 */
final class RendezvousSendComm extends SendComm {

    /**
     * What a port carries in one message at the least: that of SoftRoCE. A peer's port may carry less than the own one,
     * and the send queue is made before the peer is known.
     */
    private static final long LEAST_MAX_MESSAGE_BYTES = 8L << 20;

    private final long clearToSend;
    private int sendQueueRoom;
    private long nextSequence;
    // messages below this one are finished, and have given their work requests back
    private long settled;

    RendezvousSendComm(Connection connection) {
        super(List.of(connection));
        clearToSend = connection.clearToSendRing().address();
        sendQueueRoom = connection.sendQueueDepth();
    }

    /** Send queue entries to ask for on a port, so that one message of the greatest length fits whatever the peer's. */
    static int sendQueueDepth(long ownMaxMessageBytes) {
        long parts = parts(MAX_MESSAGE_BYTES, Math.min(ownMaxMessageBytes, LEAST_MAX_MESSAGE_BYTES));
        return Math.toIntExact(Math.max(parts + RequestRing.SLOTS, 2L * RequestRing.SLOTS));
    }

    /** Whether a message of the greatest length fits a send queue; it could never be sent otherwise. */
    static boolean fits(int sendQueueDepth, long maxMessageBytes) {
        return parts(MAX_MESSAGE_BYTES, maxMessageBytes) <= sendQueueDepth;
    }

    private static long parts(long size, long maxMessageBytes) {
        return size <= maxMessageBytes ? 1 : Math.ceilDiv(size, maxMessageBytes);
    }

    @Override
    long isend(long address, int size, int tag, @Nullable RegisteredMemory memory) {
        if (failure != 0) {
            return failure;
        }
        long sequence = nextSequence;
        int slot = RequestRing.slot(sequence);
        long entry = clearToSend + ClearToSend.offset(sequence);
        if (Memory.getLongAcquire(entry + ClearToSend.SEQUENCE) != sequence + 1) {
            return waitFor(entry + ClearToSend.SEQUENCE, sequence + 1);
        }
        settle();
        int parts = (int) parts(size, maxMessageBytes);
        if (!RequestRing.isFree(row, slot) || parts > sendQueueRoom) {
            progress();
            return failure != 0 ? failure : NetPlugin.TRY_AGAIN;
        }
        int capacity = Memory.getInt(entry + ClearToSend.CAPACITY);
        int receiveTag = Memory.getInt(entry + ClearToSend.TAG);
        if (size > capacity || tag != receiveTag) {
            return failMismatch(sequence, size, tag, capacity, receiveTag);
        }
        int localKey = memory == null ? 0 : memory.localKey();
        int errno = post(address, size, localKey, entry, sequence);
        if (errno != 0) {
            return failPosting(connection, "ibv_post_send", errno);
        }
        long request = begin(sequence, size);
        sendQueueRoom -= parts;
        nextSequence = sequence + 1;
        messages++;
        bytes += size;
        return request;
    }

    private int post(long address, int size, int localKey, long entry, long sequence) {
        long remote = Memory.getLong(entry + ClearToSend.ADDRESS);
        int remoteKey = Memory.getInt(entry + ClearToSend.REMOTE_KEY);
        int sent = 0;
        while (size - sent > maxMessageBytes) {
            int errno = queuePair.postWrite(
                    sequence, address + sent, maxMessageBytes, localKey, remote + sent, remoteKey, SendFlag.NONE);
            if (errno != 0) {
                return errno;
            }
            sent += maxMessageBytes;
        }
        return queuePair.postWriteWithImmediate(
                sequence, address + sent, size - sent, localKey, remote + sent, remoteKey, size, SendFlag.SIGNALED);
    }

    @Override
    int requestOpcode() {
        return WorkCompletionOpcode.RDMA_WRITE;
    }

    @Override
    void onSuccess(WorkCompletions completions, int index) {
        RequestRing.completeNext(row, sizeOf(RequestRing.completed(row)));
    }

    @Override
    void settle() {
        for (int left = RequestRing.completed(row) - (int) settled; left > 0; left--) {
            sendQueueRoom += (int) parts(sizeOf(settled), maxMessageBytes);
            settled++;
        }
    }

    private int sizeOf(long sequence) {
        return RequestRing.size(row, RequestRing.slot(sequence));
    }
}
