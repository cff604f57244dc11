package trigon.transport;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import trigon.config.ConfigLoader;
import trigon.config.PluginConfig;
import trigon.routing.DiscoveredLinks;
import trigon.routing.HostInterfaces;
import trigon.routing.LinkDiscovery;
import trigon.routing.LocalLink;
import trigon.software.SoftwareDevice;
import trigon.software.SoftwareVerbs;
import trigon.verbs.LinkKind;

/** One node of a cluster on software links: the whole transport, as the native entry wires it. Closed by the test. */
final class TestNode implements AutoCloseable {

    final SoftwareVerbs verbs;
    final RoutedNetPlugin plugin;
    final long context;
    final List<LocalLink> links;
    final Arena arena = Arena.ofShared();

    /** The node of that name in a cluster file. */
    TestNode(Path file, String name) {
        PluginConfig config =
                ConfigLoader.load(Map.of("TRIGON_CONFIG", file.toString(), "TRIGON_NODE", name), "host-of-" + name);
        DiscoveredLinks discovered = LinkDiscovery.discover(config, List.of(), HostInterfaces.snapshot());
        links = discovered.links();
        verbs = new SoftwareVerbs(
                discovered.links().stream().map(TestNode::device).toList());
        plugin =
                RoutedNetPlugin.open(config, discovered, Map.of(LinkKind.SOFTWARE, verbs), _ -> Optional.empty(), name);
        context = plugin.openContext(1, NetPlugin.TRAFFIC_CLASS_UNDEFINED);
    }

    private static SoftwareDevice device(LocalLink link) {
        return new SoftwareDevice(
                link.deviceName(), link.address().address(), link.address().prefixLength(), link.speedMbps(), 0);
    }

    /** Writes a cluster file. */
    static Path cluster(Path directory, String nodes) {
        try {
            return Files.writeString(
                    directory.resolve("trigon.yaml"), "version: 1\nlinks: software\nnodes:\n" + nodes.indent(2));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Native memory that lives as long as the node. */
    long allocate(long bytes) {
        return arena.allocate(bytes, 4096).address();
    }

    long register(long comm, long address, long bytes) {
        return plugin.registerMemory(comm, address, bytes, DeviceProperties.POINTER_HOST);
    }

    @Override
    public void close() {
        plugin.close();
        verbs.close();
        arena.close();
    }
}
