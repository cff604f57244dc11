package trigon.entry;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.config.PluginConfig;
import trigon.config.Settings;
import trigon.config.cluster.NodeConfig;
import trigon.config.file.ConfigLoader;
import trigon.config.setting.ConfigException;
import trigon.config.setting.LinkPolicy;
import trigon.entry.tuner.PolicyAccess;
import trigon.entry.warmup.LoopbackNode;
import trigon.entry.warmup.WarmUpNode;
import trigon.nccl.NetPlugin;
import trigon.relay.mesh.Mesh;
import trigon.relay.mesh.RdmaHops;
import trigon.relay.mesh.RelayResources;
import trigon.routing.DiscoveredLinks;
import trigon.routing.KernelRouteLookup;
import trigon.routing.LeftOut;
import trigon.routing.Relays;
import trigon.routing.RouteLookup;
import trigon.routing.SharedSubnets;
import trigon.routing.discovery.BootstrapInterfaces;
import trigon.routing.discovery.HostInterfaces;
import trigon.routing.discovery.LinkDiscovery;
import trigon.routing.discovery.RdmaPort;
import trigon.routing.discovery.RdmaPorts;
import trigon.routing.hardware.LinkSpeeds;
import trigon.routing.hardware.NicHardware;
import trigon.routing.hardware.TwinFunctions;
import trigon.software.MoverSettings;
import trigon.software.device.SoftwareVerbs;
import trigon.stream.circuit.CircuitRoutes;
import trigon.stream.dial.Dialer;
import trigon.stream.hop.HopDevices;
import trigon.system.PortRange;
import trigon.system.kernel.NodeNumber;
import trigon.transport.metrics.Metrics;
import trigon.transport.plugin.HostDevices;
import trigon.transport.plugin.HostNetwork;
import trigon.transport.plugin.PluginSetup;
import trigon.transport.plugin.RelayAccess;
import trigon.transport.plugin.RoutedNetPlugin;
import trigon.transport.plugin.Timing;
import trigon.transport.plugin.VisibleState;
import trigon.transport.request.RequestTable;
import trigon.verbs.LinkKind;
import trigon.verbs.VerbsAvailability;
import trigon.verbs.VerbsProvider;
import trigon.verbs.ffm.Libibverbs;

/** Makes the real plugin: reads the settings, finds the links, opens their devices. */
final class TransportFactory implements NetPluginFactory {

    private static final Logger log = LoggerFactory.getLogger(TransportFactory.class);
    private static final Path PROCESSORS = Path.of("/sys/devices/system/cpu/online");

    /** A file system in memory, see shm_overview(7). */
    private static final Path SHARED_MEMORY = Path.of("/dev/shm");

    /** With fewer processors, a relay that looks for more takes them from who has work. */
    private static final int MIN_TO_SPIN = 4;

    private final int pageBytes;
    private final Gpus gpus;
    private final PolicyAccess policy;
    private MoverSettings movers = MoverSettings.NONE;
    private @Nullable RequestTable requests;
    private boolean hasRdma;
    private Optional<PluginConfig> config = Optional.empty();

    /**
     * A factory.
     *
     * @param pageBytes size of the kernel's pages
     * @param gpus that the caller has
     * @param policy takes the settings
     */
    TransportFactory(int pageBytes, Gpus gpus, PolicyAccess policy) {
        this.pageBytes = pageBytes;
        this.gpus = gpus;
        this.policy = policy;
    }

