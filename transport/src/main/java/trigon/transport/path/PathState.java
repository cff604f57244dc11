package trigon.transport.path;

/** A path's life, the first four in this order; it may be lost, interrupted, or closed, at any time. */
public enum PathState {
    /** Its queue pair is coming up. */
    OPENING(1),

    /** Both queue pairs are up, and the peer is watched. */
    UP(2),

    /** Nothing more will come from the peer, or this end is of no use any more; why is told by a {@link PathLoss}. */
    LOST(3),

    /** Its queue pair is destroyed. */
    CLOSED(4),

    /** Its queue pair is fenced, since it is of no use any more: its connection looks for another path. */
    INTERRUPTED(5);

    private final int code;

    PathState(int code) {
        this.code = code;
    }

    /** Returns what the counters say, which other processes read. */
    public int code() {
        return code;
    }
}
