package trigon.policy.map;

import java.lang.foreign.MemorySegment;
import trigon.system.Pages;

/**
 * A map in native memory. Programs call the methods that take addresses; those neither allocate nor block nor check the
 * addresses, which the verifier did.
 *
 * <p>Keys and values may lie in the value of a map, which other threads change at any time. Each of their bytes is
 * therefore read once: a key is copied to {@code scratch} first, and only the copy is used.
 *
 * <p>{@code shadow} is 0 for the map itself and -1 for its shadow. {@code scratch} is the address of memory of the size
 * of a key that belongs to the calling thread.
 */
public sealed interface PolicyMap permits ArrayMap, HashMap, RingBuffer {

    /** {@code errno} values that updates return negated, as Linux does. */
    int ENOENT = 2;

    int E2BIG = 7;
    int EAGAIN = 11;
    int EBUSY = 16;
    int EEXIST = 17;
    int EINVAL = 22;

    /** Flags of updates: {@code BPF_ANY}, {@code BPF_NOEXIST}, {@code BPF_EXIST}. */
    int ANY = 0;

    int NO_EXIST = 1;
    int EXIST = 2;

    MapSpec spec();

    /** The map's memory, and behind it, of the same size, its shadow's: held so that they live as long as the map. */
    MemorySegment memory();

    private MemorySegment shadow() {
        long bytes = memory().byteSize() / 2;
        return memory().asSlice(bytes, bytes);
    }

    /** Makes the shadow what a new map is. Before programs run on it. */
    default void resetShadow() {
        shadow().fill((byte) 0);
    }

    /** Gives back the room that the shadow takes. No program may run on it until it is reset. */
    default void discardShadow() {
        Pages.discard(shadow());
    }

    /**
     * {@code bpf_map_lookup_elem}: the address of the value.
     *
     * @return 0 if there is none
     */
    long lookup(long key, long shadow, long scratch);

    /**
     * Updates an entry, as {@code bpf_map_update_elem} does.
     *
     * @return 0, or a negative errno
     */
    long update(long key, long value, long flags, long shadow, long scratch);

    /**
     * Deletes an entry, as {@code bpf_map_delete_elem} does.
     *
     * @return 0, or a negative errno
     */
    long delete(long key, long shadow, long scratch);
}
