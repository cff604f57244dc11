package trigon.transport.path;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import trigon.transport.Unwinding;
import trigon.verbs.AccessFlag;
import trigon.verbs.MemoryRegion;
import trigon.verbs.ProtectionDomain;

/**
 * Memory that NCCL registered for a session: with the link of each of its paths. It changes when the session's only
 * path does, while no data-path call of the session is made.
 */
public final class RegisteredMemory {

    private final Set<AccessFlag> access;
    private Link link;
    private final Link[] links;

    // of the first path's registration, here to spare the data path a cache line
    private final long address;
    private final long length;
    private int localKey;
    private int remoteKey;

    private final MemoryRegion[] regions;

    /** With links that the session has left, by the domain: it may come back. */
    private final Map<ProtectionDomain, MemoryRegion> left = new HashMap<>();

    private boolean closed;

    private RegisteredMemory(Link[] links, MemoryRegion[] regions, Set<AccessFlag> access) {
        this.access = access;
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
     * @param links the session's, by path; the session's own array
     * @throws trigon.verbs.VerbsException if a device refuses; it is registered with none then
     */
    public static RegisteredMemory with(Link[] links, long address, long size, Set<AccessFlag> access) {
        List<MemoryRegion> regions = new ArrayList<>();
        try (Unwinding unwinding = new Unwinding()) {
            for (int path = 0; path < links.length; path++) {
                int known = firstOfSameDevice(links, path);
                if (known < path) {
                    regions.add(regions.get(known));
                } else {
                    MemoryRegion region = links[path].protectionDomain().registerMemory(address, size, access);
                    unwinding.onFailure(region::close);
                    regions.add(region);
                }
            }
            unwinding.succeeded();
        }
        return new RegisteredMemory(links, regions.toArray(MemoryRegion[]::new), access);
    }

    private static int firstOfSameDevice(Link[] links, int path) {
        int first = 0;
        while (!links[first].protectionDomain().equals(links[path].protectionDomain())) {
            first++;
        }
        return first;
    }

    /** The local key with the first path's device. */
    public int localKey() {
        return localKey;
    }

    /** The remote key with the same. */
    public int remoteKey() {
        return remoteKey;
    }

    /** Whether it can be used on the paths of the session that has this array of links. */
    @SuppressWarnings("ReferenceEquality") // the array stands for its session; and cheaper on the data path
    public boolean isOf(Link[] ofSession) {
        return links == ofSession || (ofSession.length == 1 && link == ofSession[0]);
    }

    /** The registration with a path's device. */
    public MemoryRegion region(int path) {
        return regions[path];
    }

    /** Whether a buffer lies within it. */
    public boolean covers(long from, long size) {
        return from >= address && size <= length - (from - address);
    }

    /**
     * The session goes on over another link.
     *
     * @throws trigon.verbs.VerbsException if its device refuses; nothing has changed then
     */
    public synchronized void moveTo(Link next) {
        if (closed) {
            return;
        }
        ProtectionDomain domain = next.protectionDomain();
        if (!domain.equals(link.protectionDomain())) {
            MemoryRegion known = left.remove(domain);
            MemoryRegion region = known != null ? known : domain.registerMemory(address, length, access);
            left.put(link.protectionDomain(), regions[0]);
            regions[0] = region;
            localKey = region.localKey();
            remoteKey = region.remoteKey();
        }
        link = next;
    }

    /** Deregisters it. */
    public synchronized void close() {
        closed = true;
        Arrays.stream(regions).distinct().forEach(MemoryRegion::close);
        left.values().forEach(MemoryRegion::close);
        left.clear();
    }
}
