package trigon.transport;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import trigon.verbs.AccessFlag;
import trigon.verbs.MemoryRegion;

/** Memory that NCCL registered for a comm: with the comm's link, or with that of each of its stripes. */
final class RegisteredMemory {

    private final Link link;
    private final Link[] links;

    // of the first stripe's registration, here to spare the data path a cache line
    private final long address;
    private final long length;
    private final int localKey;
    private final int remoteKey;

    private final MemoryRegion[] regions;

    private RegisteredMemory(Link[] links, MemoryRegion[] regions) {
        this.link = links[0];
        this.links = links;
        this.regions = regions;
        address = regions[0].address();
        length = regions[0].length();
        localKey = regions[0].localKey();
        remoteKey = regions[0].remoteKey();
    }

    /**
     * Registers memory.
     *
     * @param links the comm's, by stripe; the comm's own array
     * @throws trigon.verbs.VerbsException if a device refuses; it is registered with none then
     */
    static RegisteredMemory with(Link[] links, long address, long size, Set<AccessFlag> access) {
        List<MemoryRegion> regions = new ArrayList<>();
        try (Unwinding unwinding = new Unwinding()) {
            for (int stripe = 0; stripe < links.length; stripe++) {
                int known = firstOfSameDevice(links, stripe);
                if (known < stripe) {
                    regions.add(regions.get(known));
                } else {
                    MemoryRegion region = links[stripe].protectionDomain().registerMemory(address, size, access);
                    unwinding.onFailure(region::close);
                    regions.add(region);
                }
            }
            unwinding.succeeded();
        }
        return new RegisteredMemory(links, regions.toArray(MemoryRegion[]::new));
    }

    private static int firstOfSameDevice(Link[] links, int stripe) {
        int first = 0;
        while (!links[first].protectionDomain().equals(links[stripe].protectionDomain())) {
            first++;
        }
        return first;
    }

    /** The link whose device knows it; with several stripes, the first one's. */
    Link link() {
        return link;
    }

    /** The local key with that. */
    int localKey() {
        return localKey;
    }

    /** The remote key with that. */
    int remoteKey() {
        return remoteKey;
    }

    /** Whether it was registered for the comm that has this array. */
    @SuppressWarnings("ReferenceEquality") // the array stands for its comm; and cheaper on the data path
    boolean isOf(Link[] comms) {
        return links == comms;
    }

    /** The registration with a stripe's device. */
    MemoryRegion region(int stripe) {
        return regions[stripe];
    }

    /** Whether a buffer lies within it. */
    boolean covers(long from, long size) {
        return from >= address && size <= length - (from - address);
    }

    void close() {
        Arrays.stream(regions).distinct().forEach(MemoryRegion::close);
    }
}
