package trigon.verbs.ffm.struct;

import java.lang.foreign.Arena;
import trigon.system.Memory;

/**
 * Lists of {@code struct ibv_recv_wr} without a buffer and with identifier 0, as {@code ibv_post_recv(3)} takes them in
 * one call. They are only read, so all queue pairs share them. Immutable; allocates nothing after its class is
 * initialized.
 */
public final class EmptyReceives {

    /** Length of the longest list. */
    public static final int MAX = 16;

    private static final int CACHE_LINE = 64;
    private static final long FIRST = makeList();

    private EmptyReceives() {}

    private static long makeList() {
        long first = Arena.global()
                .allocate((long) MAX * WorkRequestLayout.RECEIVE_SIZE, CACHE_LINE)
                .fill((byte) 0)
                .address();
        for (int i = 0; i < MAX - 1; i++) {
            long request = first + (long) i * WorkRequestLayout.RECEIVE_SIZE;
            Memory.putLong(request + WorkRequestLayout.RECEIVE_NEXT, request + WorkRequestLayout.RECEIVE_SIZE);
        }
        return first;
    }

    /** Address of a list of that length, 1 to {@link #MAX}: the end of the longest. */
    public static long list(int length) {
        return FIRST + (long) (MAX - length) * WorkRequestLayout.RECEIVE_SIZE;
    }
}
