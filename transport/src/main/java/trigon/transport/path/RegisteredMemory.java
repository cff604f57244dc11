package trigon.transport.path;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import trigon.transport.Unwinding;
import trigon.transport.request.MemoryTable;
import trigon.verbs.AccessFlag;
import trigon.verbs.DmaBuf;
import trigon.verbs.MemoryRegion;
import trigon.verbs.ProtectionDomain;

/**
 * Memory that NCCL registered for a session: with the link of each of its paths. It changes with the session's paths,
 * while no data-path call of the session is made.
 */
public final class RegisteredMemory {

    /** Registration with a device. */
    private interface Registration {

        MemoryRegion with(ProtectionDomain domain);
    }

    /** A registration with the device of a link. */
    private record Registered(Link link, MemoryRegion region) {

        /** Its session has left a link that hangs, and nothing of the peer's comes there any more. */
        void close() {
            if (link.isHanging()) {
                var _ = link.begin(region::close);
            } else {
                region.close();
            }
        }
    }

    private final Registration registration;
    private final boolean ofGpu;
    private final @Nullable DmaBuf dmaBuf;
    private Link link;
    private final Link[] links;

    // of the first path's registration, here to spare the data path a cache line
    private final long address;
    private final long length;
    private int localKey;
    private int remoteKey;

    private final MemoryRegion[] regions;

    /** With links that the session has left, too: it may come back. */
    private final Map<ProtectionDomain, Registered> byDomain = new HashMap<>();

    private boolean closed;

    /** The table in which the entry library finds it; null: in none. */
    private @Nullable MemoryTable shownIn;

    private long handle;

    private RegisteredMemory(
            Link[] links, MemoryRegion[] regions, Registration registration, boolean ofGpu, @Nullable DmaBuf dmaBuf) {
        this.registration = registration;
        this.ofGpu = ofGpu;
        this.dmaBuf = dmaBuf;
        this.link = links[0];
        this.links = links;
        this.regions = regions;
        for (int path = 0; path < links.length; path++) {
            byDomain.putIfAbsent(links[path].protectionDomain(), new Registered(links[path], regions[path]));
        }
        address = regions[0].address();
        length = regions[0].length();
        localKey = regions[0].localKey();
        remoteKey = regions[0].remoteKey();
    }

    /**
     * Registers memory of the host.
     *
     * @param links the session's, by path; the session's own array
     * @throws trigon.verbs.VerbsException if a device refuses; it is registered with none then
     */
    public static RegisteredMemory with(Link[] links, long address, long size, Set<AccessFlag> access) {
        Registration registration = domain -> domain.registerMemory(address, size, access);
        return new RegisteredMemory(links, regions(links, registration), registration, false, null);
    }

    /**
     * The same for memory of a GPU.
     *
     * @param dmaBuf by what it is lent, which is closed with this; null: by its address
     */
    public static RegisteredMemory ofGpu(
            Link[] links, long address, long size, @Nullable DmaBuf dmaBuf, Set<AccessFlag> access) {
        Registration registration = domain -> domain.registerDeviceMemory(address, size, dmaBuf, access);
        return new RegisteredMemory(links, regions(links, registration), registration, true, dmaBuf);
    }

    private static MemoryRegion[] regions(Link[] links, Registration registration) {
        List<MemoryRegion> regions = new ArrayList<>();
        try (Unwinding unwinding = new Unwinding()) {
            for (int path = 0; path < links.length; path++) {
                int known = firstOfSameDevice(links, path);
                if (known < path) {
                    regions.add(regions.get(known));
                } else {
                    MemoryRegion region = registration.with(links[path].protectionDomain());
                    unwinding.onFailure(region::close);
                    regions.add(region);
                }
            }
            unwinding.succeeded();
        }
        return regions.toArray(MemoryRegion[]::new);
    }

    private static int firstOfSameDevice(Link[] links, int path) {
        int first = 0;
        while (!links[first].protectionDomain().equals(links[path].protectionDomain())) {
            first++;
        }
        return first;
    }

    /**
     * Shows it to the entry library from now on, by its handle. Once, before anybody has the handle.
     *
     * @param session the handle of the session that it is registered for
     */
    public synchronized void showIn(MemoryTable table, long itsHandle, long session) {
        table.add(itsHandle, session, regions[0], ofGpu);
        handle = itsHandle;
        shownIn = table;
    }

    /** Its handle; 0 before it has one. */
    public long handle() {
        return handle;
    }

    /** The local key with the first path's device. */
    public int localKey() {
        return localKey;
    }

    /** The remote key with the same. */
    public int remoteKey() {
        return remoteKey;
    }

    /** Tells whether it can be used on the paths of the session that has this array of links. */
    @SuppressWarnings("ReferenceEquality") // the array stands for its session; and cheaper on the data path
    public boolean isOf(Link[] ofSession) {
        return links == ofSession || (ofSession.length == 1 && link == ofSession[0]);
    }

    /** The registration with a path's device. */
    public MemoryRegion region(int path) {
        return regions[path];
    }

    /** Tells whether it is a GPU's, which the CPU may not touch. */
    public boolean isOfGpu() {
        return ofGpu;
    }

    /** The registration with a domain; null: there is none, since no path of the session was on it since. */
    public @Nullable MemoryRegion region(ProtectionDomain domain) {
        Registered known = byDomain.get(domain);
        return known == null ? null : known.region;
    }

    public boolean covers(long from, long size) {
        return from >= address && size <= length - (from - address);
    }

    /**
     * The session goes on over other links, by path.
     *
     * @throws trigon.verbs.VerbsException if a device refuses; what it can be used with has not changed then
     */
    public synchronized void moveTo(List<Link> next) {
        if (closed) {
            return;
        }
        for (Link each : next) {
            ProtectionDomain domain = each.protectionDomain();
            if (!byDomain.containsKey(domain)) {
                byDomain.put(domain, new Registered(each, registration.with(domain)));
            }
        }
        for (int path = 0; path < regions.length; path++) {
            regions[path] = Objects.requireNonNull(region(next.get(path).protectionDomain()));
        }
        localKey = regions[0].localKey();
        remoteKey = regions[0].remoteKey();
        link = next.getFirst();
        if (shownIn != null) {
            shownIn.setKeys(handle, localKey, remoteKey);
        }
    }

    public synchronized void close() {
        closed = true;
        if (shownIn != null) {
            shownIn.remove(handle);
            shownIn = null;
        }
        byDomain.values().forEach(Registered::close);
        byDomain.clear();
        if (dmaBuf != null) {
            dmaBuf.close();
        }
    }
}
