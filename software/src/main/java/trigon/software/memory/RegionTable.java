package trigon.software.memory;

import org.jspecify.annotations.Nullable;

/**
 * Memory regions by their keys. Immutable, so that looking up needs no lock; looking up allocates nothing. Keys are
 * random, so they need no hashing: a region lies in the first free slot from its key's on (linear probing).
 */
final class RegionTable {

    static final RegionTable EMPTY = new RegionTable(0);

    private final int[] keys;
    /** Null where a slot is free; at least half of them are. */
    private final @Nullable SoftwareMemoryRegion[] regions;

    private final int size;

    private RegionTable(int size) {
        int slots = Integer.highestOneBit(2 * size + 1) << 1;
        keys = new int[slots];
        regions = new SoftwareMemoryRegion[slots];
        this.size = size;
    }

    /** The region with that key; null if there is none. */
    @Nullable
    SoftwareMemoryRegion get(int key) {
        int mask = keys.length - 1;
        int slot = key & mask;
        SoftwareMemoryRegion found = regions[slot];
        while (found != null && keys[slot] != key) {
            slot = (slot + 1) & mask;
            found = regions[slot];
        }
        return found;
    }

    /** This one, and a region with a key that is not in it. */
    RegionTable with(int key, SoftwareMemoryRegion region) {
        RegionTable copy = new RegionTable(size + 1);
        copyTo(copy, null);
        copy.put(key, region);
        return copy;
    }

    /** A table of the other regions; the one to be left out has to be in this one. */
    RegionTable without(SoftwareMemoryRegion region) {
        RegionTable copy = new RegionTable(size - 1);
        copyTo(copy, region);
        return copy;
    }

    private void copyTo(RegionTable copy, @Nullable SoftwareMemoryRegion leftOut) {
        for (int i = 0; i < keys.length; i++) {
            SoftwareMemoryRegion region = regions[i];
            if (region != null && region != leftOut) {
                copy.put(keys[i], region);
            }
        }
    }

    private void put(int key, SoftwareMemoryRegion region) {
        int mask = keys.length - 1;
        int slot = key & mask;
        while (regions[slot] != null) {
            slot = (slot + 1) & mask;
        }
        keys[slot] = key;
        regions[slot] = region;
    }
}
