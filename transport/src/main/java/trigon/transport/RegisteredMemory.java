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
    private final MemoryRegion region;
    private final Link[] links;
    private final MemoryRegion[] regions;

    private RegisteredMemory(Link[] links, MemoryRegion[] regions) {
        this.link = links[0];
        this.region = regions[0];
        this.links = links;
        this.regions = regions;
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

    /** The registration with that. */
    MemoryRegion region() {
        return region;
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
    boolean covers(long address, long size) {
        return address >= region.address() && size <= region.length() - (address - region.address());
    }

    void close() {
        Arrays.stream(regions).distinct().forEach(MemoryRegion::close);
    }
}
