package trigon.policy.map;

import java.lang.foreign.MemorySegment;
import trigon.system.Memory;

/**
 * Values by index; all exist from the start, as zeros. Updates copy the value 8 bytes at a time and in order: who
 * reads at the same time may see a value of more than 8 bytes half-changed, as in Linux.
 *
 * @param stride distance of values: their size, rounded up to 8 bytes
 * @param shadowBytes distance to the shadow
 */
public record ArrayMap(MapSpec spec, MemorySegment memory, long base, int entries, long stride, long shadowBytes)
        implements PolicyMap {

    static ArrayMap create(MapSpec spec) throws MapException {
        long stride = Native.aligned(spec.valueBytes());
        long bytes = stride * spec.entries();
        MemorySegment memory = Native.allocate(2 * bytes);
        ArrayMap map = new ArrayMap(spec, memory, memory.address(), spec.entries(), stride, bytes);
        map.fill(0);
        return map;
    }

    /** With what it starts with, from an offset of its memory on. */
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
        int index = Memory.getInt(key);
        return Integer.compareUnsigned(index, entries) < 0 ? base + (shadow & shadowBytes) + index * stride : 0;
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
