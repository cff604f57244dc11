package trigon.transport.handle;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Gives objects the opaque {@code long} handles that NCCL keeps for us, and finds them again.
 *
 * <p>A handle is a slot number and the slot's generation, which changes with every use, so that a stale handle finds
 * nothing instead of another object. Layout, from the top: 1 bit 0, 15 bits generation (never 0), 16 bits slot, 32 bits
 * free for the caller (see {@link RequestHandle}). {@link #find} is for the data path: two array reads, no lock, and
 * nothing between the table and the object that would be one more cache line for each. Adding and removing lock, and
 * may run on any thread.
 *
 * @param <T> the type of the objects
 */
public final class HandleTable<T> {

    private static final int GENERATION_SHIFT = 48;
    private static final int SLOT_SHIFT = 32;

    /** Objects that a table can hold. */
    public static final int MAX_SLOTS = 1 << 16;

    private static final int MAX_GENERATION = (1 << 15) - 1;

    private static final VarHandle OBJECT = MethodHandles.arrayElementVarHandle(Object[].class);

    private final String what;
    // Replaced as wholes when they grow. A slot's generation is written before its object, and read after it: who
    // sees an object sees its generation, or a later one, which fits no handle of that object.
    private volatile @Nullable Object[] objects = new Object[16];
    private volatile int[] generations = new int[16];
    private int[] free = new int[16];
    private int freeCount;
    private int used;

    /**
     * An empty table.
     *
     * @param what the objects' name, for errors
     */
    public HandleTable(String what) {
        this.what = what;
    }

    /** Adds an object and returns its handle, whose lower 32 bits are 0. */
    public long add(T object) {
        return add(_ -> object);
    }

    /**
     * The same for an object that has to know its handle.
     *
     * @param make makes it, before anybody can find it; where it throws, nothing is added
     */
    public synchronized long add(LongFunction<T> make) {
        int slot = freeCount > 0 ? free[--freeCount] : newSlot();
        int generation = generations[slot] % MAX_GENERATION + 1;
        generations[slot] = generation;
        long handle = handle(generation, slot);
        @Nullable T made = null;
        try {
            made = make.apply(handle);
        } finally {
            if (made == null) {
                free[freeCount++] = slot;
            }
        }
        OBJECT.setRelease(objects, slot, made);
        return handle;
    }

    /** The object of a handle, its lower 32 bits ignored; null if the handle is stale or was never given out. */
    @Nullable
    @SuppressWarnings("unchecked") // only add writes there
    public T find(long handle) {
        int slot = slot(handle);
        @Nullable Object[] current = objects;
        if (slot >= current.length) {
            return null;
        }
        Object object = OBJECT.getAcquire(current, slot);
        return object != null && generations[slot] == handle >>> GENERATION_SHIFT ? (T) object : null;
    }

    /** Removes and returns the object of a handle; null if the handle is stale. */
    @Nullable
    public T remove(long handle) {
        return remove(handle, _ -> {});
    }

    /**
     * The same.
     *
     * @param beforeReuse called with the object, if there is one, before another object may have its slot
     */
    @Nullable
    public T remove(long handle, Consumer<T> beforeReuse) {
        T object = takeOut(handle);
        if (object != null) {
            try {
                beforeReuse.accept(object);
            } finally {
                free(slot(handle));
            }
        }
        return object;
    }

    private synchronized @Nullable T takeOut(long handle) {
        T object = find(handle);
        if (object != null) {
            OBJECT.setRelease(objects, slot(handle), null);
        }
        return object;
    }

    private synchronized void free(int slot) {
        free[freeCount++] = slot;
    }

    /** The handles of all objects that are in the table now. */
    public synchronized List<Long> handles() {
        List<Long> result = new ArrayList<>();
        for (int slot = 0; slot < objects.length; slot++) {
            if (objects[slot] != null) {
                result.add(handle(generations[slot], slot));
            }
        }
        return result;
    }

    /** The slot that a handle names; stale or not. */
    public static int slot(long handle) {
        return (int) (handle >>> SLOT_SHIFT) & (MAX_SLOTS - 1);
    }

    private int newSlot() {
        if (used == objects.length) {
            if (used == MAX_SLOTS) {
                throw new IllegalStateException(MAX_SLOTS + " " + what + "s are open; close some before opening more");
            }
            int length = Math.min(used * 2, MAX_SLOTS);
            free = Arrays.copyOf(free, length);
            generations = Arrays.copyOf(generations, length);
            objects = Arrays.copyOf(objects, length);
        }
        return used++;
    }

    private static long handle(int generation, int slot) {
        return (long) generation << GENERATION_SHIFT | (long) slot << SLOT_SHIFT;
    }
}
