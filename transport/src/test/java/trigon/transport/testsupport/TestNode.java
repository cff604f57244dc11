package trigon.transport.testsupport;

import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import trigon.config.PluginConfig;
import trigon.config.file.ConfigLoader;
import trigon.nccl.ConnectionAdvice;
import trigon.nccl.DeviceProperties;
import trigon.nccl.GpuWrites;
import trigon.nccl.NetPlugin;
import trigon.routing.DiscoveredLinks;
import trigon.routing.LinkSearch;
import trigon.routing.LocalLink;
import trigon.routing.discovery.HostInterfaces;
import trigon.routing.discovery.LinkDiscovery;
import trigon.routing.discovery.RdmaPort;
import trigon.routing.hardware.NicHardware;
import trigon.software.SoftwareDevice;
import trigon.software.device.SoftwareVerbs;
import trigon.system.InterfaceAddress;
import trigon.system.Memory;
import trigon.system.NanoClock;
import trigon.transport.handle.HandleTable;
import trigon.transport.metrics.Metrics;
import trigon.transport.plugin.HostDevices;
import trigon.transport.plugin.HostNetwork;
import trigon.transport.plugin.PluginSetup;
import trigon.transport.plugin.RelayAccess;
import trigon.transport.plugin.RoutedNetPlugin;
import trigon.transport.plugin.Timing;
import trigon.transport.plugin.VisibleState;
import trigon.transport.request.RequestRow;
import trigon.transport.request.RequestTable;
import trigon.verbs.DeviceContext;
import trigon.verbs.Gid;
import trigon.verbs.LinkKind;
import trigon.verbs.VerbsAvailability;
import trigon.verbs.VerbsProvider;
import trigon.verbs.ffm.Libibverbs;

/** One node of a cluster: the whole transport, as the native entry wires it. Closed by the test. */
public final class TestNode implements AutoCloseable {

    public static final int PAGE_BYTES = 4 << 10;
    public static final int RDMA_MBPS = 100_000;

    /** GATE_OPEN of {@code lane/lane.h}. */
    private static final int GATE_OPEN = 1;

    public final RoutedNetPlugin plugin;

    public final long context;
    public final List<LocalLink> links;

    /** What decides for communicators on this node, by their numbers; none: NCCL. */
    public final Map<Long, Integer> policies = new ConcurrentHashMap<>();

    /** Until then nobody is told which. */
    public volatile CountDownLatch policiesLoaded = new CountDownLatch(0);

    private final VerbsProvider verbs;

    /** The same as the plugin uses them. */
    private final VerbsProvider used;

    private final Runnable closeVerbs;
    private final Arena arena = Arena.ofShared();
    private final long rows = tableOfLibrary();
    private final long memories = tableOfLibrary();
    private final Optional<PassingTime> time;
    private final NanoClock clock;
    private final AtomicReference<Runnable> nextLook = new AtomicReference<>(() -> {});
    private long communicators = 1;

    /** The node of that name in a cluster file. */
    TestNode(TestCluster cluster, String name) {
        this(cluster, name, UnaryOperator.identity());
    }

    /**
     * The same with other devices.
     *
     * @param around makes of the cluster's kind of devices those that the transport sees
     */
    public TestNode(TestCluster cluster, String name, UnaryOperator<VerbsProvider> around) {
        time = cluster.time();
        clock = time.map(PassingTime::ofNode).orElse(NanoClock.SYSTEM);
        PluginConfig config = ConfigLoader.load(
                Map.of("TRIGON_CONFIG", cluster.file().toString(), "TRIGON_NODE", name), "host-of-" + name);
        HostInterfaces interfaces = HostInterfaces.snapshot();
        DiscoveredLinks discovered;
        if (cluster.kind() == LinkKind.RDMA) {
            verbs = around.apply(libibverbs());
            closeVerbs = () -> {};
            discovered = LinkDiscovery.discover(config, ports(verbs), interfaces);
        } else {
            discovered = LinkDiscovery.discover(config, List.of(), interfaces);
            List<SoftwareDevice> devices =
                    discovered.links().stream().map(TestNode::device).toList();
            SoftwareVerbs software = cluster.movers()
                    .map(movers -> new SoftwareVerbs(devices, movers))
                    .orElseGet(() -> new SoftwareVerbs(devices));
            verbs = around.apply(software);
            closeVerbs = software::close;
        }
        used = verbs;
        links = discovered.links();
        plugin = open(config, discovered, devices(cluster.kind()), name, PAGE_BYTES);
        context = plugin.openContext(1, NetPlugin.TRAFFIC_CLASS_UNDEFINED);
    }

