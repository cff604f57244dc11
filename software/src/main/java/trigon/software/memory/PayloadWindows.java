package trigon.software.memory;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import trigon.system.Memory;

/**
 * Registered memory as buffers for socket writes. Those used last are kept, so that sending from the same few regions
 * allocates nothing. One per stream.
 */
public final class PayloadWindows {

    /** A buffer is addressed by ints, so long regions are covered by several, which overlap by the longest chunk. */
    private static final long WINDOW = 1L << 30;

    /** Most bytes of a part. */
    public static final int MAX_BYTES = 1 << 20;

    private static final int KEPT = 8;

    private final @Nullable SoftwareMemoryRegion[] regions = new SoftwareMemoryRegion[KEPT];
    private final long[] indexes = new long[KEPT];
    private final @Nullable ByteBuffer[] buffers = new ByteBuffer[KEPT];
    private int oldest;

    /**
     * A part of a region, valid until the next call.
     *
     * @param bytes at most {@link #MAX_BYTES}
     */
    public ByteBuffer of(SoftwareMemoryRegion region, long start, int bytes) {
        long offset = start - region.address();
        int position = (int) (offset % WINDOW);
        return covering(region, offset / WINDOW).limit(position + bytes).position(position);
    }

    private ByteBuffer covering(SoftwareMemoryRegion region, long index) {
        for (int i = 0; i < KEPT; i++) {
            ByteBuffer kept = buffers[i];
            if (kept != null && regions[i] == region && indexes[i] == index) {
                return kept;
            }
        }
        long first = index * WINDOW;
        long size = Math.min(region.length() - first, WINDOW + MAX_BYTES);
        ByteBuffer made = Memory.segment(region.address() + first, size).asByteBuffer();
        regions[oldest] = region;
        indexes[oldest] = index;
        buffers[oldest] = made;
        oldest = (oldest + 1) % KEPT;
        return made;
    }
}
