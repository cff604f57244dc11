package trigon.onesided.peer;

/**
 * The messages of payload of one direction, in their order: each is prepared, handed to the transport, gone, and over.
 * A ring of numbers; its group's thread's.
 */
final class Pieces {

    private static final int MASK = RankConnection.MAX_MESSAGES - 1;

    final long[] addresses = new long[MASK + 1];
    final long[] targets = new long[MASK + 1];
    final long[] handles = new long[MASK + 1];
    final long[] records = new long[MASK + 1];
    final long[] requests = new long[MASK + 1];
    final long[] marks = new long[MASK + 1];
    final int[] sizes = new int[MASK + 1];
    final boolean[] staged = new boolean[MASK + 1];

    /** Numbers so far: prepared at least as many as posted, posted as many as moved, and so on. */
    long prepared;

    long posted;
    long moved;
    long over;

    boolean isFull() {
        return prepared - over > MASK;
    }

    static int slot(long number) {
        return (int) number & MASK;
    }

    /** One more is prepared. */
    void add(long record, long address, long target, int size, long handle, boolean isStaged) {
        int slot = slot(prepared);
        records[slot] = record;
        addresses[slot] = address;
        targets[slot] = target;
        sizes[slot] = size;
        handles[slot] = handle;
        staged[slot] = isStaged;
        marks[slot] = 0;
        prepared++;
    }
}