    /**
     * A node whose links are RDMA links, with software devices behind them that are called as the links say.
     *
     * @param environment its settings
     * @param portMbps what the devices say that their ports carry
     * @param pageBytes size of the kernel's pages, as far as the transport knows
     */
    public TestNode(String name, List<LocalLink> links, Map<String, String> environment, int portMbps, int pageBytes) {
        this(name, links, environment, portMbps, pageBytes, UnaryOperator.identity());
    }

    /** A node on a machine with that hardware. */
    public TestNode(String name, List<LocalLink> links, Map<String, String> environment, NicHardware hardware) {
        time = Optional.empty();
        clock = NanoClock.SYSTEM;
        SoftwareVerbs software = software(links, RDMA_MBPS);
        verbs = software;
        used = LaneVerbs.around(verbs);
        closeVerbs = software::close;
        this.links = links;
        plugin = open(
                ConfigLoader.load(environment, name),
                new DiscoveredLinks(links, Map.of(), List.of()),
                new HostDevices(Map.of(LinkKind.RDMA, used), GpuWrites.NONE, hardware),
                name,
                PAGE_BYTES);
        context = plugin.openContext(1, NetPlugin.TRAFFIC_CLASS_UNDEFINED);
    }

    private static SoftwareVerbs software(List<LocalLink> links, int portMbps) {
        return new SoftwareVerbs(links.stream()
                .map(link -> new SoftwareDevice(
                        link.deviceName(),
                        link.address().address(),
                        link.address().prefixLength(),
                        portMbps,
                        0))
                .toList());
    }

    private HostDevices devices(LinkKind kind) {
        return new HostDevices(Map.of(kind, used), GpuWrites.NONE, NicHardware.ofThisMachine());
    }

    /** The same with other devices around them. */
    public TestNode(
            String name,
            List<LocalLink> links,
            Map<String, String> environment,
            int portMbps,
            int pageBytes,
            UnaryOperator<VerbsProvider> around) {
        time = Optional.empty();
        clock = NanoClock.SYSTEM;
        SoftwareVerbs software = software(links, portMbps);
        verbs = around.apply(software);
        used = LaneVerbs.around(verbs);
        closeVerbs = software::close;
        this.links = links;
        DiscoveredLinks discovered = new DiscoveredLinks(links, Map.of(), List.of());
        plugin = open(ConfigLoader.load(environment, name), discovered, devices(LinkKind.RDMA), name, pageBytes);
        context = plugin.openContext(1, NetPlugin.TRAFFIC_CLASS_UNDEFINED);
    }

    /**
     * The same on this machine, with all of several equally direct links in use.
     *
     * @param addresses of the links' devices, with their prefixes
     */
    public static TestNode onRdmaLinks(String name, String... addresses) {
        return new TestNode(
                name,
                Stream.of(addresses).map(TestNode::rdmaLink).toList(),
                Map.of("TRIGON_STRIPES", "all"),
                RDMA_MBPS,
                PAGE_BYTES);
    }

    /** A link by a device and an interface of its own, whose numbers are the third of the IPv4 address. */
    public static LocalLink rdmaLink(String text) {
        InterfaceAddress address = InterfaceAddress.parse(text);
        int net = address.address().getAddress()[2];
        return rdmaLink("roce" + net, address, RDMA_MBPS, "en" + net, net, net);
    }

