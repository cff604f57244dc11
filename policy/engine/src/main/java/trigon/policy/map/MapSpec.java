package trigon.policy.map;

import java.util.Arrays;
import java.util.Optional;

/**
 * An object's declaration of a map.
 *
 * @param name by which programs and the host share it
 * @param type its kind
 * @param keyBytes size of a key; 0 for ring buffers
 * @param valueBytes size of a value; 0 for ring buffers
 * @param entries capacity; the bytes of a ring buffer
 * @param readOnly programs may not write it
 * @param content what an array of one value starts with; empty for zeros
 */
@SuppressWarnings("ArrayRecordComponent") // copied in and out
public record MapSpec(
        String name, MapType type, int keyBytes, int valueBytes, int entries, boolean readOnly, byte[] content) {

    /**
     * Size of all maps of an object together, in bytes. Each communicator has them once more, and their shadows while
     * its programs are warmed up.
     */
    public static final long MAX_BYTES = 4 << 20;

    /** Size of all groups of a {@link MapType#THREAD_ARRAY}, in bytes; if one takes more, there is only one. */
    static final long THREAD_ARRAY_BYTES = 1 << 20;

    /** Size of a map's entry beside key and value, with its place among the entries, in bytes. */
    private static final int ENTRY_BYTES = 16;

    /** As in Linux, where a key has to fit the stack of a program. */
    public static final int MAX_KEY_BYTES = 512;

    public MapSpec {
        content = content.clone();
    }

    /** A map that starts empty, or with zeros. */
    public static MapSpec of(String name, MapType type, int keyBytes, int valueBytes, int entries) {
        return new MapSpec(name, type, keyBytes, valueBytes, entries, false, new byte[0]);
    }

    @Override
    public byte[] content() {
        return content.clone();
    }

    /** Refuses what no map can be. */
    public void check() throws MapException {
        switch (type) {
            case HASH, LRU_HASH -> {
                require(keyBytes >= 1 && keyBytes <= MAX_KEY_BYTES, "keys of 1 to 512 bytes, not " + keyBytes);
                require(valueBytes >= 1, "values of at least a byte");
            }
            case ARRAY, THREAD_ARRAY -> {
                require(keyBytes == Integer.BYTES, "keys of 4 bytes, not " + keyBytes);
                require(valueBytes >= 1, "values of at least a byte");
            }
            case RING_BUFFER -> {
                require(keyBytes == 0 && valueBytes == 0, "neither keys nor values");
                require(
                        entries >= 4096 && Integer.bitCount(entries) == 1,
                        "max_entries to be a power of two of at least 4096, not " + entries);
            }
        }
        require(entries >= 1, "max_entries of at least 1, not " + entries);
        require(
                memoryBytes() <= MAX_BYTES,
                "at most %d bytes in all, not %d; declare fewer or smaller entries"
                        .formatted(MAX_BYTES, memoryBytes()));
    }

    /** Size at most, without the shadow, in bytes; the same on all machines. */
    long memoryBytes() {
        return switch (type) {
            case RING_BUFFER -> entries;
            case ARRAY, THREAD_ARRAY -> ArrayMap.maxBytes(this);
            case HASH, LRU_HASH -> (Native.aligned(keyBytes) + Native.aligned(valueBytes) + ENTRY_BYTES) * entries;
        };
    }

    private void require(boolean condition, String needs) throws MapException {
        if (!condition) {
            throw new MapException("map %s: a map of type %s needs %s".formatted(name, type, needs));
        }
    }

    /** Tells whether a map of the other declaration can serve this one. */
    public boolean sameLayout(MapSpec other) {
        return type == other.type
                && keyBytes == other.keyBytes
                && valueBytes == other.valueBytes
                && entries == other.entries
                && readOnly == other.readOnly;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof MapSpec spec
                && name.equals(spec.name)
                && sameLayout(spec)
                && Arrays.equals(content, spec.content);
    }

    @Override
    public int hashCode() {
        return name.hashCode();
    }

    /** Name and layout, for messages. */
    @Override
    public String toString() {
        return "%s (%s, key %d, value %d, entries %d%s)"
                .formatted(name, type, keyBytes, valueBytes, entries, readOnly ? ", read only" : "");
    }

    /** The kinds of maps, with Linux's numbers ({@code enum bpf_map_type}). */
    public enum MapType {
        HASH(1),
        ARRAY(2),
        /** One array for each group of threads: what Linux has for each CPU. */
        THREAD_ARRAY(6),
        /** Drops the entry that was not used for the longest time, roughly, to make room. */
        LRU_HASH(9),
        RING_BUFFER(27);

        private final int number;

        MapType(int number) {
            this.number = number;
        }

        /** As in {@code enum bpf_map_type}. */
        public int number() {
            return number;
        }

        public static Optional<MapType> ofNumber(long number) {
            return Arrays.stream(values()).filter(type -> type.number == number).findFirst();
        }
    }
}
