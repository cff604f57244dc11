package trigon.transport;

import java.util.List;
import org.jspecify.annotations.Nullable;
import trigon.verbs.Memory;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletionOpcode;
import trigon.verbs.WorkCompletions;

/**
 * The receiving end with {@link MessageProtocol#RENDEZVOUS}. A receive is a posted receive work request, to be taken by the message's immediate, and a
 * {@link ClearToSend} entry written into the sender's ring.
 */
final class RendezvousReceiveComm extends ReceiveComm {

    /** Every so many entries written, one is signalled, which frees the send queue up to it. */
    private static final int SIGNAL_INTERVAL = 16;

    /** Send queue entries: unsignalled writes of two intervals can be waiting, and all requests of one ring. */
    static final int SEND_QUEUE_DEPTH = RequestRing.SLOTS + 2 * SIGNAL_INTERVAL;

    private final long staging;
    private final int stagingKey;
    private final long remoteRing;
    private final int remoteRingKey;
    private final int inline;

    private int sendQueueRoom = SEND_QUEUE_DEPTH;
    private long nextSequence;
    // receive work requests complete in the order of posting
    private long nextCompletion;

    RendezvousReceiveComm(Connection connection) {
        super(List.of(connection));
        staging = connection.clearToSendRing().address();
        stagingKey = connection.clearToSendRing().localKey();
        remoteRing = connection.remoteMemory().address();
        remoteRingKey = connection.remoteMemory().key();
        inline = connection.queuePair().maxInlineBytes() >= ClearToSend.STRIDE ? SendFlag.INLINE : SendFlag.NONE;
    }

    @Override
    long irecv(long address, int size, int tag, @Nullable RegisteredMemory memory, boolean completionOptional) {
        if (failure != 0) {
            return failure;
        }
        if (connection.isPeerGone()) {
            // SoftRoCE would keep the request for ever
            return failPeerGone();
        }
        long sequence = nextSequence;
        int slot = RequestRing.slot(sequence);
        if (!requests.isFree(slot) || sendQueueRoom == 0) {
            progress();
            if (failure != 0) {
                return failure;
            }
            if (!requests.isFree(slot) || sendQueueRoom == 0) {
                return NetPlugin.TRY_AGAIN;
            }
        }
        int errno = connection.queuePair().postReceive(sequence, 0, 0, 0);
        if (errno != 0) {
            return failPosting(connection, "ibv_post_recv", errno);
        }
        int remoteKey = memory == null ? 0 : memory.region().remoteKey();
        errno = writeClearToSend(sequence, address, size, tag, remoteKey);
        if (errno != 0) {
            return failPosting(connection, "ibv_post_send", errno);
        }
        requests.begin(sequence, size);
        if (completionOptional) {
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
}
