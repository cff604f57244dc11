package trigon.relay.topology;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import trigon.system.InterfaceAddress;
import trigon.testsupport.Seed;

/** What is found in maps is what a comparison of each two links finds. */
class GraphTest {

    private static final int ROUNDS = 200;

    private final long seed = Seed.next();
    private final Random random = new Random(seed);

    @Test
    void neighboursAreThoseWithLinksThatAreJoined() {
        for (int round = 0; round < ROUNDS; round++) {
            List<Node> nodes = nodes();
            Graph graph = new Graph(nodes, 0);
            for (int node = 0; node < nodes.size(); node++) {
                assertThat(graph.neighbours(node))
                        .as("of node %d in round %d, seed %d: %s", node, round, seed, nodes)
                        .isEqualTo(joined(nodes, node));
            }
        }
    }

    private static BitSet joined(List<Node> nodes, int node) {
        BitSet joined = new BitSet();
        for (int other = 0; other < nodes.size(); other++) {
            for (Node.Link here : nodes.get(node).links()) {
                for (Node.Link there : nodes.get(other).links()) {
                    if (node != other && here.joins(there)) {
                        joined.set(other);
                    }
                }
            }
        }
        return joined;
    }

    @Test
    void whatHearsAnAddressIsFoundOnce() {
        for (int round = 0; round < ROUNDS; round++) {
            List<Node> nodes = nodes();
            Graph graph = new Graph(nodes, 0);
            InetAddress address = nodes.getFirst().links().getFirst().address().address();
            List<Graph.End> wanted = new ArrayList<>();
            for (int node = 0; node < nodes.size(); node++) {
                for (Node.Link link : nodes.get(node).links()) {
                    if (link.hears(address)) {
                        wanted.add(new Graph.End(node, link));
                    }
                }
            }

            assertThat(graph.hearing(address).stream().flatMap(List::stream))
                    .as("round %d, seed %d", round, seed)
                    .containsExactlyInAnyOrderElementsOf(wanted);
        }
    }

    /** Few addresses, so that they meet; as few lengths of prefixes as are looked at; more nodes than a list keeps. */
    private List<Node> nodes() {
        int count = random.nextInt(10) == 0 ? 150 : 1 + random.nextInt(12);
        List<Node> nodes = new ArrayList<>();
        for (int node = 0; node < count; node++) {
            List<Node.Link> links = new ArrayList<>();
            for (int i = random.nextInt(3); i >= 0; i--) {
                Set<InetAddress> heard = new HashSet<>();
                for (int neighbours = random.nextInt(3); neighbours > 0; neighbours--) {
                    heard.add(address());
                }
                InetAddress own = address();
                int bits = own.getAddress().length * Byte.SIZE;
                int prefix = random.nextInt(8) == 0 ? random.nextInt(4) * bits / 4 : bits - random.nextInt(4);
                links.add(new Node.Link(
                        new InterfaceAddress(own, prefix), 1, false, heard, random.nextInt(4) == 0, List.of()));
            }
            nodes.add(new Node(node, "n" + node, links));
        }
        return nodes;
    }

    private InetAddress address() {
        String start = random.nextBoolean() ? "10.0." + random.nextInt(2) + "." : "fd00::" + random.nextInt(2) + ":";
        return InetAddress.ofLiteral(start + random.nextInt(16));
    }
}
