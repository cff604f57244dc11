package trigon.policy.map;

import java.lang.foreign.MemorySegment;
import trigon.policy.map.MapSpec.MapType;
import trigon.system.Memory;

/**
 * Values by key. Chains of nodes from a fixed pool.
 *
 * <p>Reading takes no lock. A value can be read while it is changed: who needs more than 8 bytes to fit together puts a
 * counter next to them. A value that is deleted stays readable, and may belong to another key later, as in Linux.
 *
 * <p>Writing takes a lock of the map, but waits for it a bounded time only, and then returns {@code EBUSY}: a thread
 * that was interrupted while it had the lock holds up nobody.
 *
 * <p>Memory: a header, the buckets (index of the first node, or the end mark), the nodes. A chain's end mark is the
 * bucket's number, inverted: a reader that strayed into another chain, because its node was freed and used again,
 * sees it there and starts over.
 *
 * @param base start of the header: lock, first free node, hand of the clock
 * @param valueOffset of the value within a node
 */
public record HashMap(
        MapSpec spec,
        MemorySegment memory,
        long base,
        int entries,
        int bucketMask,
        long nodes,
        long nodeBytes,
        int keyBytes,
        long valueOffset,
        boolean evicts,
        long shadowBytes)
        implements PolicyMap {

    private static final int LOCK = 0;
    private static final int FREE = 4;
    private static final int CLOCK_HAND = 8;
    private static final int HEADER_BYTES = 64;

    // a node: next, whether it is in a chain, whether it was looked up since the clock's hand passed, key, value
    private static final int NEXT = 0;
    private static final int IN_CHAIN = 4;
    private static final int LOOKED_UP = 5;
    private static final int KEY = 8;

    private static final int NONE = -1;
    private static final int LOCK_ATTEMPTS = 1000;
    private static final int READ_ATTEMPTS = 8;
    private static final int CLOCK_STEPS = 64;

    static HashMap create(MapSpec spec) throws MapException {
        int entries = spec.entries();
        int buckets = Integer.highestOneBit(Math.max(2, 2 * entries - 1));
        long valueOffset = KEY + Native.aligned(spec.keyBytes());
        long nodeBytes = valueOffset + Native.aligned(spec.valueBytes());
        long nodesOffset = HEADER_BYTES + Native.aligned(4L * buckets);
        long bytes = nodesOffset + nodeBytes * entries;
        MemorySegment memory = Native.allocate(2 * bytes);
        HashMap map = new HashMap(
                spec,
                memory,
                memory.address(),
                entries,
                buckets - 1,
                memory.address() + nodesOffset,
                nodeBytes,
                spec.keyBytes(),
                valueOffset,
                spec.type() == MapType.LRU_HASH,
                bytes);
        map.clear(0);
        return map;
    }

    @Override
    public void resetShadow() {
        PolicyMap.super.resetShadow();
        clear(-1);
    }

    private void clear(long shadow) {
        long shift = shadow & shadowBytes;
        for (int bucket = 0; bucket <= bucketMask; bucket++) {
            Memory.putInt(bucketAt(bucket) + shift, ~bucket);
        }
        for (int node = 0; node < entries; node++) {
            Memory.putInt(nodeAt(node) + shift + NEXT, node + 1 < entries ? node + 1 : NONE);
        }
        Memory.putInt(base + shift + FREE, 0);
    }

    private long bucketAt(int bucket) {
        return base + HEADER_BYTES + 4L * bucket;
    }

    private int bucketOf(long key) {
        return Native.hash(key, keyBytes) & bucketMask;
    }

    private long nodeAt(int node) {
        return nodes + node * nodeBytes;
    }

    @Override
    public long lookup(long key, long shadow, long scratch) {
        Native.copy(key, scratch, keyBytes);
        long node = find(scratch, bucketOf(scratch), shadow & shadowBytes);
        if (node == 0) {
            return 0;
        }
        if (evicts && Memory.getByte(node + LOOKED_UP) == 0) {
            // if it is lost, or hits a node that was just freed, the clock errs by a round; no writer uses this byte
            Memory.putByte(node + LOOKED_UP, (byte) 1);
        }
        return node + valueOffset;
    }

    /** The node's address, or 0. */
    private long find(long key, int bucket, long shift) {
        for (int attempt = 0; attempt < READ_ATTEMPTS; attempt++) {
            int at = Native.getIntAcquire(bucketAt(bucket) + shift);
            for (int steps = 0; at >= 0 && steps <= entries; steps++) {
                long node = nodeAt(at) + shift;
                if (Native.same(node + KEY, key, keyBytes)) {
                    return node;
                }
                at = Native.getIntAcquire(node + NEXT);
            }
            if (at == ~bucket) {
                return 0;
            }
        }
        return 0;
    }

    @Override
    public long update(long key, long value, long flags, long shadow, long scratch) {
        if (flags < ANY || flags > EXIST) {
            return -EINVAL;
        }
        Native.copy(key, scratch, keyBytes);
        long shift = shadow & shadowBytes;
        if (!lock(shift)) {
            return -EBUSY;
        }
        long result = updateLocked(scratch, value, flags, shift);
        unlock(shift);
        return result;
    }

    private long updateLocked(long key, long value, long flags, long shift) {
        int bucket = bucketOf(key);
        long node = find(key, bucket, shift);
        if (node != 0) {
            if (flags == NO_EXIST) {
                return -EEXIST;
            }
            Native.copy(value, node + valueOffset, spec.valueBytes());
            return 0;
        }
        if (flags == EXIST) {
            return -ENOENT;
        }
        if (evicts && Memory.getInt(base + shift + FREE) == NONE) {
            evict(shift);
        }
        int free = Memory.getInt(base + shift + FREE);
        if (free == NONE) {
            return -E2BIG;
        }
        long added = nodeAt(free) + shift;
        Memory.putInt(base + shift + FREE, Memory.getInt(added + NEXT));
        Native.copy(key, added + KEY, keyBytes);
        Native.copy(value, added + valueOffset, spec.valueBytes());
        Memory.putByte(added + LOOKED_UP, (byte) 0);
        Memory.putByte(added + IN_CHAIN, (byte) 1);
        Native.putIntRelease(added + NEXT, Memory.getInt(bucketAt(bucket) + shift));
        Native.putIntRelease(bucketAt(bucket) + shift, free);
        return 0;
    }

    /** Frees the first node that was not looked up since the hand passed; after some steps, the one it is at. */
    private void evict(long shift) {
        int hand = Memory.getInt(base + shift + CLOCK_HAND);
        for (int step = 0; step < CLOCK_STEPS; step++) {
            long node = nodeAt(hand) + shift;
            if (Memory.getByte(node + LOOKED_UP) == 0) {
                break;
            }
            Memory.putByte(node + LOOKED_UP, (byte) 0);
            hand = hand + 1 < entries ? hand + 1 : 0;
        }
        Memory.putInt(base + shift + CLOCK_HAND, hand + 1 < entries ? hand + 1 : 0);
        remove(nodeAt(hand) + shift + KEY, shift);
    }

    @Override
    public long delete(long key, long shadow, long scratch) {
        Native.copy(key, scratch, keyBytes);
        long shift = shadow & shadowBytes;
        if (!lock(shift)) {
            return -EBUSY;
        }
        boolean removed = remove(scratch, shift);
        unlock(shift);
        return removed ? 0 : -ENOENT;
    }

    private boolean remove(long key, long shift) {
        long link = bucketAt(bucketOf(key)) + shift;
        int at = Memory.getInt(link);
        while (at >= 0) {
            long node = nodeAt(at) + shift;
            int next = Memory.getInt(node + NEXT);
            if (Native.same(node + KEY, key, keyBytes)) {
                Native.putIntRelease(link, next);
                Memory.putByte(node + IN_CHAIN, (byte) 0);
                Native.putIntRelease(node + NEXT, Memory.getInt(base + shift + FREE));
                Memory.putInt(base + shift + FREE, at);
                return true;
            }
            link = node + NEXT;
            at = next;
        }
        return false;
    }

    private boolean lock(long shift) {
        for (int attempt = 0; attempt < LOCK_ATTEMPTS; attempt++) {
            if (Native.compareAndSet(base + shift + LOCK, 0, 1)) {
                return true;
            }
            Thread.onSpinWait();
        }
        return false;
    }

    private void unlock(long shift) {
        Native.putIntRelease(base + shift + LOCK, 0);
    }

    /** For the host: the value's address, or 0. Does not count as a use, since each rank's host reads when it likes. */
    long peek(long key) {
        long node = find(key, bucketOf(key), 0);
        return node == 0 ? 0 : node + valueOffset;
    }

    /** For the host: the address of the key in a node, or 0 if the node is free. */
    long keyOf(int node) {
        long at = nodeAt(node);
        return Memory.getByte(at + IN_CHAIN) != 0 ? at + KEY : 0;
    }
}
