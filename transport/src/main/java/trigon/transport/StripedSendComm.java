package trigon.transport;

import java.util.List;
import org.jspecify.annotations.Nullable;
import trigon.verbs.Memory;
import trigon.verbs.QueuePair;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletions;

/**
 * The sending end over several queue pairs, each a stripe. As {@link RendezvousSendComm}, but that a long message goes in
 * parts, one over each stripe, each of which ends with an immediate: the part's size, and in the uppermost bit whether
 * there is one on every stripe. A short message goes over the first stripe alone.
 */
final class StripedSendComm extends SendComm {

    /** Set in an immediate: this is a part, and every stripe carries one. */
    static final int PART = 1 << 31;

    /** Shorter messages go over one stripe: what they would gain by others does not make up for more work requests. */
    static final int LEAST_DIVIDED_BYTES = 32 << 10;

    private final QueuePair[] queuePairs;
    private final int[] longestWrites;
    private final int[] sendQueueRoom;
    private final long[] stripeMessages;
    private final long[] stripeBytes;
    private final StripeShares shares;
    private final long clearToSend;

    // by slot: how many parts are on their way
    private final int[] unfinished = new int[RequestRing.SLOTS];
    // by slot and stripe: the part's size, and its work requests
    private final int[][] partBytes;
    private final int[][] workRequests;

    private long nextSequence;

    StripedSendComm(List<Connection> connections) {
        super(connections);
        int count = connections.size();
        queuePairs = connections.stream().map(Connection::queuePair).toArray(QueuePair[]::new);
        longestWrites = connections.stream()
                .mapToInt(stripe -> (int) Math.min(stripe.maxMessageBytes(), MAX_MESSAGE_BYTES))
                .toArray();
        sendQueueRoom =
                connections.stream().mapToInt(Connection::sendQueueDepth).toArray();
        stripeMessages = new long[count];
        stripeBytes = new long[count];
        shares = new StripeShares(
                connections.stream().mapToInt(Connection::speedMbps).toArray());
        clearToSend = connection.clearToSendRing().address();
        partBytes = new int[RequestRing.SLOTS][count];
        workRequests = new int[RequestRing.SLOTS][count];
    }

    @Override
    long isend(long address, int size, int tag, @Nullable RegisteredMemory memory) {
        if (failure != 0) {
            return failure;
        }
        if (memory != null && !memory.isOf(links)) {
            return -NcclResult.INVALID_ARGUMENT.code();
        }
        long sequence = nextSequence;
        long entry = clearToSend + StripedClearToSend.offset(sequence);
        if (Memory.getLongAcquire(entry + StripedClearToSend.SEQUENCE) != sequence + 1) {
            return waitFor(entry + StripedClearToSend.SEQUENCE, sequence + 1);
        }
        int slot = RequestRing.slot(sequence);
        if (!RequestRing.isFree(row, slot) || !divide(slot, size)) {
            progress();
            return failure != 0 ? failure : NetPlugin.TRY_AGAIN;
        }
        int capacity = Memory.getInt(entry + StripedClearToSend.CAPACITY);
        int receiveTag = Memory.getInt(entry + StripedClearToSend.TAG);
        if (size > capacity || tag != receiveTag) {
            return failMismatch(sequence, size, tag, capacity, receiveTag);
        }
        int parts = unfinished[slot];
        int from = 0;
        for (int stripe = 0; stripe < parts; stripe++) {
            int errno = post(stripe, address + from, from, memory, entry, sequence, parts > 1 ? PART : 0);
            if (errno != 0) {
                return failPosting(stripes[stripe], "ibv_post_send", errno);
            }
            from += partBytes[slot][stripe];
        }
        long request = begin(sequence, size);
        nextSequence = sequence + 1;
        return request;
    }

    /** Decides what goes over which stripe. False if the send queues have no room for it now. */
    private boolean divide(int slot, int size) {
        boolean divided = size >= LEAST_DIVIDED_BYTES && stripes.length > 1;
        int parts = divided ? stripes.length : 1;
        int from = 0;
        for (int stripe = 0; stripe < parts; stripe++) {
            int end = divided ? shares.end(stripe, size) : size;
            int length = end - from;
            int writes = length <= longestWrites[stripe] ? 1 : Math.ceilDiv(length, longestWrites[stripe]);
            if (writes > sendQueueRoom[stripe]) {
                return false;
            }
            partBytes[slot][stripe] = length;
            workRequests[slot][stripe] = writes;
            from = end;
        }
        unfinished[slot] = parts;
        return true;
    }

    private int post(
            int stripe,
            long address,
            int offset,
            @Nullable RegisteredMemory memory,
            long entry,
            long sequence,
            int flag) {
        int slot = RequestRing.slot(sequence);
        int size = partBytes[slot][stripe];
        int longest = longestWrites[stripe];
        int localKey = memory == null ? 0 : memory.region(stripe).localKey();
        long remote = Memory.getLong(entry + StripedClearToSend.ADDRESS) + offset;
        int remoteKey = Memory.getInt(entry + StripedClearToSend.remoteKey(stripe));
        QueuePair queuePair = queuePairs[stripe];
        if (flag != 0) {
            shares.posted(stripe, System.nanoTime());
        }
        int sent = 0;
        while (size - sent > longest) {
            int errno = queuePair.postWrite(
                    sequence, address + sent, longest, localKey, remote + sent, remoteKey, SendFlag.NONE);
            if (errno != 0) {
                return errno;
            }
            sent += longest;
        }
        int errno = queuePair.postWriteWithImmediate(
                sequence,
                address + sent,
                size - sent,
                localKey,
                remote + sent,
                remoteKey,
                flag | size,
                SendFlag.SIGNALED);
        if (errno == 0) {
            sendQueueRoom[stripe] -= workRequests[slot][stripe];
            stripeMessages[stripe]++;
            stripeBytes[stripe] += size;
        }
        return errno;
    }

    @Override
    void onSuccess(WorkCompletions completions, int index) {
        int slot = RequestRing.slot(completions.workRequestId(index));
        int stripe = polled;
        sendQueueRoom[stripe] += workRequests[slot][stripe];
        boolean last = --unfinished[slot] == 0;
        if (RequestRing.size(row, slot) >= LEAST_DIVIDED_BYTES && stripes.length > 1) {
            long now = System.nanoTime();
            shares.arrived(stripe, partBytes[slot][stripe], now);
            if (last) {
                shares.completed(now);
            }
        }
        if (last) {
            RequestRing.complete(row, slot, RequestRing.size(row, slot));
        }
    }

    @Override
    void addTraffic() {
        for (int stripe = 0; stripe < stripes.length; stripe++) {
            links[stripe].traffic().add(stripeMessages[stripe], stripeBytes[stripe]);
        }
    }
}
