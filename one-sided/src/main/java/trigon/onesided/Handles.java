package trigon.onesided;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Objects by numbers that NCCL takes for pointers: a slot and a generation, so that a stale one is found out. The
 * control path adds and removes, any thread finds.
 */
final class Handles<T> {

    private static final int SLOT_BITS = 16;
    private static final int MAX = (1 << SLOT_BITS) - 2;

    private record Entry<T>(long handle, T object) {}

    private final String what;
    private volatile @Nullable Entry<T>[] entries = none(8);
    private long generations;

    /** None yet; the name is for errors. */
    Handles(String what) {
        this.what = what;
    }

    @SuppressWarnings("unchecked")
    private static <T> @Nullable Entry<T>[] none(int count) {
        return (@Nullable Entry<T>[]) new @Nullable Entry<?>[count];
    }

    synchronized long add(T object) {
        @Nullable Entry<T>[] all = entries;
        int slot = 0;
        while (slot < all.length && all[slot] != null) {
            slot++;
        }
        if (slot > MAX) {
            throw new IllegalStateException("too many are open: " + what);
        }
        @Nullable Entry<T>[] next = Arrays.copyOf(all, slot < all.length ? all.length : 2 * slot);
        generations = (generations + 1) & Integer.MAX_VALUE;
        long handle = (generations << SLOT_BITS) | (slot + 1);
        next[slot] = new Entry<>(handle, object);
        entries = next;
        return handle;
    }

    /** The object; null if the handle is stale. */
    @Nullable
    T find(long handle) {
        int slot = (int) (handle & ((1 << SLOT_BITS) - 1)) - 1;
        @Nullable Entry<T>[] all = entries;
        Entry<T> entry = slot >= 0 && slot < all.length ? all[slot] : null;
        return entry != null && entry.handle() == handle ? entry.object() : null;
    }

    /** The object of a handle that must be one. */
    T require(long handle) {
        T found = find(handle);
        if (found == null) {
            throw new IllegalArgumentException("0x%x is not an open %s".formatted(handle, what));
        }
        return found;
    }

    /** Removes and returns it; null if the handle is stale. */
    synchronized @Nullable T remove(long handle) {
        T found = find(handle);
        if (found != null) {
            @Nullable Entry<T>[] next = entries.clone();
            next[(int) (handle & ((1 << SLOT_BITS) - 1)) - 1] = null;
            entries = next;
        }
        return found;
    }
}
