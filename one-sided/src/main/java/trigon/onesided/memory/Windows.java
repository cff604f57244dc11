package trigon.onesided.memory;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The windows of a group by their numbers, which count up from 1 at every rank alike. The control path adds and
 * removes, the data path finds.
 */
public final class Windows {

    private volatile @Nullable Window[] all = new Window[8];
    private int last;

    /** The number of the next window. */
    public synchronized int nextId() {
        return last + 1;
    }

    /** Adds the window of that number; numbers of refused ones stay free. */
    public synchronized void add(Window window) {
        @Nullable Window[] next = Arrays.copyOf(all, Math.max(all.length, Integer.highestOneBit(window.id()) * 2));
        next[window.id()] = window;
        all = next;
    }

    /** A number is used, whatever becomes of its window. */
    public synchronized void use(int id) {
        last = id;
    }

    /** The window of a number; null if there is none any more. */
    public @Nullable Window find(long id) {
        @Nullable Window[] known = all;
        return id > 0 && id < known.length ? known[(int) id] : null;
    }

    /** The data path finds it no more; null if no window has that number. Its number is not used again. */
    public synchronized @Nullable Window remove(long id) {
        Window removed = find(id);
        if (removed != null) {
            @Nullable Window[] next = all.clone();
            next[removed.id()] = null;
            all = next;
        }
        return removed;
    }

    /** A copy, in the order of their numbers. */
    public synchronized Window[] list() {
        return Arrays.stream(all).filter(each -> each != null).toArray(Window[]::new);
    }
}
