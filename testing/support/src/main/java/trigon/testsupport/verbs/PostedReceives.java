package trigon.testsupport.verbs;

/** Posted receives, used in turn. */
final class PostedReceives {

    private static final int ROOM = 256;

    final long[] ids = new long[ROOM];
    final long[] addresses = new long[ROOM];
    final int[] lengths = new int[ROOM];
    final int[] keys = new int[ROOM];
    private int first;
    private int count;

    boolean isFull() {
        return count == ROOM;
    }

    void add(long id, long address, int length, int key) {
        int at = (first + count++) % ROOM;
        ids[at] = id;
        addresses[at] = address;
        lengths[at] = length;
        keys[at] = key;
    }

    /** The oldest, which is taken; -1 if there is none. */
    int take() {
        if (count == 0) {
            return -1;
        }
        int taken = first;
        first = (first + 1) % ROOM;
        count--;
        return taken;
    }
}
