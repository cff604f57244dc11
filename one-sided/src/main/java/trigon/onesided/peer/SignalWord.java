package trigon.onesided.peer;

import trigon.onesided.memory.DeviceMemory;
import trigon.onesided.memory.Window;
import trigon.verbs.Memory;

/**
 * An addition to a word of a GPU's memory, behind all copies that have begun. Where the GPU may write the word, too, it
 * has to be read first: one such addition of a group at a time.
 *
 * <p>Data path: its group's thread's.
 */
public final class SignalWord {

    private final DeviceMemory device;
    private final long scratch;
    private boolean reading;
    private long target;
    private long addend;

    /**
     * None is under way.
     *
     * @param scratch a word that the driver can copy to and from
     */
    public SignalWord(DeviceMemory device, long scratch) {
        this.device = device;
        this.scratch = scratch;
    }

    /** Whether an addition can begin. */
    public boolean isFree(Window window) {
        return !reading || window.keepsTotals();
    }

    /** Begins an addition, if it {@linkplain #isFree can}; 0, or the driver's error. */
    public int begin(Window window, long offset, long value) {
        long word = window.address() + offset;
        if (window.keepsTotals()) {
            return device.write(word, window.add(offset, value));
        }
        target = word;
        addend = value;
        reading = true;
        return device.copy(scratch, target, Long.BYTES);
    }

    /** The word is being read: once that is over, {@link #goOn}. */
    public boolean isReading() {
        return reading;
    }

    /** The word has been read, and is written. */
    public int goOn() {
        reading = false;
        Memory.putLong(scratch, Memory.getLong(scratch) + addend);
        return device.copy(target, scratch, Long.BYTES);
    }
}
