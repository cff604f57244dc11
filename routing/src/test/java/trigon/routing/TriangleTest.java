package trigon.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static trigon.routing.Links.interfaces;
import static trigon.routing.Links.roce;
import static trigon.routing.Links.up;

import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import trigon.config.PluginConfig;
import trigon.config.Settings;
import trigon.config.file.ConfigLoader;
import trigon.routing.discovery.HostInterface;
import trigon.routing.discovery.HostInterfaces;
import trigon.routing.discovery.LinkDiscovery;
import trigon.routing.discovery.RdmaPort;
import trigon.routing.table.NoPathException;
import trigon.routing.table.RoutingTable;
import trigon.verbs.LinkKind;

/** From the file of a triangle of cables to the paths of its nodes. Only the cable between a and b has RDMA NICs. */
class TriangleTest {

    private static final List<String> NODES = List.of("a", "b", "c");

    @TempDir
    @SuppressWarnings("NullAway.Init")
    java.nio.file.Path directory;

    /** Bit n of the wiring: node n lists its NICs the other way round. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7})
    void takesTheCableBetweenAnyTwoNodes(int wiring) {
        assertThat(bestPaths(file(wiring, "links: auto")))
                .containsOnly(
                        Map.entry("ab", "b 10.0.12.2 via rxe_ab 10.0.12.1/24 (RDMA), same subnet /24"),
                        Map.entry("ba", "a 10.0.12.1 via rxe_ba 10.0.12.2/24 (RDMA), same subnet /24"),
                        Map.entry("ac", "c 10.0.13.3 via v13 10.0.13.1/24 (TCP), same subnet /24"),
                        Map.entry("ca", "a 10.0.13.1 via v13 10.0.13.3/24 (TCP), same subnet /24"),
                        Map.entry("bc", "c 10.0.23.3 via v23 10.0.23.2/24 (TCP), same subnet /24"),
                        Map.entry("cb", "b 10.0.23.2 via v23 10.0.23.3/24 (TCP), same subnet /24"));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7})
    void takesOnlySoftwareIfToldSo(int wiring) {
        Map<String, List<Path>> paths = paths(file(wiring, "links: software"));

        assertThat(paths).hasSize(6);
        assertThat(paths.values())
                .allSatisfy(candidates -> assertThat(candidates)
                        .singleElement()
                        .satisfies(path -> assertThat(path.kind()).isEqualTo(LinkKind.SOFTWARE)));
    }

    @Test
    void offersTheSoftwareLinkAfterTheRdmaLink() {
        assertThat(paths(file(0, "links: auto")).get("ab"))
                .extracting(Path::kind)
                .containsExactly(LinkKind.RDMA, LinkKind.SOFTWARE);
    }

    @Test
    void followsThePeersOfTheFile() {
        String peers = "peers: {a: {b: rxe_ab, c: v13}, c: {a: 10.0.13.3}}";

        assertThat(bestPaths(file(5, peers)))
                .containsEntry(
                        "ab",
                        "b 10.0.12.2 via rxe_ab 10.0.12.1/24 (RDMA), prescribed by " + directory
                                + "/trigon.yaml:6, same subnet /24")
                .hasEntrySatisfying("ac", path -> assertThat(path).contains("10.0.13.3 via v13", "prescribed by"))
                .hasEntrySatisfying("ca", path -> assertThat(path).contains("10.0.13.1 via v13", "prescribed by"))
                .hasEntrySatisfying("ba", path -> assertThat(path).doesNotContain("prescribed"));
    }

    @Test
    void failsIfThePeersOfTheFileNameTheOtherCable() {
        java.nio.file.Path file = file(0, "peers: {a: {b: 10.0.13.1}}");

        assertThatExceptionOfType(NoPathException.class)
                .isThrownBy(() -> paths(file))
                .withMessageContainingAll("no path to b", "prescribes, which is 10.0.13.1");
    }

    private static Map<String, String> bestPaths(java.nio.file.Path file) {
        Map<String, String> best = new HashMap<>();
        paths(file).forEach((pair, paths) -> best.put(pair, paths.getFirst().toString()));
        return best;
    }

    /** All paths, by the names of both nodes. */
    private static Map<String, List<Path>> paths(java.nio.file.Path file) {
        List<RoutingTable> tables = new ArrayList<>();
        List<PeerDescription> descriptions = new ArrayList<>();
        for (int node = 0; node < NODES.size(); node++) {
            PluginConfig config =
                    ConfigLoader.load(Map.of(Settings.CONFIG.name(), file.toString()), NODES.get(node) + ".example");
            DiscoveredLinks links = LinkDiscovery.discover(config, ports(node), host(node));
            tables.add(RoutingTable.of(config, links, Links.NO_ROUTES));
            descriptions.add(new PeerDescription(OptionalInt.of(node), Links.advertised(links)));
        }
        Map<String, List<Path>> paths = new HashMap<>();
        for (int from = 0; from < NODES.size(); from++) {
            for (int to = 0; to < NODES.size(); to++) {
                if (from != to) {
                    paths.put(NODES.get(from) + NODES.get(to), tables.get(from).pathsTo(descriptions.get(to)));
                }
            }
        }
        return paths;
    }

    private static List<RdmaPort> ports(int node) {
        return switch (node) {
            case 0 -> List.of(roce("rxe_ab", 12, "10.0.12.1"));
            case 1 -> List.of(roce("rxe_ba", 12, "10.0.12.2"));
            default -> List.of();
        };
    }

    private static HostInterfaces host(int node) {
        List<HostInterface> cables = new ArrayList<>();
        for (int cable : new int[] {12, 13, 23}) {
            if (Integer.toString(cable).contains(Integer.toString(node + 1))) {
                cables.add(up("v" + cable, cable, "10.0.%d.%d/24".formatted(cable, node + 1)));
            }
        }
        return interfaces(cables.toArray(HostInterface[]::new));
    }

    private java.nio.file.Path file(int wiring, String line) {
        List<List<String>> nics = List.of(
                List.of("{device: rxe_ab, address: 10.0.12.1/24}", "{address: 10.0.13.1/24}"),
                List.of("{address: 10.0.23.2/24}", "{device: rxe_ba}"),
                List.of("{address: 10.0.13.3/24}", "{device: v23, address: 10.0.23.3/24}"));
        StringBuilder text = new StringBuilder("version: 1\nnodes:\n");
        for (int node = 0; node < NODES.size(); node++) {
            List<String> listed = nics.get(node);
            List<String> order = (wiring >> node & 1) == 1 ? listed.reversed() : listed;
            text.append("  %s: {nics: [%s]}\n".formatted(NODES.get(node), String.join(", ", order)));
        }
        try {
            return Files.writeString(directory.resolve("trigon.yaml"), text + line + "\n");
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
