package trigon.transport.request;

import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import trigon.system.Memory;
import trigon.system.kernel.ProcessBarrier;

/**
 * Keeps the thread of the data path out while another one moves a session to other paths, be it in Java or in the entry
 * library. Who comes in does not wait: it is turned away, and tries again. The library comes in only where the gate is
 * {@link #OPEN}; else it asks Java.
 *
 * <p>The data path writes one word and reads another, for each call, and would need a barrier in between. Where the
 * kernel can make all threads pass one, it needs none: who closes the gate asks for it. Where it cannot, the library is
 * never let in.
 *
 * <p>A session that ends with its paths never closes it.
 */
public final class Gate {

    /** The entry library may come in. */
    static final int OPEN = 1;

    /** Java alone may come in, and is asked for each call. */
    static final int ASK = 2;

    /** A control thread has the lane; nobody else may come in. */
    static final int FENCED = 3;

    /** Looks while the thread is likely to be on a processor: some microseconds. */
    private static final int SPINS = 1000;

    private final long word;
    private final long inside;

    Gate(long row) {
        word = row + RequestRow.GATE;
        inside = row + RequestRow.INSIDE;
    }

    /** Java alone may come in: the beginning of a session. */
    void reset() {
        Memory.putIntRelease(word, ASK);
    }

    /** The thread of the data path comes in, unless it is turned away; {@link #leave} follows, if it did. */
    public boolean enter() {
        Memory.putIntOpaque(inside, 1); // before the look: who closes it looks the other way round
        if (!ProcessBarrier.isAvailable()) {
            VarHandle.fullFence();
        }
        if (Memory.getIntVolatile(word) == FENCED) {
            leave();
            return false;
        }
        return true;
    }

    /** The thread of the data path is done. */
    public void leave() {
        Memory.putIntRelease(inside, 0);
    }

    /** Turns the thread away from now on; waits until it is outside, which takes no longer than one of its calls. */
    public void close() {
        Memory.putIntVolatile(word, FENCED);
        try {
            if (ProcessBarrier.isAvailable()) {
                ProcessBarrier.pass();
            }
        } catch (RuntimeException | Error e) {
            open(false); // who closes it opens it again only once it is closed
            throw e;
        }
        for (int looks = 0; Memory.getIntVolatile(inside) != 0; looks++) {
            if (looks < SPINS) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(1); // it has lost its processor, perhaps to this one
            }
        }
    }

    /**
     * The thread may come in again.
     *
     * @param toLibrary whether in the library, too
     */
    public void open(boolean toLibrary) {
        Memory.putIntVolatile(word, toLibrary ? OPEN : ASK);
    }

    /** The library may come in, too, if Java alone might. By the thread of the data path, from inside. */
    public void openToLibrary() {
        if (Memory.getIntVolatile(word) == ASK) {
            Memory.compareAndSetInt(word, ASK, OPEN);
        }
    }

    /** Java is to be asked for the next call. Any thread; returns at once. */
    public void ask() {
        Memory.compareAndSetInt(word, OPEN, ASK);
    }
}