    @Override
    public NetPlugin create(Map<String, String> environment, RequestTable ofProcess) {
        requests = ofProcess;
        String hostName = HostName.ofThisMachine();
        PluginConfig settings = ConfigLoader.load(environment, hostName);
        config = Optional.of(settings);
        policy.open(settings);
        log.info("{} on {}", Release.ofThisInstallation(), hostName);
        settings.describe().forEach(log::info);
        settings.unknownVariables().forEach(variable -> log.warn("{}", variable));
        JavaOptions.unknown(environment).forEach(warning -> log.warn("{}", warning));
        Map<LinkKind, VerbsProvider> providers = new EnumMap<>(LinkKind.class);
        List<RdmaPort> ports = new ArrayList<>();
        if (settings.links().value() != LinkPolicy.SOFTWARE) {
            findRdma(providers, ports);
        }
        NicHardware hardware = NicHardware.ofThisMachine();
        DiscoveredLinks discovered = new LinkSpeeds(hardware)
                .limit(
                        settings,
                        LinkDiscovery.discover(settings, ports, marked(HostInterfaces.settled(), environment)));
        discovered.links().forEach(link -> log.info("link {}: {}", link, link.carrier()));
        discovered.leftOut().forEach(TransportFactory::report);
        RouteLookup kernel = new KernelRouteLookup();
        SharedSubnets.warnings(discovered.links(), kernel).forEach(warning -> log.warn("{}", warning));
        TwinFunctions.warnings(discovered.links(), hardware).forEach(warning -> log.warn("{}", warning));
        requireLinks(settings, environment, discovered);
        int processors = processors(environment);
        log.debug("movers for {} processors", processors);
        movers = MoverSettings.forProcessors(processors);
        HopDevices hops = RdmaHops.of(settings, discovered.links(), providers.get(LinkKind.RDMA));
        RelayResources forRelays = new RelayResources(hops, processors >= MIN_TO_SPIN, LocalJob.localRank(environment));
        Optional<Mesh> mesh = relays(settings, discovered, kernel, hostName, forRelays);
        Dialer dialer = new Dialer(mesh.map(Mesh::routes).orElse(CircuitRoutes.NONE), hops);
        RelayAccess relays = new RelayAccess(mesh.isPresent() ? mesh.get() : Relays.NONE, dialer);
        SoftwareVerbs software = software(settings, discovered, movers, dialer);
        mesh.ifPresent(each -> serveWhenCalled(each, software));
        providers.put(LinkKind.SOFTWARE, software);
        NetPlugin plugin = RoutedNetPlugin.open(new PluginSetup(
                settings,
                new HostNetwork(
                        hostName,
                        pageBytes,
                        discovered,
                        new HostDevices(providers, gpus.writes(), hardware),
                        kernel,
                        new LaterLinkSearch(
                                settings,
                                hardware,
                                providers,
                                software,
                                interfaces -> marked(interfaces, environment))),
                new VisibleState(ofProcess, Metrics.shared(SHARED_MEMORY)),
                relays,
                policy.connections(),
                Timing.SYSTEM));
        hasRdma = discovered.links().stream().anyMatch(link -> link.kind() == LinkKind.RDMA);
        return plugin;
    }

    @Override
    public Optional<PluginConfig> config() {
        return config;
    }

    /** On loopback devices: messages go as they go over this machine's links. */
    @Override
    public List<Supplier<WarmUpNode>> warmUpNodes(boolean ofAllKinds) {
        Supplier<WarmUpNode> asOverSoftwareLinks =
                () -> LoopbackNode.ofSoftware(LinkKind.SOFTWARE, movers, Objects.requireNonNull(requests), pageBytes);
        Supplier<WarmUpNode> asOverRdmaLinks =
                () -> LoopbackNode.ofSoftware(LinkKind.RDMA, movers, Objects.requireNonNull(requests), pageBytes);
        if (ofAllKinds) {
            return List.of(asOverSoftwareLinks, asOverRdmaLinks, this::standIn);
        }
        return List.of(hasRdma ? this::asOverOwnRdmaLinks : asOverSoftwareLinks);
    }

    /** On a software device, too; but first it links what the first connection over an RDMA device will call. */
    private WarmUpNode asOverOwnRdmaLinks() {
        Libibverbs.linkAhead();
        return LoopbackNode.ofSoftware(LinkKind.RDMA, movers, Objects.requireNonNull(requests), pageBytes);
    }

    private static HostInterfaces marked(HostInterfaces interfaces, Map<String, String> environment) {
        return BootstrapInterfaces.mark(interfaces, environment.getOrDefault(BootstrapInterfaces.VARIABLE, ""));
    }

    /** Whatever the kernel has: what stands in for RDMA devices need not be known to it. */
    private WarmUpNode standIn() {
        return switch (Libibverbs.load()) {
            case VerbsAvailability.Unavailable(String reason) -> throw new IllegalStateException(reason);
            case VerbsAvailability.Available(VerbsProvider provider) ->
                LoopbackNode.ofRdma(provider, Objects.requireNonNull(requests), pageBytes)
                        .orElseThrow(() -> new IllegalStateException("no RDMA device has the loopback address"));
        };
    }

