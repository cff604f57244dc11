package trigon.software.requester;

import org.jspecify.annotations.Nullable;
import trigon.software.memory.OrderedCopy;
import trigon.software.memory.SoftwareMemoryRegion;

/**
 * Where the data of the READ that is being answered goes. One per requester; used under the queue
 * pair's lock.
 */
final class ReadTarget {

    private final OrderedCopy copy = new OrderedCopy();
    private @Nullable SoftwareMemoryRegion region;
    private long offset;

    /** Whether the next data is the first of a READ. */
    boolean isAtStart() {
        return offset == 0;
    }

    /** Bytes that have arrived of the READ. */
    long offset() {
        return offset;
    }

    void start(SoftwareMemoryRegion target, long address, long length) {
        region = target;
        copy.start(address, length);
    }

    /** Takes the next data; false if the region has been closed, and nothing was written. */
    boolean accept(long at, int bytes) {
        if (region == null || !region.isOpen()) {
            return false;
        }
        copy.accept(at, bytes);
        offset += bytes;
        return true;
    }

    /** The READ is over, or given up. */
    void clear() {
        region = null;
        offset = 0;
    }
}
