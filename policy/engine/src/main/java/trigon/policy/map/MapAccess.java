package trigon.policy.map;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import trigon.system.Memory;

/** A map as the host sees it: keys and values are byte arrays, little endian as programs write them. Any thread. */
public record MapAccess(PolicyMap map) {

    /** A copy of the value; of a per-thread array, that of the calling thread's group. */
    public Optional<byte[]> get(byte[] key) {
        checkSize("key", key, map.spec().keyBytes());
        try (Arena arena = Arena.ofConfined()) {
            long own = copy(arena, key);
            long at = map instanceof HashMap hash ? hash.peek(own) : map.lookup(own, 0, own);
            return at == 0 ? Optional.empty() : Optional.of(valueAt(at));
        }
    }

    /** The values of all groups of threads, or the one value of any other map. */
    public List<byte[]> getAll(byte[] key) {
        if (!(map instanceof ArrayMap array)) {
            return get(key).map(List::of).orElse(List.of());
        }
        checkSize("key", key, Integer.BYTES);
        List<byte[]> values = new ArrayList<>();
        int index = MemorySegment.ofArray(key).get(ValueLayout.JAVA_INT_UNALIGNED, 0);
        for (int group = 0; group <= array.groupMask(); group++) {
            long at = array.inGroup(group, index, 0);
            if (at != 0) {
                values.add(valueAt(at));
            }
        }
        return values;
    }

    /**
     * Writes a value as {@code BPF_ANY} does.
     *
     * @throws MapException if there is no room, no such index, or the map holds constants, which programs were verified
     *     with
     */
    public void put(byte[] key, byte[] value) throws MapException {
        checkSize("key", key, map.spec().keyBytes());
        checkSize("value", value, map.spec().valueBytes());
        if (map.spec().readOnly()) {
            throw new MapException("map %s holds constants; build the object with others".formatted(map.spec()));
        }
        try (Arena arena = Arena.ofConfined()) {
            long own = copy(arena, key);
            long result = map.update(own, copy(arena, value), PolicyMap.ANY, 0, own);
            if (result != 0) {
                throw new MapException("map %s: the update failed with errno %d".formatted(map.spec(), -result));
            }
        }
    }

    /** Removes an entry of a hash map; false if there was none. */
    public boolean remove(byte[] key) {
        checkSize("key", key, map.spec().keyBytes());
        try (Arena arena = Arena.ofConfined()) {
            long own = copy(arena, key);
            return map.delete(own, 0, own) == 0;
        }
    }

    /** The keys that exist at the moment; programs that run may change them. */
    public List<byte[]> keys() {
        List<byte[]> keys = new ArrayList<>();
        for (int index = 0; index < map.spec().entries(); index++) {
            switch (map) {
                case ArrayMap _ -> {
                    byte[] key = new byte[Integer.BYTES];
                    MemorySegment.ofArray(key).set(ValueLayout.JAVA_INT_UNALIGNED, 0, index);
                    keys.add(key);
                }
                case HashMap hash -> {
                    long at = hash.keyOf(index);
                    if (at != 0) {
                        keys.add(Memory.segment(at, hash.keyBytes()).toArray(ValueLayout.JAVA_BYTE));
                    }
                }
                case RingBuffer _ -> {
                    return keys;
                }
            }
        }
        return keys;
    }

    private byte[] valueAt(long address) {
        return Memory.segment(address, map.spec().valueBytes()).toArray(ValueLayout.JAVA_BYTE);
    }

    private static long copy(Arena arena, byte[] bytes) {
        MemorySegment copy = arena.allocate(bytes.length, 8);
        MemorySegment.copy(bytes, 0, copy, ValueLayout.JAVA_BYTE, 0, bytes.length);
        return copy.address();
    }

    private void checkSize(String what, byte[] bytes, int expected) {
        if (bytes.length != expected) {
            throw new IllegalArgumentException("map %s: a %s of %d bytes".formatted(map.spec(), what, bytes.length));
        }
    }
}
