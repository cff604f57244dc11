package trigon.onesided.peer;

/**
 * The requests of a group that NCCL has and has not been told to be finished. A request is a slot and a generation, so
 * that a stale one is found out.
 *
 * <p>Data path, one thread; allocates nothing.
 */
public final class RequestPool {

    /** It is not finished. */
    public static final int NOT_DONE = 0;

    /** It is, and is gone now. */
    public static final int DONE = 1;

    /** There is no such request. */
    public static final int STALE = 2;

    private static final int SLOT_BITS = 16;
    private static final int SLOTS = 1 << 14;
    private static final int FREE = 0;
    private static final int PENDING = 1;
    private static final int FINISHED = 2;

    private final byte[] states = new byte[SLOTS];
    private final int[] generations = new int[SLOTS];
    private final int[] free = new int[SLOTS];
    private int freeCount = SLOTS;

    /** A pool whose slots are all free. */
    public RequestPool() {
        for (int i = 0; i < SLOTS; i++) {
            free[i] = SLOTS - 1 - i;
        }
    }

    /** A new one that is not finished; 0: there are too many. */
    public long begin() {
        if (freeCount == 0) {
            return 0;
        }
        int slot = free[--freeCount];
        states[slot] = PENDING;
        return ((long) generations[slot] << SLOT_BITS) | (slot + 1);
    }

    /** It is finished; a stale one is ignored. */
    public void finish(long request) {
        int slot = find(request);
        if (slot >= 0) {
            states[slot] = FINISHED;
        }
    }

    /** Asks for it, as NCCL does. */
    public int test(long request) {
        int slot = find(request);
        if (slot < 0) {
            return STALE;
        }
        if (states[slot] != FINISHED) {
            return NOT_DONE;
        }
        states[slot] = FREE;
        generations[slot] = (generations[slot] + 1) & Integer.MAX_VALUE;
        free[freeCount++] = slot;
        return DONE;
    }

    private int find(long request) {
        int slot = (int) (request & ((1 << SLOT_BITS) - 1)) - 1;
        boolean found =
                slot >= 0 && slot < SLOTS && states[slot] != FREE && generations[slot] == (int) (request >>> SLOT_BITS);
        return found ? slot : -1;
    }
}
