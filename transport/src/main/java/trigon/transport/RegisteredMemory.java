package trigon.transport;

import trigon.verbs.MemoryRegion;

/**
 * Memory that NCCL registered for a comm.
 *
 * @param link the link whose device knows it
 * @param region the registration
 */
record RegisteredMemory(Link link, MemoryRegion region) {

    /** Whether a buffer lies within it. */
    boolean covers(long address, long size) {
        return address >= region.address() && size <= region.length() - (address - region.address());
    }

    void close() {
        region.close();
    }
}
