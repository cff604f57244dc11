package trigon.transport;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Gives objects the opaque {@code long} handles that NCCL keeps for us, and finds them again.
 *
 * <p>A handle is a slot number and the slot's generation, which changes with every use, so that a stale handle finds
 * nothing instead of another object. Layout, from the top: 1 bit 0, 15 bits generation (never 0), 16 bits slot, 32 bits
 * free for the caller (see {@link RequestHandle}). {@link #find} is for the data path: one array read, no lock. Adding
 * and removing lock, and may run on any thread.
 *
 * @param <T> the type of the objects
 */
final class HandleTable<T> {

    private static final int GENERATION_SHIFT = 48;
    private static final int SLOT_SHIFT = 32;
    static final int MAX_SLOTS = 1 << 16;
    private static final int MAX_GENERATION = (1 << 15) - 1;

    private record Entry<T>(int generation, T object) {}

    private final String what;
    // replaced as a whole when it grows, so that readers need no lock
    private volatile @Nullable Entry<T>[] entries = newEntries(16);
    private int[] generations = new int[16];
    private int[] free = new int[16];
    private int freeCount;
    private int used;

    /**
     * An empty table.
     *
     * @param what the objects' name, for errors
     */
    HandleTable(String what) {
        this.what = what;
    }

    /** Adds an object and returns its handle, whose lower 32 bits are 0. */
    synchronized long add(T object) {
        int slot = freeCount > 0 ? free[--freeCount] : newSlot();
        int generation = generations[slot] % MAX_GENERATION + 1;
        generations[slot] = generation;
        entries[slot] = new Entry<>(generation, object);
        return handle(generation, slot);
    }

    /** The object of a handle, its lower 32 bits ignored; null if the handle is stale or was never given out. */
    @Nullable
    T find(long handle) {
        int slot = slot(handle);
        @Nullable Entry<T>[] current = entries;
        if (slot >= current.length) {
            return null;
        }
        Entry<T> entry = current[slot];
        return entry != null && entry.generation == handle >>> GENERATION_SHIFT ? entry.object : null;
    }

    /** Removes and returns the object of a handle; null if the handle is stale. */
    synchronized @Nullable T remove(long handle) {
        T object = find(handle);
        if (object == null) {
            return null;
        }
        int slot = slot(handle);
        entries[slot] = null;
        free[freeCount++] = slot;
        return object;
    }

    /** The handles of all objects that are in the table now. */
    synchronized List<Long> handles() {
        List<Long> result = new ArrayList<>();
        for (int slot = 0; slot < entries.length; slot++) {
            Entry<T> entry = entries[slot];
            if (entry != null) {
                result.add(handle(entry.generation, slot));
            }
        }
        return result;
    }

    /** The slot that a handle names; stale or not. */
    static int slot(long handle) {
        return (int) (handle >>> SLOT_SHIFT) & (MAX_SLOTS - 1);
    }

    private int newSlot() {
        if (used == entries.length) {
            if (used == MAX_SLOTS) {
                throw new IllegalStateException(MAX_SLOTS + " " + what + "s are open; close some before opening more");
            }
            int length = Math.min(used * 2, MAX_SLOTS);
            generations = Arrays.copyOf(generations, length);
            free = Arrays.copyOf(free, length);
            entries = Arrays.copyOf(entries, length);
        }
        return used++;
    }

    private static long handle(int generation, int slot) {
        return (long) generation << GENERATION_SHIFT | (long) slot << SLOT_SHIFT;
    }

    @SuppressWarnings({"unchecked", "rawtypes"}) // arrays know no type parameters
    private static <T> @Nullable Entry<T>[] newEntries(int length) {
        return new Entry[length];
    }
}