    /** A link by a device and an interface of its own; the last three are the link's as they stand there. */
    public static LocalLink rdmaLink(
            String device, InterfaceAddress address, int mbps, String interfaceName, int interfaceIndex, int rank) {
        Gid gid = Gid.of(address.address());
        return new LocalLink(
                device, LinkKind.RDMA, device, 1, address, 0, gid, mbps, interfaceName, interfaceIndex, rank);
    }

    private RoutedNetPlugin open(
            PluginConfig config, DiscoveredLinks discovered, HostDevices devices, String name, int pageBytes) {
        HostNetwork host =
                new HostNetwork(name, pageBytes, discovered, devices, _ -> Optional.empty(), LinkSearch.NONE);
        VisibleState visible =
                new VisibleState(RequestTable.of(rows, memories, LaneVerbs.FUNCTIONS), Metrics.unshared());
        Timing timing = new Timing(clock, _ -> nextLook::set);
        return RoutedNetPlugin.open(
                new PluginSetup(config, host, visible, RelayAccess.NONE, new PoliciesOnly(), timing));
    }

    /** Leaves connections to the settings. */
    private final class PoliciesOnly implements ConnectionAdvice {

        @Override
        public Advice on(Question question) {
            return Advice.NONE;
        }

        @Override
        public int policyOf(long commId) {
            try {
                policiesLoaded.await();
            } catch (InterruptedException e) {
                throw new AssertionError("the policies are not loaded", e);
            }
            return policies.getOrDefault(commId, 0);
        }
    }

    private static VerbsProvider libibverbs() {
        return switch (Libibverbs.load()) {
            case VerbsAvailability.Available(VerbsProvider provider) -> provider;
            case VerbsAvailability.Unavailable(String reason) -> throw new AssertionError(reason);
        };
    }

    private static List<RdmaPort> ports(VerbsProvider provider) {
        List<RdmaPort> ports = new ArrayList<>();
        for (String name : provider.deviceNames()) {
            try (DeviceContext device = provider.open(name)) {
                ports.add(new RdmaPort(name, 1, device.queryPort(1), device.gidTable(1)));
            }
        }
        return ports;
    }

    /** Its devices. */
    public VerbsProvider verbs() {
        return verbs;
    }

    private static SoftwareDevice device(LocalLink link) {
        return new SoftwareDevice(
                link.deviceName(), link.address().address(), link.address().prefixLength(), link.speedMbps(), 0);
    }

    /** Native memory that lives as long as the node. */
    public long allocate(long bytes) {
        return arena.allocate(bytes, PAGE_BYTES).address();
    }

    private long tableOfLibrary() {
        return arena.allocate((long) RequestRow.ROWS * Long.BYTES, Long.BYTES).address();
    }

    /** Tells whether the entry library may move this comm's messages. */
    public boolean isOpenToLibrary(long comm) {
        return Memory.getInt(row(comm) + RequestRow.GATE) == GATE_OPEN;
    }

    private long row(long comm) {
        return Memory.getLong(rows + (long) HandleTable.slot(comm) * Long.BYTES);
    }

    /** Somebody waits for what this node does: where its time is the test's, a moment of it passes. */
    public void letTimePass() {
        time.ifPresent(PassingTime::pass);
    }

    /** Lets so much time pass for all nodes of the cluster, whose time is the test's. */
    public void pass(Duration span) {
        time.orElseThrow().pass(span);
    }

    /** Looks for half-open connections once, as the plugin does after its time. */
    public void lookForHalfOpen() {
        nextLook.get().run();
    }

    public long register(long comm, long address, long bytes) {
        return plugin.registerMemory(comm, address, bytes, DeviceProperties.POINTER_HOST);
    }

    /** A communicator's, as NCCL opens one when it is made anew after a failure. */
    public long newContext() {
        return plugin.openContext(++communicators, NetPlugin.TRAFFIC_CLASS_UNDEFINED);
    }

    /** Closing twice is allowed. */
    @Override
    public void close() {
        if (!arena.scope().isAlive()) {
            return;
        }
        plugin.close();
        time.ifPresent(passing -> passing.ended(clock));
        closeVerbs.run();
        arena.close();
    }
}