    private static void findRdma(Map<LinkKind, VerbsProvider> providers, List<RdmaPort> ports) {
        if (!Libibverbs.kernelHasDevices()) {
            log.info("no RDMA devices: the kernel has none (/sys/class/infiniband)");
            return;
        }
        switch (Libibverbs.load()) {
            case VerbsAvailability.Unavailable(String reason) -> log.info("no RDMA devices: {}", reason);
            case VerbsAvailability.Available(VerbsProvider provider) -> {
                providers.put(LinkKind.RDMA, provider);
                RdmaPorts found = RdmaPorts.snapshot(provider);
                ports.addAll(found.ports());
                found.leftOut().forEach(each -> log.warn("{} is not used: {}", each.name(), each.cause()));
                log.info("{} has {}", provider.name(), ports.isEmpty() ? "no devices" : provider.deviceNames());
            }
        }
    }

    /** Without relays where they cannot be had: nodes with a common link do not need them. */
    private static Optional<Mesh> relays(
            PluginConfig config,
            DiscoveredLinks discovered,
            RouteLookup kernel,
            String hostName,
            RelayResources resources) {
        String name = config.thisNode().map(NodeConfig::name).orElse(hostName);
        try {
            long node = NodeNumber.of(config.thisNode().map(NodeConfig::name).orElse(""));
            return Mesh.open(config, discovered.links(), kernel, name, node, resources);
        } catch (IOException e) {
            log.warn("relaying is off, both for other nodes and for this one: {}", e.getMessage());
            return Optional.empty();
        }
    }

    private static void serveWhenCalled(Mesh mesh, SoftwareVerbs software) {
        try {
            mesh.serveWhenCalled(software::whenReady);
        } catch (IOException e) {
            log.info("cannot stop the relay's threads while idle: {}", e.getMessage());
            mesh.serve();
        }
    }

    /** The loopback leads to no other machine: it is for jobs that have all ranks here. A device there is one. */
    private static void requireLinks(PluginConfig config, Map<String, String> environment, DiscoveredLinks discovered) {
        boolean loopback = config.thisNode().isEmpty()
                && discovered.links().stream()
                        .allMatch(link -> link.kind() == LinkKind.SOFTWARE
                                && link.address().address().isLoopbackAddress());
        if (loopback && (discovered.links().isEmpty() || !LocalJob.isCertain(environment))) {
            throw new ConfigException(
                    "there is no link to other machines: no active RDMA port with an IP address, and no interface with"
                            + " one%s. Bring one up, or name the NICs in a file (TRIGON_CONFIG): 127.0.0.1 for a job"
                                    .formatted(Stream.concat(
                                                    discovered.leftOut().stream()
                                                            .map(LeftOut::toString),
                                                    discovered.links().stream()
                                                            .map(link -> link.interfaceName() + ": the loopback"))
                                            .distinct()
                                            .collect(Collectors.joining("; ", " (", ")")))
                            + " whose ranks are all on this machine");
        }
    }

    private static void report(LeftOut each) {
        switch (each.cause().weight()) {
            case NOT_USED -> log.info("not used: {}", each);
            case USED -> log.info("{}", each);
            case SUSPECT -> log.warn("{}", each);
        }
    }

    private static SoftwareVerbs software(
            PluginConfig settings, DiscoveredLinks discovered, MoverSettings movers, Dialer dialer) {
        return new SoftwareVerbs(
                discovered.links().stream()
                        .filter(link -> link.kind() == LinkKind.SOFTWARE)
                        .map(LaterLinkSearch::softwareDevice)
                        .toList(),
                movers,
                dialer,
                settings.value(Settings.CIRCUITS_CHECK).oneIn(),
                settings.value(Settings.PORTS).orElse(PortRange.ANY));
    }

    /** This process's share of the machine's processors. */
    private static int processors(Map<String, String> environment) {
        int available = Runtime.getRuntime().availableProcessors();
        try {
            return ProcessorShare.of(environment, available, ProcessorShare.count(Files.readString(PROCESSORS)));
        } catch (IOException | NumberFormatException e) {
            log.debug("{} does not say how many processors there are: {}", PROCESSORS, e.toString());
            return ProcessorShare.of(environment, available, available);
        }
    }
}
