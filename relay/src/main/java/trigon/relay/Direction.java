package trigon.relay;

import java.io.IOException;

/** One direction of a circuit that is open. The relay's thread alone; allocates nothing. */
sealed interface Direction permits Splice, Forwarding {

    /**
     * Moves what can be moved now, but not without limit.
     *
     * @return how many bytes were written
     * @throws IOException if one of the two sides is broken
     */
    int step() throws IOException;

    /** Returns whether it waits for its source to have something. */
    boolean wantsToRead();

    /** Returns whether it waits for room at the other side. */
    boolean wantsToWrite();

    /** Returns whether bytes that have come, or the end, wait for room at the other side. */
    boolean isHeldUp();

    /** Returns whether its source has ended, and the other side has been told. */
    boolean isOver();
}
