package trigon.policy.map;

import java.util.Arrays;
import java.util.Optional;

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
