package trigon.policy.map;

import java.lang.foreign.MemorySegment;
import trigon.policy.map.MapSpec.MapType;
import trigon.system.Memory;

/**
 * Values by index; all exist from the start, as zeros. Updates copy the value 8 bytes at a time and in order: who
 * reads at the same time may see a value of more than 8 bytes half-changed, as in Linux.
 *
 * <p>A {@link MapType#THREAD_ARRAY} has such an array for each of some groups of threads. A thread always sees the
 * array of its group; threads of the same group share one, so that exact counters still need atomic operations.
 *
 * @param stride distance of values: their size, rounded up to 8 bytes
 * @param groupBytes distance of the groups' arrays
 * @param groupMask the number of groups, a power of two, less one
 * @param shadowBytes distance to the shadow
 */
public record ArrayMap(
        MapSpec spec, MemorySegment memory, long base, long stride, long groupBytes, int groupMask, long shadowBytes)
        implements PolicyMap {

    private static final int MAX_GROUPS = 64;
    private static final int CACHE_LINE = 64;

    static ArrayMap create(MapSpec spec) throws MapException {
        long groupBytes = groupBytes(spec);
        int groups = 1;
        if (spec.type() == MapType.THREAD_ARRAY) {
            groups = Math.min(
                    MAX_GROUPS, Integer.highestOneBit(2 * Runtime.getRuntime().availableProcessors() - 1));
            while (groups > 1 && groupBytes * groups > MapSpec.THREAD_ARRAY_BYTES) {
                groups /= 2;
            }
        }
        long bytes = groupBytes * groups;
        MemorySegment memory = Native.allocate(2 * bytes);
        ArrayMap map = new ArrayMap(
                spec, memory, memory.address(), Native.aligned(spec.valueBytes()), groupBytes, groups - 1, bytes);
        map.fill(0);
        return map;
    }

    private static long groupBytes(MapSpec spec) {
        long bytes = Native.aligned(spec.valueBytes()) * spec.entries();
        return spec.type() == MapType.ARRAY ? bytes : (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    }

    /** Size in bytes at most, without the shadow: the same on machines with any number of processors. */
    static long maxBytes(MapSpec spec) {
        long groupBytes = groupBytes(spec);
        return spec.type() == MapType.ARRAY
                ? groupBytes
                : Math.max(groupBytes, Math.min(MapSpec.THREAD_ARRAY_BYTES, MAX_GROUPS * groupBytes));
    }

    /** Copies the initial content, from an offset of the memory on. */
    private void fill(long offset) {
        byte[] content = spec.content();
        MemorySegment.copy(MemorySegment.ofArray(content), 0, memory, offset, content.length);
    }

    @Override
    public void resetShadow() {
        PolicyMap.super.resetShadow();
        fill(shadowBytes);
    }

    @Override
    public long lookup(long key, long shadow, long scratch) {
        int group = groupMask == 0 ? 0 : (int) Thread.currentThread().threadId() & groupMask;
        return inGroup(group, Memory.getInt(key), shadow);
    }

    /** Address of the value in a group's array; 0 if the index is beyond the end. */
    long inGroup(int group, int index, long shadow) {
        return Integer.compareUnsigned(index, spec.entries()) < 0
                ? base + (shadow & shadowBytes) + group * groupBytes + index * stride
                : 0;
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
