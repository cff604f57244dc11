package trigon.routing.table;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import trigon.config.cluster.NicReference;
import trigon.routing.DiscoveredLinks;
import trigon.routing.DiscoveredLinks.NicOverride;
import trigon.routing.Links;
import trigon.routing.LocalLink;
import trigon.routing.Path;
import trigon.routing.PeerDescription;
import trigon.routing.PeerLink;
import trigon.routing.Reason;
import trigon.routing.RouteLookup;
import trigon.system.InterfaceAddress;
import trigon.verbs.LinkKind;

/** What holds for all machines, tried on random ones. */
class RoutingPropertiesTest {

    private static final int ROUNDS = Integer.getInteger("trigon.routing.rounds", 200);

    private final long seed = System.nanoTime();
    private final Random random = new Random(seed);

    RoutingPropertiesTest() {
        System.out.println("seed " + seed);
    }

    /** Three nodes, a subnet between any two; bit n of the wiring: node n lists its NICs the other way round. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7})
    void findsTheCableInEveryWiringOfATriangle(int wiring) {
        List<List<LocalLink>> nodes = new ArrayList<>();
        for (int node = 0; node < 3; node++) {
            int one = (node + 1) % 3;
            int other = (node + 2) % 3;
            boolean swapped = (wiring >> node & 1) == 1;
            nodes.add(List.of(cable(node, one, swapped ? 1 : 0), cable(node, other, swapped ? 0 : 1)));
        }
        for (int from = 0; from < 3; from++) {
            for (int to = 0; to < 3; to++) {
                if (from != to) {
                    Path path =
                            table(nodes.get(from)).pathsTo(peer(nodes.get(to))).getFirst();

                    assertThat(path.local()).isEqualTo(link(nodes.get(from), from, to));
                    assertThat(path.remote().address())
                            .isEqualTo(link(nodes.get(to), to, from).address().address());
                }
            }
        }
    }

    private static LocalLink cable(int from, int to, int rank) {
        return Links.rdma(
                "to" + to, "10.0.%d%d.%d/24".formatted(1 + Math.min(from, to), 1 + Math.max(from, to), from + 1), rank);
    }

    private static LocalLink link(List<LocalLink> links, int from, int to) {
        InetAddress address = cable(from, to, 0).address().address();
        return links.stream()
                .filter(link -> link.address().address().equals(address))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void doesNotDependOnTheOrderOfLists() {
        for (int round = 0; round < ROUNDS; round++) {
            List<LocalLink> ours = links();
            List<LocalLink> theirs = links();
            RouteLookup kernel = kernel(ours);
            List<LocalLink> shuffled = shuffled(ours);
            List<PeerLink> advertised = shuffled(peer(theirs).links());

            assertThat(outcome(shuffled, kernel, new PeerDescription(OptionalInt.empty(), advertised)))
                    .isEqualTo(outcome(ours, kernel, peer(theirs)));
        }
    }

    @Test
    void bothEndsSeeTheSamePairsWithinSubnets() {
        for (int round = 0; round < ROUNDS; round++) {
            List<LocalLink> ours = links();
            List<LocalLink> theirs = links();

            assertThat(pairs(ours, theirs, false)).isEqualTo(pairs(theirs, ours, true));
        }
    }

    @Test
    void bestSubnetAndKindAreTheSameAtBothEnds() {
        for (int round = 0; round < ROUNDS; round++) {
            List<LocalLink> ours = links();
            List<LocalLink> theirs = links();

            assertThat(best(ours, theirs)).isEqualTo(best(theirs, ours));
        }
    }

    @Test
    void everyPathHoldsWhatItPromises() {
        for (int round = 0; round < ROUNDS; round++) {
            List<LocalLink> ours = links();
            PeerDescription peer = peer(links());
            RouteLookup kernel = kernel(ours);
            List<Path> paths = outcome(ours, kernel, peer).orElse(List.of());

            assertThat(paths).doesNotHaveDuplicates();
            for (Path path : paths) {
                assertThat(ours).contains(path.local());
                assertThat(peer.links()).contains(path.remote());
                assertThat(path.remote().kinds()).contains(path.kind());
                assertThat(path.local().kind()).isEqualTo(path.kind());
                assertThat(path.local().address().address().getAddress())
                        .hasSameSizeAs(path.remote().address().getAddress());
            }
            int routed = (int) paths.stream()
                    .takeWhile(path -> path.reason() instanceof Reason.SameSubnet)
                    .count();
            assertThat(paths.subList(routed, paths.size()))
                    .allSatisfy(path -> assertThat(path.reason()).isEqualTo(new Reason.KernelRoute()));
        }
    }

    @Test
    void aPrescribedNicIsTheOnlyOne() {
        for (int round = 0; round < ROUNDS; round++) {
            List<LocalLink> ours = links();
            LocalLink chosen = ours.get(random.nextInt(ours.size()));
            InetAddress address = chosen.address().address();
            NicOverride override = new NicOverride(new NicReference.ByAddress(address, Links.LINE), Set.of(address));
            PeerDescription peer =
                    new PeerDescription(OptionalInt.of(3), peer(links()).links());
            RouteLookup kernel = kernel(ours);

            Set<List<Object>> prescribed =
                    ends(outcome(new RoutingTable(ours, kernel, Map.of(3, override), List.of()), peer)
                            .orElse(List.of()));
            Set<List<Object>> free = ends(outcome(ours, kernel, peer).orElse(List.of()).stream()
                    .filter(path -> path.local().address().address().equals(address))
                    .toList());

            assertThat(prescribed).isEqualTo(free);
        }
    }

    private static Set<List<Object>> ends(List<Path> paths) {
        return paths.stream()
                .map(path -> List.<Object>of(path.local(), path.remote()))
                .collect(Collectors.toSet());
    }

    private static Set<String> pairs(List<LocalLink> from, List<LocalLink> to, boolean swap) {
        Set<String> pairs = new HashSet<>();
        for (Path path : outcome(from, Links.NO_ROUTES, peer(to)).orElse(List.of())) {
            String near = path.local().address().toString();
            String far = path.remote().interfaceAddress().toString();
            pairs.add((swap ? far + near : near + far) + path.kind() + path.reason());
        }
        return pairs;
    }

    private static Optional<String> best(List<LocalLink> from, List<LocalLink> to) {
        return outcome(from, Links.NO_ROUTES, peer(to))
                .map(List::getFirst)
                .map(path -> path.reason() + " " + path.kind());
    }

    /** The paths; empty if there is none. */
    private static Optional<List<Path>> outcome(List<LocalLink> links, RouteLookup kernel, PeerDescription peer) {
        return outcome(new RoutingTable(links, kernel, Map.of(), List.of()), peer);
    }

