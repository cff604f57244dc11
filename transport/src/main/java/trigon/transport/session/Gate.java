package trigon.transport.session;

/**
 * Keeps the thread of the data path out while another one moves a session to another path. Who comes in does not wait:
 * it is turned away, and tries again.
 */
final class Gate {

    private volatile boolean inside;
    private volatile boolean closed;

    /** The thread of the data path comes in, unless it is turned away; {@link #leave} follows, if it did. */
    boolean enter() {
        inside = true; // before the look: who closes it looks the other way round
        if (closed) {
            inside = false;
            return false;
        }
        return true;
    }

    /** The thread of the data path is done. */
    void leave() {
        inside = false;
    }

    /** Turns the thread away from now on; waits until it is outside, which takes no longer than one of its calls. */
    void close() {
        closed = true;
        while (inside) {
            Thread.onSpinWait();
        }
    }

    /** It may come in again. */
    void open() {
        closed = false;
    }
}
