package trigon.testsupport;

import java.lang.foreign.Arena;
import java.util.Random;
import trigon.system.Memory;

/**
 * Native memory for a test, aligned to a page. Freed when closed, and when what a device was given of it is closed as
 * well: a test names its buffers after the queue pairs that use them, so it closes them first.
 */
public final class NativeBuffer implements AutoCloseable {

    private static final long PAGE = 4096;

    private final Arena arena = Arena.ofShared();
    private final long address;
    private final int length;

    /** Its owner until {@link #close}, and whoever was {@linkplain #lend lent} it. */
    private int users = 1;

    private boolean ownerIsDone;

    /** Zeroed memory of that many bytes. */
    public NativeBuffer(int length) {
        this.length = length;
        address = arena.allocate(Math.max(1, length), PAGE).address();
    }

    public long address() {
        return address;
    }

    public int length() {
        return length;
    }

    /** The address of the byte at {@code offset}. */
    public long at(long offset) {
        return address + offset;
    }

    /** Random bytes all over. */
    public NativeBuffer randomize(Random random) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        for (int i = 0; i < length; i++) {
            Memory.putByte(address + i, bytes[i]);
        }
        return this;
    }

    public NativeBuffer fill(byte value) {
        Memory.fill(address, length, value);
        return this;
    }

    /** A copy of a part of it. */
    public byte[] bytes(int offset, int count) {
        byte[] bytes = new byte[count];
        for (int i = 0; i < count; i++) {
            bytes[i] = Memory.getByte(address + offset + i);
        }
        return bytes;
    }

    /** A copy of all of it. */
    public byte[] bytes() {
        return bytes(0, length);
    }

    /** Tells whether each byte is that one. */
    public boolean holdsOnly(int value) {
        for (int i = 0; i < length; i++) {
            if (Memory.getByte(address + i) != value) {
                return false;
            }
        }
        return true;
    }

    /** Tells whether some byte is that one. */
    public boolean holds(int value) {
        for (int i = 0; i < length; i++) {
            if (Memory.getByte(address + i) == value) {
                return true;
            }
        }
        return false;
    }

    /** Keeps the memory until a {@link #giveBack}, even if this is closed before. */
    public synchronized void lend() {
        if (users == 0) {
            throw new IllegalStateException("the buffer of " + length + " bytes is freed already");
        }
        users++;
    }

    /** Ends what one {@link #lend} began. */
    public synchronized void giveBack() {
        users--;
        if (users == 0) {
            arena.close();
        }
    }

    @Override
    public synchronized void close() {
        if (!ownerIsDone) {
            ownerIsDone = true;
            giveBack();
        }
    }
}