    private static Optional<List<Path>> outcome(RoutingTable table, PeerDescription peer) {
        try {
            return Optional.of(table.pathsTo(peer));
        } catch (NoPathException e) {
            assertThat(e.getMessage()).startsWith("no path to ");
            return Optional.empty();
        }
    }

    private static RoutingTable table(List<LocalLink> links) {
        return new RoutingTable(links, Links.NO_ROUTES, Map.of(), List.of());
    }

    private static PeerDescription peer(List<LocalLink> links) {
        return new PeerDescription(
                OptionalInt.empty(), Links.advertised(new DiscoveredLinks(links, Map.of(), List.of())));
    }

    /** One to five NICs with an address or two each, of few subnets and many prefix lengths, so that they overlap. */
    private List<LocalLink> links() {
        List<LocalLink> links = new ArrayList<>();
        Set<InetAddress> used = new HashSet<>();
        int nics = 1 + random.nextInt(5);
        for (int nic = 0; nic < nics; nic++) {
            for (int i = random.nextInt(2); i >= 0; i--) {
                InterfaceAddress address = interfaceAddress();
                if (used.add(address.address())) {
                    // ranks may be equal, as they are for the addresses of one port
                    int rank = random.nextInt(3);
                    for (LinkKind kind : kinds()) {
                        links.add(Links.local("nic" + nic + "_" + kind, kind, address, rank));
                    }
                }
            }
        }
        return links;
    }

    private InterfaceAddress interfaceAddress() {
        boolean six = random.nextInt(4) == 0;
        byte[] bytes = new byte[six ? 16 : 4];
        bytes[0] = six ? (byte) 0xfd : 10;
        bytes[bytes.length - 2] = (byte) random.nextInt(3);
        bytes[bytes.length - 1] = (byte) random.nextInt(8);
        int bits = bytes.length * Byte.SIZE;
        int[] prefixes = {bits - 24, bits - 16, bits - 8, bits - 8, bits - 8, bits - 2, bits - 1, bits};
        try {
            return new InterfaceAddress(InetAddress.getByAddress(bytes), prefixes[random.nextInt(prefixes.length)]);
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    private Set<LinkKind> kinds() {
        return switch (random.nextInt(3)) {
            case 0 -> EnumSet.of(LinkKind.RDMA);
            case 1 -> EnumSet.of(LinkKind.SOFTWARE);
            default -> EnumSet.allOf(LinkKind.class);
        };
    }

    /** Routes every destination from one of the links of its family, always the same, or not at all. */
    private static RouteLookup kernel(List<LocalLink> links) {
        return destination -> {
            List<InetAddress> family = links.stream()
                    .sorted(LocalLink.BY_RANK)
                    .map(link -> link.address().address())
                    .filter(address -> address.getAddress().length == destination.getAddress().length)
                    .toList();
            int choice = Math.floorMod(destination.hashCode(), family.size() + 1);
            return choice == family.size() ? Optional.empty() : Optional.of(family.get(choice));
        };
    }

    private <T> List<T> shuffled(List<T> list) {
        List<T> copy = new ArrayList<>(list);
        Collections.shuffle(copy, random);
        return copy;
    }
}
