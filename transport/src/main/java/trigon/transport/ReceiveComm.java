package trigon.transport;

import trigon.verbs.LinkKind;
import trigon.verbs.Memory;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletionOpcode;
import trigon.verbs.WorkCompletions;

/**
 * The receiving end. A receive is a posted receive work request, to be taken by the message's immediate, and a
 * {@link ClearToSend} entry written into the sender's ring.
 */
final class ReceiveComm extends Comm {

    /** Every so many entries written, one is signalled, which frees the send queue up to it. */
    private static final int SIGNAL_INTERVAL = 16;

    /** Send queue entries: unsignalled writes of two intervals can be waiting, and all requests of one ring. */
    static final int SEND_QUEUE_DEPTH = RequestRing.SLOTS + 2 * SIGNAL_INTERVAL;

    private final long staging;
    private final int stagingKey;
    private final long remoteRing;
    private final int remoteRingKey;
    private final int inline;
    /**
     * Whether data arrive though nobody asks for the completion. A software device moves them when it is polled, so there
     * NCCL is told only of what has arrived, and keeps asking.
     */
    private final boolean arrivesUnpolled;

    private int sendQueueRoom = SEND_QUEUE_DEPTH;
    private long nextSequence;
    // receive work requests complete in the order of posting
    private long nextCompletion;

    ReceiveComm(Connection connection) {
        super(connection);
        staging = connection.memoryAddress();
        stagingKey = connection.memoryKey();
        remoteRing = connection.remoteMemory().address();
        remoteRingKey = connection.remoteMemory().key();
        arrivesUnpolled = connection.link().local().kind() == LinkKind.RDMA;
        inline = connection.queuePair().maxInlineBytes() >= ClearToSend.STRIDE ? SendFlag.INLINE : SendFlag.NONE;
    }

    /** {@link NetPlugin#irecv}; size and memory have been checked. */
    long irecv(long address, int size, int tag, int remoteKey, boolean completionOptional) {
        if (failure != 0) {
            return failure;
        }
        if (connection.isPeerGone()) {
            // SoftRoCE would keep the request for ever
            return failPeerGone();
        }
        long sequence = nextSequence;
        int slot = RequestRing.slot(sequence);
        if (requests.state(slot) != RequestRing.FREE || sendQueueRoom == 0) {
            progress();
            if (failure != 0) {
                return failure;
            }
            if (requests.state(slot) != RequestRing.FREE || sendQueueRoom == 0) {
                return NetPlugin.TRY_AGAIN;
            }
        }
        int errno = connection.queuePair().postReceive(sequence, 0, 0, 0);
        if (errno != 0) {
            return failPosting("ibv_post_recv", errno);
        }
        errno = writeClearToSend(sequence, address, size, tag, remoteKey);
        if (errno != 0) {
            return failPosting("ibv_post_send", errno);
        }
        requests.begin(sequence, size);
        if (completionOptional && arrivesUnpolled) {
            requests.setState(slot, RequestRing.OPTIONAL);
        }
        nextSequence = sequence + 1;
        return RequestHandle.of(handle(), sequence);
    }

    private int writeClearToSend(long sequence, long address, int capacity, int tag, int remoteKey) {
        int offset = ClearToSend.offset(sequence);
        long entry = staging + offset;
        Memory.putLong(entry + ClearToSend.ADDRESS, address);
        Memory.putInt(entry + ClearToSend.REMOTE_KEY, remoteKey);
        Memory.putInt(entry + ClearToSend.CAPACITY, capacity);
        Memory.putInt(entry + ClearToSend.TAG, tag);
        Memory.putLong(entry + ClearToSend.SEQUENCE, sequence + 1);
        int signal = sequence % SIGNAL_INTERVAL == SIGNAL_INTERVAL - 1 ? SendFlag.SIGNALED : SendFlag.NONE;
        sendQueueRoom--;
        return connection
                .queuePair()
                .postWrite(
                        sequence,
                        entry,
                        ClearToSend.STRIDE,
                        stagingKey,
                        remoteRing + offset,
                        remoteRingKey,
                        inline | signal);
    }

    @Override
    void onSuccess(WorkCompletions completions, int index) {
        if (completions.opcode(index) == WorkCompletionOpcode.RECEIVE_RDMA_WITH_IMMEDIATE) {
            requests.complete(RequestRing.slot(nextCompletion), completions.immediate(index));
            nextCompletion++;
            messages++;
            bytes += completions.immediate(index);
        } else {
            sendQueueRoom += SIGNAL_INTERVAL;
        }
    }

    /**
     * {@link NetPlugin#iflush}: only host memory can be registered, and there a message is visible to everybody once
     * its completion is.
     */
    long iflush() {
        return failure != 0 ? failure : NetPlugin.NOTHING_TO_FLUSH;
    }
}
