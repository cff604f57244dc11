package trigon.onesided.peer;

import trigon.nccl.NetPlugin;

/**
 * One direction between two ranks: a comm for records, and one for payloads that do not fit into them. A record says
 * how its payload is divided, and payloads come in the order of their records.
 *
 * @param net whose comms they are
 * @param rank the other one
 * @param records comm
 * @param payloads comm
 */
public record RankConnection(NetPlugin net, int rank, long records, long payloads) {

    /** All messages have it: NCCL's tags are for its own use. */
    static final int TAG = 0;

    /** Messages of a comm that may be under way. */
    static final int MAX_MESSAGES = 32;

    /** Bytes of a message that staged memory goes in. */
    static final int STAGED_PIECE_BYTES = 512 << 10;

    static final int PIECE_BYTES = 256 << 20;

    /** Messages of staged memory that may be under way. */
    static final int STAGED_PIECES = 8;
}
