package trigon.onesided.memory;

import org.jspecify.annotations.Nullable;

/**
 * A put or a get as NCCL asks for it: bytes of one window, their place in another one, and what to add to a signal once
 * they are there. Windows are named by their numbers until {@link #findForPut} or {@link #findForGet} has found them.
 *
 * <p>Data path: made once, and filled anew for each call. Its group's thread's.
 */
public final class Transfer {

    /** {@code NCCL_GIN_SIGNAL_INC}: adds 1. */
    public static final int INCREMENT = 1;

    /** {@code NCCL_GIN_SIGNAL_ADD}: adds the value. */
    public static final int ADD = 2;

    /** In an operation's place: no signal. */
    public static final int NO_SIGNAL = 0;

    private long sourceNumber;
    private long sourceOffset;
    private long targetNumber;
    private long targetOffset;
    private long size;
    private long signalNumber;
    private long signalOffset;
    private long value;
    private int operation;

    private @Nullable Window source;
    private @Nullable Window target;
    private @Nullable Window signal;

    /**
     * Fills it with what is copied; there is no signal then.
     *
     * @param newSource number of the window that the bytes come from; any where there are none
     * @param newTarget number of the window that they go to; any where there are none
     */
    public Transfer copy(long newSourceOffset, long newSource, long newSize, long newTargetOffset, long newTarget) {
        sourceOffset = newSourceOffset;
        sourceNumber = newSource;
        size = newSize;
        targetOffset = newTargetOffset;
        targetNumber = newTarget;
        operation = NO_SIGNAL;
        return this;
    }

    /**
     * After {@link #copy}, what to add.
     *
     * @param newSignal number of the window that the signal is in
     * @param newOperation {@link #INCREMENT}, {@link #ADD} or {@link #NO_SIGNAL}
     */
    public Transfer signal(long newSignalOffset, long newSignal, long newValue, int newOperation) {
        signalOffset = newSignalOffset;
        signalNumber = newSignal;
        value = newValue;
        operation = newOperation;
        return this;
    }

    /** Finds the windows; a put of no bytes needs only its signal's. False: it cannot be done. */
    public boolean findForPut(Windows windows) {
        source = size == 0 ? null : windows.find(sourceNumber);
        target = size == 0 ? null : windows.find(targetNumber);
        signal = operation == NO_SIGNAL ? null : windows.find(signalNumber);
        return (size == 0 || isCovered())
                && operation >= NO_SIGNAL
                && operation <= ADD
                && (operation == NO_SIGNAL || (signal != null && signal.hasWord(signalOffset)));
    }

    /** Finds the windows, which a get of no bytes needs, too. False: it cannot be done. */
    public boolean findForGet(Windows windows) {
        source = windows.find(sourceNumber);
        target = windows.find(targetNumber);
        signal = null;
        return isCovered();
    }

    private boolean isCovered() {
        return source != null
                && target != null
                && source.covers(sourceOffset, size)
                && target.covers(targetOffset, size);
    }

    /** The window that the bytes come from; null where a put has none. */
    public @Nullable Window source() {
        return source;
    }

    public long sourceOffset() {
        return sourceOffset;
    }

    /** The window that the bytes go to; null where a put has none. */
    public @Nullable Window target() {
        return target;
    }

    public long targetOffset() {
        return targetOffset;
    }

    public long size() {
        return size;
    }

    /** The window that the signal is in; null: there is none. */
    public @Nullable Window signal() {
        return signal;
    }

    public long signalOffset() {
        return signalOffset;
    }

    public long addend() {
        return operation == INCREMENT ? 1 : value;
    }
}
