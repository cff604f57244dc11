package trigon.transport.protocol;

import trigon.nccl.NetPlugin;
import trigon.transport.metrics.PathCounters;
import trigon.transport.path.PathChannel;
import trigon.verbs.QueuePair;

/** A sender's side of one of its paths; together, since with many sessions each cache line is a miss. */
final class OutgoingPath {

    final QueuePair queuePair;
    final PathCounters counters;

    /** The longest RDMA WRITE, in bytes. */
    private final int longestWrite;

    /** Send work requests that can be posted now. */
    private int room;

    OutgoingPath(PathChannel path) {
        queuePair = path.queuePair();
        counters = path.counters();
        longestWrite = (int) Math.min(path.maxMessageBytes(), NetPlugin.MAX_MESSAGE_BYTES);
        room = path.sendQueueDepth();
    }

    int longestWrite() {
        return longestWrite;
    }

    /** Work requests for so many bytes. */
    private int writes(int bytes) {
        return bytes <= longestWrite ? 1 : Math.ceilDiv(bytes, longestWrite);
    }

    boolean hasRoom(int bytes) {
        return writes(bytes) <= room;
    }

    /** So many bytes were posted. */
    void posted(int bytes) {
        room -= writes(bytes);
        counters.message(bytes);
    }

    /** A message of so many bytes has arrived, which frees its work requests' room in the send queue. */
    void arrived(int bytes) {
        room += writes(bytes);
    }
}
