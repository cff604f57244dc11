package trigon.transport;

import trigon.verbs.Memory;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletions;

/**
 * The sending end. A message waits for the receiver's {@link ClearToSend} entry, then goes out as RDMA WRITEs to the
 * memory named there, the last of them with an immediate that is the message's size.
 */
final class SendComm extends Comm {

    private final long clearToSend;
    private final int[] workRequests = new int[RequestRing.SLOTS];
    private int sendQueueRoom;
    private long nextSequence;

    SendComm(Connection connection) {
        super(connection);
        clearToSend = connection.memoryAddress();
        sendQueueRoom = connection.sendQueueDepth();
    }

    /** Send queue entries needed so that one message of the greatest length always fits. */
    static int sendQueueDepth(long maxMessageBytes) {
        long parts = (MAX_MESSAGE_BYTES + maxMessageBytes - 1) / maxMessageBytes;
        return (int) Math.max(parts + RequestRing.SLOTS, 2L * RequestRing.SLOTS);
    }

    /** {@link NetPlugin#isend}; size and memory have been checked. */
    long isend(long address, int size, int tag, int localKey) {
        if (failure != 0) {
            return failure;
        }
        long sequence = nextSequence;
        int slot = RequestRing.slot(sequence);
        long entry = clearToSend + ClearToSend.offset(sequence);
        if (Memory.getLongAcquire(entry + ClearToSend.SEQUENCE) != sequence + 1) {
            return NetPlugin.TRY_AGAIN;
        }
        int parts = size <= maxMessageBytes ? 1 : (int) (((long) size + maxMessageBytes - 1) / maxMessageBytes);
        if (requests.state(slot) != RequestRing.FREE || parts > sendQueueRoom) {
            progress();
            return failure != 0 ? failure : NetPlugin.TRY_AGAIN;
        }
        if (size > Memory.getInt(entry + ClearToSend.CAPACITY) || tag != Memory.getInt(entry + ClearToSend.TAG)) {
            return mismatch(entry, sequence, size, tag);
        }
        int errno = post(address, size, localKey, entry, sequence);
        if (errno != 0) {
            return failPosting("ibv_post_send", errno);
        }
        requests.begin(sequence, size);
        workRequests[slot] = parts;
        sendQueueRoom -= parts;
        nextSequence = sequence + 1;
        messages++;
        bytes += size;
        return RequestHandle.of(handle(), sequence);
    }

    private int post(long address, int size, int localKey, long entry, long sequence) {
        var queuePair = connection.queuePair();
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

    private long mismatch(long entry, long sequence, int size, int tag) {
        return fail(
                NcclResult.INVALID_USAGE,
                "message %d of %d bytes with tag %d meets a receive of %d bytes with tag %d"
                        .formatted(
                                sequence,
                                size,
                                tag,
                                Memory.getInt(entry + ClearToSend.CAPACITY),
                                Memory.getInt(entry + ClearToSend.TAG)));
    }

    @Override
    void onSuccess(WorkCompletions completions, int index) {
        int slot = RequestRing.slot(completions.workRequestId(index));
        sendQueueRoom += workRequests[slot];
        requests.complete(slot, requests.size(slot));
    }
}
