package trigon.transport.session;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import trigon.system.kernel.ProcessBarrier;

/**
 * Keeps the thread of the data path out while another one moves a session to other paths. Who comes in does not wait:
 * it is turned away, and tries again.
 *
 * <p>The data path writes one word and reads another, for each call, and would need a barrier in between. Where the
 * kernel can make all threads pass one, it needs none: who closes the gate asks for it.
 */
final class Gate {

    private static final VarHandle INSIDE;

    static {
        try {
            INSIDE = MethodHandles.lookup().findVarHandle(Gate.class, "inside", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private volatile boolean inside;
    private volatile boolean closed;

    /** The thread of the data path comes in, unless it is turned away; {@link #leave} follows, if it did. */
    boolean enter() {
        INSIDE.setOpaque(this, true); // before the look: who closes it looks the other way round
        if (!ProcessBarrier.isAvailable()) {
            VarHandle.fullFence();
        }
        if (closed) {
            leave();
            return false;
        }
        return true;
    }

    /** The thread of the data path is done. */
    void leave() {
        INSIDE.setRelease(this, false);
    }

    /** Turns the thread away from now on; waits until it is outside, which takes no longer than one of its calls. */
    void close() {
        closed = true;
        try {
            if (ProcessBarrier.isAvailable()) {
                ProcessBarrier.pass();
            }
        } catch (RuntimeException | Error e) {
            closed = false; // who closes it opens it again only once it is closed
            throw e;
        }
        while (inside) {
            Thread.onSpinWait();
        }
    }

    /** It may come in again. */
    void open() {
        closed = false;
    }
}
