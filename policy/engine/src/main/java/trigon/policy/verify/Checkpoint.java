package trigon.policy.verify;

import org.jspecify.annotations.Nullable;

/** A place on a path that other paths may come to, and how far it is from there to the end at most. */
final class Checkpoint {

    final @Nullable Checkpoint parent;
    /** Instructions from the parent to here. */
    final int fromParent;

    private @Nullable State state;
    private int openPaths = 1;
    private int longest;

    Checkpoint(@Nullable Checkpoint parent, int fromParent, @Nullable State state) {
        this.parent = parent;
        this.fromParent = fromParent;
        this.state = state;
    }

    /** The state here; null if it is not kept. */
    @Nullable
    State state() {
        return state;
    }

    void forgetState() {
        state = null;
    }

    /** Another path goes on from here. */
    void fork() {
        openPaths++;
    }

    /** Tells whether some path from here is not at its end: then the path at hand comes from here. */
    boolean isOpen() {
        return openPaths > 0;
    }

    /** Instructions to the end of the longest path. */
    int longest() {
        return longest;
    }

    /** A path from here ended after so many instructions. */
    void ended(int instructions) {
        int length = instructions;
        Checkpoint at = this;
        while (at != null) {
            at.longest = Math.max(at.longest, length);
            at.openPaths--;
            if (at.openPaths > 0) {
                return;
            }
            length = sum(at.fromParent, at.longest);
            at = at.parent;
        }
    }

    /** Adds numbers of instructions; at most the largest int, which no run is given. */
    static int sum(int instructions, int more) {
        return (int) Math.min((long) instructions + more, Integer.MAX_VALUE);
    }
}
