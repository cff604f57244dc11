package trigon.transport.protocol;

import trigon.transport.request.RequestRow;

/**
 * Parts of each outstanding message, by the path that carries them, and those that have arrived. Preallocated; for the
 * thread that makes the session's data-path calls.
 */
final class Division {

    private final PartShares shares;
    private final int paths;

    // by slot: parts that are on their way
    private final int[] unfinished = new int[RequestRow.REQUESTS];
    // by slot and path: the part's bytes
    private final int[] bytes;

    /**
     * Makes one of no message yet.
     *
     * @param speeds of the paths, 1 or more each
     */
    Division(int[] speeds) {
        paths = speeds.length;
        shares = new PartShares(speeds);
        bytes = new int[RequestRow.REQUESTS * paths];
    }

    /** Decides for a message; again and again, until it is {@link #posted}. */
    void divide(int slot, int size) {
        int begin = 0;
        for (int path = 0; path < paths; path++) {
            int end = shares.end(path, size);
            bytes[slot * paths + path] = end - begin;
            begin = end;
        }
        unfinished[slot] = paths;
    }

    /** The same for a message that goes over the first path alone. */
    void whole(int slot) {
        unfinished[slot] = 1;
    }

    /** That message has arrived. */
    void arrived(int slot) {
        unfinished[slot] = 0;
    }

    boolean isComplete(int slot) {
        return unfinished[slot] == 0;
    }

    /** Bytes of the part of a message that goes over a path. */
    int bytes(int slot, int path) {
        return bytes[slot * paths + path];
    }

    /** A part is handed to its path's device now. */
    void posted(int path, long nowNanos) {
        shares.posted(path, nowNanos);
    }

    /** A part has arrived. */
    void arrived(int slot, int path, long nowNanos) {
        shares.arrived(path, bytes(slot, path), nowNanos);
        if (--unfinished[slot] == 0) {
            shares.completed(nowNanos);
        }
    }
}
