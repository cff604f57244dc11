package trigon.relay.topology;

/**
 * The reason of this process to announce itself: it needs a route through relays, or somebody near needs one and
 * calls. A call goes two nodes far, to the relays beside the node that needs them, and to those beside these, which
 * relays have to hear. Records that are proven are passed on, and so reach all nodes as they are. One thread; times
 * are {@link System#nanoTime}.
 */
final class Calls {

    /** The call of a node that needs relays itself; a hearer's is one less. */
    static final int MAX = 2;

    /** Nobody calls. */
    private static final int NONE = -1;

    private final long[] heardAt = new long[MAX + 1];
    private final boolean[] heard = new boolean[MAX + 1];
    private boolean needed;

    /** Sets whether this process needs relays itself, from now on. */
    void need(boolean now) {
        needed = now;
    }

    /** A record of another process has come. */
    void hear(int call, long now) {
        heard[call] = true;
        heardAt[call] = now;
    }

    /** Returns whether there is something to announce for. */
    boolean isCalled(long now) {
        return level(now) > NONE;
    }

    /** This process's call; 0 if it is only called itself, or says nothing. */
    int call(long now) {
        return Math.max(0, level(now));
    }

    private int level(long now) {
        if (needed) {
            return MAX;
        }
        for (int call = MAX; call > 0; call--) {
            if (heard[call] && now - heardAt[call] <= Topology.FORGOTTEN.toNanos()) {
                return call - 1;
            }
        }
        return NONE;
    }
}
