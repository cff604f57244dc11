package trigon.policy.map;

import java.lang.foreign.MemorySegment;
import trigon.system.Memory;

/**
 * An array for each of some groups of threads. A thread always sees the array of its group; threads of the same group
 * share one, so that counters which have to be exact still need atomic operations.
 *
 * @param groupBytes distance of the groups' arrays
 * @param groupMask the number of groups, a power of two, less one
 */
public record ThreadArrayMap(
        MapSpec spec,
        MemorySegment memory,
        long base,
        int entries,
        long stride,
        long groupBytes,
        int groupMask,
        long shadowBytes)
        implements PolicyMap {

    private static final int MAX_GROUPS = 64;
    private static final int CACHE_LINE = 64;

    static ThreadArrayMap create(MapSpec spec) throws MapException {
        int groups = Math.min(
                MAX_GROUPS, Integer.highestOneBit(2 * Runtime.getRuntime().availableProcessors() - 1));
        long stride = Native.aligned(spec.valueBytes());
        long groupBytes = groupBytes(spec);
        while (groups > 1 && groupBytes * groups > MapSpec.THREAD_ARRAY_BYTES) {
            groups /= 2;
        }
        long bytes = groupBytes * groups;
        MemorySegment memory = Native.allocate(2 * bytes);
        return new ThreadArrayMap(
                spec, memory, memory.address(), spec.entries(), stride, groupBytes, groups - 1, bytes);
    }

    private static long groupBytes(MapSpec spec) {
        return (Native.aligned(spec.valueBytes()) * spec.entries() + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    }

    /** Without the shadow, on a machine with any number of processors. */
    static long mostBytes(MapSpec spec) {
        long groupBytes = groupBytes(spec);
        return Math.max(groupBytes, Math.min(MapSpec.THREAD_ARRAY_BYTES, MAX_GROUPS * groupBytes));
    }

    @Override
    public long lookup(long key, long shadow, long scratch) {
        return inGroup((int) Thread.currentThread().threadId() & groupMask, Memory.getInt(key), shadow);
    }

    /** The value's address in a group's array, for the host; 0 if the index is beyond the end. */
    long inGroup(int group, int index, long shadow) {
        if (Integer.compareUnsigned(index, entries) >= 0) {
            return 0;
        }
        return base + (shadow & shadowBytes) + group * groupBytes + index * stride;
    }

    @Override
    public long update(long key, long value, long flags, long shadow, long scratch) {
        long at = lookup(key, shadow, scratch);
        if (at == 0) {
            return -E2BIG;
        }
        if (flags == NO_EXIST) {
            return -EEXIST;
        }
        if (flags != ANY && flags != EXIST) {
            return -EINVAL;
        }
        Native.copy(value, at, spec.valueBytes());
        return 0;
    }

    @Override
    public long delete(long key, long shadow, long scratch) {
        return -EINVAL;
    }
}
