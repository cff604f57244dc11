package trigon.transport.path;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.handshake.message.LinkAddress;
import trigon.handshake.message.ListenHandle;
import trigon.routing.LinkUse;
import trigon.routing.LocalLink;
import trigon.routing.SharedSubnets;
import trigon.transport.Unwinding;
import trigon.transport.metrics.Metrics;
import trigon.verbs.LinkKind;
import trigon.verbs.PortAttributes;
import trigon.verbs.PortState;
import trigon.verbs.VerbsException;
import trigon.verbs.VerbsProvider;

/**
 * This node's links, their devices open. More may come, and none goes; one whose device has failed is replaced by one
 * with the device opened anew. Thread-safe; closed after the last path.
 */
public final class Links implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Links.class);

    private final Map<String, OpenDevice> devices = new HashMap<>();

    /** Paths that are closed later still use them, though they do nothing any more. */
    private final List<OpenDevice> failedDevices = new ArrayList<>();

    private final List<ClearToSendMemory> memories = new ArrayList<>();
    private final List<Link> links = new CopyOnWriteArrayList<>();
    private final Map<LinkKind, VerbsProvider> providers;
    private final int pageBytes;
    private final Metrics metrics;
    private boolean closed;

    private Links(Map<LinkKind, VerbsProvider> providers, int pageBytes, Metrics metrics) {
        this.providers = providers;
        this.pageBytes = pageBytes;
        this.metrics = metrics;
    }

    /**
     * Opens the devices of all links.
     *
     * @param pageBytes size of the kernel's pages
     * @param metrics gets a row for each link
     * @throws trigon.verbs.VerbsException if one cannot be opened; none is left open then
     */
    public static Links open(
            List<LocalLink> local, Map<LinkKind, VerbsProvider> providers, int pageBytes, Metrics metrics) {
        Links opened = new Links(providers, pageBytes, metrics);
        try (Unwinding unwinding = new Unwinding()) {
            unwinding.onFailure(opened::close);
            local.forEach(opened::add);
            unwinding.succeeded();
        }
        return opened;
    }

    /**
     * Opens the device of one more.
     *
     * @throws trigon.verbs.VerbsException if it cannot be opened; the link is not there then
     * @throws IllegalStateException after the end
     */
    public final synchronized void add(LocalLink link) {
        if (closed) {
            throw new IllegalStateException("the links are closed");
        }
        OpenDevice device = device(link);
        links.add(new Link(
                link,
                device,
                device.context().queryPort(link.port()),
                newMemory(),
                metrics.link(link.name(), link.kind().name(), link.speedMbps())));
    }

    /**
     * Opens the devices of links anew that have failed as a whole, where they are there again.
     *
     * @return the links that work again
     */
    public final synchronized List<Link> reopenFailed() {
        List<Link> reopened = new ArrayList<>();
        for (int index = 0; index < links.size() && !closed; index++) {
            Link failed = links.get(index);
            if (failed.hasDeviceFailed()) {
                try {
                    Link again = reopen(failed);
                    links.set(index, again);
                    reopened.add(again);
                } catch (VerbsException e) {
                    log.debug("{}: its device is not there again: {}", failed, e.getMessage());
                }
            }
        }
        return reopened;
    }

    private Link reopen(Link failed) {
        LocalLink local = failed.local();
        String key = key(local);
        OpenDevice known = devices.get(key);
        if (known != null && known.context().equals(failed.device())) {
            failedDevices.add(known);
            devices.remove(key);
        }
        OpenDevice device = device(local);
        PortAttributes port = device.context().queryPort(local.port());
        Link again = new Link(local, device, port, newMemory(), failed.counters());
        again.setInterfaceUp(failed.isInterfaceUp());
        again.setPortUp(port.state() == PortState.ACTIVE);
        return again;
    }

    private ClearToSendMemory newMemory() {
        ClearToSendMemory memory = new ClearToSendMemory(pageBytes);
        memories.add(memory);
        return memory;
    }

    private static String key(LocalLink link) {
        return link.kind() + " " + link.deviceName();
    }

    private OpenDevice device(LocalLink link) {
        VerbsProvider provider = Objects.requireNonNull(providers.get(link.kind()));
        return devices.computeIfAbsent(key(link), _ -> new OpenDevice(provider, link));
    }

    /** All of them, in the order they were given in; a view. */
    public List<Link> all() {
        return links;
    }

    /** Their addresses, each once, in the same order; link-local ones with their interfaces. */
    public Set<InetAddress> addresses() {
        Set<InetAddress> addresses = new LinkedHashSet<>();
        links.forEach(link -> addresses.add(link.local().bindAddress()));
        return addresses;
    }

    /**
     * Returns what peers are told of the addresses, the most useful first: a listen handle may not have room for all.
     * Warns if it leaves out more than link-local addresses that are there for peers alone.
     *
     * @param port the port that is listened on at an address
     */
    public List<LinkAddress> advertised(ToIntFunction<InetAddress> port) {
        List<InetAddress> ordered = addresses().stream()
                .sorted(Comparator.comparing(this::usefulness))
                .toList();
        List<LinkAddress> advertised = ordered.stream()
                .map(address -> advertised(address, port.applyAsInt(address)))
                .toList();
        long missing = ordered.stream()
                .skip(ListenHandle.fitting(advertised).size())
                .filter(address -> usefulness(address) != Usefulness.FOR_PEERS)
                .count();
        if (missing > 0) {
            log.warn(
                    "peers are not told of the last {} of {} addresses, which do not fit NCCL's handle: name the"
                            + " NICs to use in a cluster file (TRIGON_CONFIG)",
                    missing,
                    advertised.size());
        }
        return advertised;
    }

    /** The order in which addresses are told. */
    private enum Usefulness {
        USUAL,
        /** Link-local, and the only one that distinguishes its cable. */
        LINK_LOCAL,
        /** Link-local, for peers with several interfaces in one subnet. */
        FOR_PEERS,
        /** It may go soon. */
        DEPRECATED
    }

    private Usefulness usefulness(InetAddress address) {
        List<LocalLink> all = links.stream().map(Link::local).toList();
        LocalLink link = all.stream()
                .filter(each -> each.address().address().equals(address))
                .findFirst()
                .orElseThrow();
        if (link.isLinkLocal()) {
            return SharedSubnets.isNeeded(link, all) ? Usefulness.LINK_LOCAL : Usefulness.FOR_PEERS;
        }
        return link.use() == LinkUse.DEPRECATED ? Usefulness.DEPRECATED : Usefulness.USUAL;
    }

    private LinkAddress advertised(InetAddress address, int port) {
        List<Link> there = links.stream()
                .filter(link -> link.local().address().address().equals(address))
                .toList();
        int prefixLength = there.getFirst().local().address().prefixLength();
        return new LinkAddress(
                address,
                prefixLength,
                port,
                there.stream().map(link -> link.local().kind()).collect(Collectors.toSet()),
                there.stream()
                        .mapToInt(link -> link.local().bandwidth().step())
                        .max()
                        .orElse(LinkAddress.NOT_TOLD));
    }

    /** The open link of one that routing chose. */
    public Link of(LocalLink local) {
        for (Link link : links) {
            if (link.local().equals(local)) {
                return link;
            }
        }
        throw new IllegalArgumentException(local + " is not one of this node's links");
    }

    @Override
    public synchronized void close() {
        closed = true;
        failedDevices.addAll(devices.values());
        devices.clear();
        failedDevices.forEach(OpenDevice::close);
        failedDevices.clear();
        memories.forEach(ClearToSendMemory::close);
        links.clear();
    }
}
