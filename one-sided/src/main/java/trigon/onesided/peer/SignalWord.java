package trigon.onesided.peer;

import trigon.onesided.memory.GpuMemory;
import trigon.onesided.memory.Window;
import trigon.system.Memory;

/**
 * An addition to a word of a GPU's memory, behind all copies that have begun. Where the GPU may write the word, too, it
 * has to be read first: one such addition of a group at a time.
 *
 * <p>Data path: its group's thread's.
 */
public final class SignalWord {

    private final GpuMemory device;
    private final long scratch;
    private boolean reading;

    /** The rank itself waits for its turn: peers' additions without a pause would not let it have one. */
    private boolean reserved;

    private long target;
    private long addend;

    /**
     * None is under way.
     *
     * @param scratch a word that the driver can copy to and from
     */
    public SignalWord(GpuMemory device, long scratch) {
        this.device = device;
        this.scratch = scratch;
    }

    public boolean isFree(Window window) {
        return window.keepsTotals() || !(reading || reserved);
    }

    /** Tells whether the rank's own addition can begin; if not, it is the next one. */
    public boolean reserveForSelf(Window window) {
        boolean free = window.keepsTotals() || !reading;
        reserved = !free;
        return free;
    }

    /** Begins an addition that is {@linkplain #isFree free} to; 0, or the driver's error. */
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

    /** The read of {@link #begin} is over, and the word is written. */
    public int goOn() {
        reading = false;
        Memory.putLong(scratch, Memory.getLong(scratch) + addend);
        return device.copy(target, scratch, Long.BYTES);
    }
}
