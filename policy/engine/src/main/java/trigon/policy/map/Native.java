package trigon.policy.map;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import trigon.system.Memory;
import trigon.system.Pages;

/** Native memory as maps need it: zeroed, aligned, compared and copied without allocating. */
final class Native {

    private static final MemorySegment ALL = Memory.segment(0, Long.MAX_VALUE);
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
    private static final long PRIME = 0x9e37_79b9_7f4a_7c15L;

    private Native() {}

    /**
     * Zeros, freed once nothing refers to the segment any more.
     *
     * @throws MapException if the kernel gives this process no more
     */
    static MemorySegment allocate(long bytes) throws MapException {
        return Pages.allocate(bytes)
                .orElseThrow(() -> new MapException(
                        ("there is no memory for a map of %d bytes; declare smaller maps, or let this process have"
                                        + " more memory (ulimit -v, vm.overcommit_memory)")
                                .formatted(bytes)));
    }

    static long aligned(long bytes) {
        return (bytes + 7) & -8;
    }

    static int getIntAcquire(long address) {
        return (int) INT.getAcquire(ALL, address);
    }

    static void putIntRelease(long address, int value) {
        INT.setRelease(ALL, address, value);
    }

    static boolean compareAndSet(long address, int expected, int value) {
        return INT.compareAndSet(ALL, address, expected, value);
    }

    static boolean compareAndSet(long address, long expected, long value) {
        return LONG.compareAndSet(ALL, address, expected, value);
    }

    /** In order of addresses, 8 bytes at a time as long as there are 8. */
    static void copy(long from, long to, int bytes) {
        int at = 0;
        for (; at + 8 <= bytes; at += 8) {
            Memory.putLong(to + at, Memory.getLong(from + at));
        }
        for (; at < bytes; at++) {
            Memory.putByte(to + at, Memory.getByte(from + at));
        }
    }

    static boolean same(long a, long b, int bytes) {
        int at = 0;
        for (; at + 8 <= bytes; at += 8) {
            if (Memory.getLong(a + at) != Memory.getLong(b + at)) {
                return false;
            }
        }
        for (; at < bytes; at++) {
            if (Memory.getByte(a + at) != Memory.getByte(b + at)) {
                return false;
            }
        }
        return true;
    }

    static int hash(long address, int bytes) {
        long hash = bytes;
        int at = 0;
        for (; at + 8 <= bytes; at += 8) {
            hash = mixed(hash ^ Memory.getLong(address + at));
        }
        long tail = 0;
        for (; at < bytes; at++) {
            tail = (tail << 8) | (Memory.getByte(address + at) & 0xff);
        }
        hash = mixed(hash ^ tail);
        return (int) (hash ^ hash >>> 32);
    }

    private static long mixed(long value) {
        long product = value * PRIME;
        return product ^ product >>> 29;
    }
}
