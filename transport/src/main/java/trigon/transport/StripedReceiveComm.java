package trigon.transport;

import java.util.List;
import org.jspecify.annotations.Nullable;
import trigon.verbs.Memory;
import trigon.verbs.QueuePair;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletionOpcode;
import trigon.verbs.WorkCompletions;

/**
 * The receiving end over several queue pairs; see {@link StripedSendComm}. Every message announces itself by an immediate
 * on the first stripe, which says whether the other stripes carry parts of it. Each stripe keeps its own order, so its
 * next immediate is for the next message that has parts.
 */
final class StripedReceiveComm extends ReceiveComm {

    /** Every so many entries written, one is signalled, which frees the send queue up to it. */
    private static final int SIGNAL_INTERVAL = 16;

    private final QueuePair[] queuePairs;
    private final long[] stripeMessages;
    private final long[] stripeBytes;
    private final long staging;
    private final int stagingKey;
    private final long remoteRing;
    private final int remoteRingKey;
    private final int inline;

    // by stripe: how many immediates came, and the latest of them
    private final long[] arrived;
    private final int[][] immediates;

    private boolean stocked;
    private int sendQueueRoom = RendezvousReceiveComm.SEND_QUEUE_DEPTH;
    private long nextSequence;
    private long nextCompletion;
    // messages in parts that are complete
    private long dividedCompletions;

    StripedReceiveComm(List<Connection> connections) {
        super(connections);
        int count = connections.size();
        queuePairs = connections.stream().map(Connection::queuePair).toArray(QueuePair[]::new);
        stripeMessages = new long[count];
        stripeBytes = new long[count];
        arrived = new long[count];
        immediates = new int[count][RequestRing.SLOTS];
        staging = connection.clearToSendRing().address();
        stagingKey = connection.clearToSendRing().localKey();
        remoteRing = connection.remoteMemory().address();
        remoteRingKey = connection.remoteMemory().key();
        inline = connection.queuePair().maxInlineBytes() >= StripedClearToSend.STRIDE ? SendFlag.INLINE : SendFlag.NONE;
    }

    @Override
    long irecv(long address, int size, int tag, @Nullable RegisteredMemory memory) {
        if (failure != 0) {
            return failure;
        }
        if (memory != null && !memory.isOf(links)) {
            return -NcclResult.INVALID_ARGUMENT.code();
        }
        if (lost) {
            return failPeerGone();
        }
        long sequence = nextSequence;
        int slot = RequestRing.slot(sequence);
        if (!RequestRing.isFree(row, slot) || sendQueueRoom == 0) {
            progress();
            if (failure != 0) {
                return failure;
            }
            if (!RequestRing.isFree(row, slot) || sendQueueRoom == 0) {
                return NetPlugin.TRY_AGAIN;
            }
        }
        if (!stocked && !stock()) {
            return failure;
        }
        int errno = writeClearToSend(sequence, address, size, tag, memory);
        if (errno != 0) {
            return failPosting(connection, "ibv_post_send", errno);
        }
        long request = begin(sequence, size);
        nextSequence = sequence + 1;
        return request;
    }

    /** Posts as many receives on each stripe as there can be messages; whatever is used up is posted again at once. */
    private boolean stock() {
        stocked = true;
        for (int stripe = 0; stripe < stripes.length; stripe++) {
            for (int i = 0; i < RequestRing.SLOTS; i++) {
                if (!postReceive(stripe)) {
                    return false;
                }
            }
        }
        return true;
    }

    private boolean postReceive(int stripe) {
        int errno = queuePairs[stripe].postReceive(0, 0, 0, 0);
        if (errno != 0) {
            failPosting(stripes[stripe], "ibv_post_recv", errno);
        }
        return errno == 0;
    }

    private int writeClearToSend(
            long sequence, long address, int capacity, int tag, @Nullable RegisteredMemory memory) {
        int offset = StripedClearToSend.offset(sequence);
        long entry = staging + offset;
        Memory.putLong(entry + StripedClearToSend.ADDRESS, address);
        Memory.putInt(entry + StripedClearToSend.CAPACITY, capacity);
        Memory.putInt(entry + StripedClearToSend.TAG, tag);
        for (int stripe = 0; stripe < stripes.length; stripe++) {
            int remoteKey = memory == null ? 0 : memory.region(stripe).remoteKey();
            Memory.putInt(entry + StripedClearToSend.remoteKey(stripe), remoteKey);
        }
        Memory.putLong(entry + StripedClearToSend.SEQUENCE, sequence + 1);
        int signal = sequence % SIGNAL_INTERVAL == SIGNAL_INTERVAL - 1 ? SendFlag.SIGNALED : SendFlag.NONE;
        sendQueueRoom--;
        return queuePairs[0].postWrite(
                sequence,
                entry,
                StripedClearToSend.STRIDE,
                stagingKey,
                remoteRing + offset,
                remoteRingKey,
                inline | signal);
    }

    @Override
    void onSuccess(WorkCompletions completions, int index) {
        if (completions.opcode(index) != WorkCompletionOpcode.RECEIVE_RDMA_WITH_IMMEDIATE) {
            sendQueueRoom += SIGNAL_INTERVAL;
            return;
        }
        int stripe = polled;
        int immediate = completions.immediate(index);
        immediates[stripe][RequestRing.slot(arrived[stripe])] = immediate;
        arrived[stripe]++;
        stripeMessages[stripe]++;
        stripeBytes[stripe] += immediate & ~StripedSendComm.PART;
        completeInOrder();
        postReceive(stripe);
    }

    private void completeInOrder() {
        while (nextCompletion < arrived[0]) {
            int slot = RequestRing.slot(nextCompletion);
            int size = immediates[0][slot];
            if ((size & StripedSendComm.PART) != 0) {
                size &= ~StripedSendComm.PART;
                for (int stripe = 1; stripe < stripes.length; stripe++) {
                    if (arrived[stripe] == dividedCompletions) {
                        return;
                    }
                    size += immediates[stripe][RequestRing.slot(dividedCompletions)] & ~StripedSendComm.PART;
                }
                dividedCompletions++;
            }
            RequestRing.complete(row, slot, size);
            nextCompletion++;
        }
    }

    @Override
    void addTraffic() {
        for (int stripe = 0; stripe < stripes.length; stripe++) {
            links[stripe].traffic().add(stripeMessages[stripe], stripeBytes[stripe]);
        }
    }
}
