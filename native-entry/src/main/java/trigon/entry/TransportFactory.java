package trigon.entry;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.config.ConfigException;
import trigon.config.ConfigLoader;
import trigon.config.InterfaceAddress;
import trigon.config.LinkPolicy;
import trigon.config.PluginConfig;
import trigon.config.Setting;
import trigon.config.Source;
import trigon.routing.DiscoveredLinks;
import trigon.routing.HostInterface;
import trigon.routing.HostInterfaces;
import trigon.routing.KernelRouteLookup;
import trigon.routing.LinkDiscovery;
import trigon.routing.LocalLink;
import trigon.routing.RdmaPort;
import trigon.software.SoftwareDevice;
import trigon.software.SoftwareVerbs;
import trigon.transport.CompletionBoard;
import trigon.transport.NetPlugin;
import trigon.transport.RoutedNetPlugin;
import trigon.verbs.DeviceContext;
import trigon.verbs.LinkKind;
import trigon.verbs.VerbsAvailability;
import trigon.verbs.VerbsException;
import trigon.verbs.VerbsProvider;
import trigon.verbs.ffm.Libibverbs;

/** Makes the real plugin: reads the settings, finds the links, opens their devices. */
final class TransportFactory implements NetPluginFactory {

    private static final Logger log = LoggerFactory.getLogger(TransportFactory.class);
    private static final Path HOST_NAME = Path.of("/proc/sys/kernel/hostname");
    private static final int LOOPBACK_INDEX = 1;
    private static final int LOOPBACK_PREFIX = 8;
    private static final int LOOPBACK_MBPS = 10_000;

    private final int pageBytes;
    private @Nullable RoutedNetPlugin created;

    /**
     * A factory.
     *
     * @param pageBytes size of the kernel's pages
     */
    TransportFactory(int pageBytes) {
        this.pageBytes = pageBytes;
    }

    @Override
    public NetPlugin create(Map<String, String> environment, CompletionBoard board) {
        String hostName = hostName();
        PluginConfig config = ConfigLoader.load(environment, hostName);
        config.describe().forEach(log::info);
        Map<LinkKind, VerbsProvider> providers = new EnumMap<>(LinkKind.class);
        List<RdmaPort> ports = new ArrayList<>();
        if (config.links().value() != LinkPolicy.SOFTWARE) {
            findRdma(providers, ports);
        }
        DiscoveredLinks discovered = LinkDiscovery.discover(config, ports, HostInterfaces.snapshot());
        discovered.links().forEach(link -> log.info("link {}", link));
        discovered.leftOut().forEach(line -> log.info("not used: {}", line));
        if (discovered.links().isEmpty()) {
            throw new ConfigException("there is no link to use: no active RDMA port with an IP address, and no"
                    + " interface that is up; bring one up, or name the NICs in a file (TRIGON_CONFIG)");
        }
        providers.put(LinkKind.SOFTWARE, software(discovered));
        RoutedNetPlugin plugin = RoutedNetPlugin.open(
                config, discovered, providers, new KernelRouteLookup(), hostName, pageBytes, board);
        created = plugin;
        return plugin;
    }

    @Override
    public void repeat(Runnable task, Duration interval) {
        Objects.requireNonNull(created, "created").repeat(task, interval);
    }

    /** The software device on the loopback interface, as on a machine that has no other; no file, no environment. */
    @Override
    public Optional<Supplier<Rehearsal.Stage>> rehearsalStage() {
        return Optional.of(this::openLoopback);
    }

    LoopbackStage openLoopback() {
        PluginConfig config = PluginConfig.withoutFile(new Setting<>(LinkPolicy.SOFTWARE, Source.DEFAULT));
        HostInterface loopback = new HostInterface(
                "lo",
                LOOPBACK_INDEX,
                true,
                true,
                List.of(new InterfaceAddress(InetAddress.ofLiteral("127.0.0.1"), LOOPBACK_PREFIX)),
                LOOPBACK_MBPS);
        DiscoveredLinks links = LinkDiscovery.discover(config, List.of(), new HostInterfaces(List.of(loopback)));
        SoftwareVerbs verbs = software(links);
        try {
            return new LoopbackStage(
                    RoutedNetPlugin.open(
                            config,
                            links,
                            Map.of(LinkKind.SOFTWARE, verbs),
                            _ -> Optional.empty(),
                            "rehearsal",
                            pageBytes,
                            CompletionBoard.unseen()),
                    verbs);
        } catch (RuntimeException e) {
            verbs.close();
            throw e;
        }
    }

    /** The plugin on the loopback device. */
    record LoopbackStage(RoutedNetPlugin plugin, SoftwareVerbs verbs) implements Rehearsal.Stage {
        @Override
        public void close() {
            plugin.close();
            verbs.close();
        }
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
                for (String name : provider.deviceNames()) {
                    ports.addAll(ports(provider, name));
                }
                log.info("{} has {}", provider.name(), ports.isEmpty() ? "no devices" : provider.deviceNames());
            }
        }
    }

    /** The ports of a device; none if it cannot be opened, which must not keep the others from being used. */
    private static List<RdmaPort> ports(VerbsProvider provider, String name) {
        try (DeviceContext device = provider.open(name)) {
            List<RdmaPort> ports = new ArrayList<>();
            for (int port = 1; port <= device.attributes().portCount(); port++) {
                ports.add(new RdmaPort(name, port, device.queryPort(port), device.gidTable(port)));
            }
            return ports;
        } catch (VerbsException e) {
            log.warn("{} is not used: {}", name, e.getMessage());
            return List.of();
        }
    }

    private static SoftwareVerbs software(DiscoveredLinks discovered) {
        return new SoftwareVerbs(discovered.links().stream()
                .filter(link -> link.kind() == LinkKind.SOFTWARE)
                .map(TransportFactory::softwareDevice)
                .toList());
    }

    private static SoftwareDevice softwareDevice(LocalLink link) {
        return new SoftwareDevice(
                link.deviceName(),
                link.address().address(),
                link.address().prefixLength(),
                link.speedMbps(),
                link.interfaceIndex());
    }

    /** From the kernel: Java's own way would ask the name service, which may take its time. */
    private static String hostName() {
        try {
            return Files.readString(HOST_NAME).strip();
        } catch (IOException e) {
            throw new ConfigException("the host name cannot be read: " + e.getMessage(), e);
        }
    }
}
