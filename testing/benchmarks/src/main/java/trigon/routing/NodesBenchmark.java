package trigon.routing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.Blackhole;
import trigon.config.PluginConfig;
import trigon.config.file.ConfigLoader;
import trigon.routing.table.RoutingTable;
import trigon.system.InterfaceAddress;
import trigon.verbs.Gid;
import trigon.verbs.LinkKind;

/** What grows with the cluster: the file with all nodes, read once, and the paths to every other node. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class NodesBenchmark {

    private static final int NICS = 2;

    /** How many nodes the cluster has. */
    @Param({"4", "16", "64", "256", "1024"})
    public int nodes;

    private final List<PeerDescription> peers = new ArrayList<>();
    private RoutingTable table = new RoutingTable(List.of(), _ -> Optional.empty(), Map.of(), List.of());
    private Path file = Path.of("");

    @Setup
    public void makeCluster() {
        StringBuilder yaml = new StringBuilder("version: 1\nlinks: rdma\nnodes:\n");
        for (int node = 0; node < nodes; node++) {
            yaml.append("  node-%d: {nics: [{address: %s}, {address: %s}]}\n"
                    .formatted(node, address(node, 0), address(node, 1)));
        }
        try {
            file = Files.writeString(Files.createTempFile("trigon-nodes", ".yaml"), yaml);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        List<LocalLink> links = new ArrayList<>();
        for (int nic = 0; nic < NICS; nic++) {
            InterfaceAddress own = InterfaceAddress.parse(address(0, nic));
            Gid gid = Gid.of(own.address());
            links.add(new LocalLink(
                    "rdma" + nic, LinkKind.RDMA, "rdma" + nic, 1, own, 1, gid, 100_000, "eth" + nic, 1 + nic, nic));
        }
        table = new RoutingTable(links, _ -> Optional.empty(), Map.of(), List.of());
        for (int node = 1; node < nodes; node++) {
            List<PeerLink> remotes = new ArrayList<>();
            for (int nic = 0; nic < NICS; nic++) {
                InterfaceAddress its = InterfaceAddress.parse(address(node, nic));
                remotes.add(new PeerLink(its.address(), its.prefixLength(), 7471, EnumSet.of(LinkKind.RDMA)));
            }
            peers.add(new PeerDescription(OptionalInt.of(node), remotes));
        }
    }

    private static String address(int node, int nic) {
        return "10.%d.%d.%d/16".formatted(nic, node / 250, 1 + node % 250);
    }

    @TearDown
    public void deleteFile() throws IOException {
        Files.delete(file);
    }

    @Benchmark
    public PluginConfig readClusterFile() {
        return ConfigLoader.load(Map.of("TRIGON_CONFIG", file.toString(), "TRIGON_NODE", "node-0"), "node-0");
    }

    @Benchmark
    public void pathsToAllPeers(Blackhole blackhole) {
        for (PeerDescription peer : peers) {
            blackhole.consume(table.pathsTo(peer));
        }
    }
}
