package trigon.transport.connect;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.routing.Bandwidth;
import trigon.routing.LocalLink;
import trigon.routing.Path;
import trigon.routing.PeerDescription;
import trigon.routing.PeerLink;
import trigon.routing.Reason;
import trigon.routing.Relays;
import trigon.routing.table.RoutingTable;
import trigon.system.InterfaceAddress;
import trigon.testsupport.ManualClock;
import trigon.verbs.Gid;
import trigon.verbs.LinkKind;

/** A node with a cable to a relay, and a network that it shares with the peer. */
@Timeout(60)
class RelaysBeforeSlowLinksTest {

    private static final long TIE = 7;

    private final ManualClock clock = new ManualClock();
    private final List<Path> ways = new ArrayList<>();
    private final Set<LocalLink> down = new HashSet<>();
    private final LocalLink cable = link("cable", "10.0.13.1/24", 10_000);
    private final PeerLink remote = peerLink("192.168.1.2/24");
    private final PeerDescription peer = new PeerDescription(OptionalInt.empty(), List.of(remote));

    @Test
    void aWayOverRelaysThatCarriesMoreGoesFirst() {
        CandidatePaths candidates = candidates(1_000);
        ways.add(relayed(10_000));

        assertThat(find(candidates)).containsExactly("cable", "shared");
        assertThat(candidates.now("b", peer, Set.of(), TIE))
                .map(path -> path.local().name())
                .containsExactly("cable", "shared");
    }

    @Test
    void oneThatDoesNotIsOnlyForFailures() {
        CandidatePaths candidates = candidates(5_000);
        ways.add(relayed(10_000)); // which takes two links

        assertThat(find(candidates)).containsExactly("shared");
        assertThat(candidates.now("b", peer, Set.of(), TIE))
                .map(path -> path.local().name())
                .containsExactly("shared", "cable");
    }

    /** It still has its address, and the speed that it would have. */
    @Test
    void aCableThatIsDownHidesNoRelay() {
        LocalLink pulled = link("pulled", "10.0.12.1/24", 10_000);
        PeerDescription both = new PeerDescription(OptionalInt.empty(), List.of(remote, peerLink("10.0.12.2/24")));
        CandidatePaths candidates = candidates(pulled, link("shared", "192.168.1.1/24", 1_000));
        down.add(pulled);
        ways.add(relayed(10_000));

        assertThat(candidates.find("b", both, Set.of(), TIE, () -> false, (_, _) -> {}))
                .map(path -> path.local().name())
                .containsExactly("cable", "pulled", "shared");
        assertThat(candidates.now("b", both, Set.of(), TIE))
                .map(path -> path.local().name())
                .containsExactly("cable", "pulled", "shared");
    }

    @Test
    void itIsWaitedForOnceAndNotForLong() {
        CandidatePaths candidates = candidates(1_000);
        int[] looks = {0};
        List<InetAddress> introduced = new ArrayList<>();

        List<Path> found = candidates.find(
                "b",
                peer,
                Set.of(),
                TIE,
                () -> {
                    looks[0]++;
                    clock.advance(Duration.ofSeconds(1));
                    return false;
                },
                (local, _) -> introduced.add(local));
        assertThat(found).map(path -> path.local().name()).containsExactly("shared");
        assertThat(looks[0]).isEqualTo(3);
        assertThat(introduced).hasSize(2).containsOnly(InetAddress.ofLiteral("192.168.1.1"));

        looks[0] = 0;
        assertThat(candidates.find("b", peer, Set.of(), TIE, () -> looks[0]++ > 0, (_, _) -> {}))
                .hasSize(1);
        assertThat(looks[0]).as("looks of the next connection").isEqualTo(1);
    }

    @Test
    void aWayThatIsKnownLaterIsTakenAsWell() {
        CandidatePaths candidates = candidates(1_000);

        List<Path> found = candidates.find(
                "b",
                peer,
                Set.of(),
                TIE,
                () -> {
                    ways.add(relayed(10_000));
                    return false;
                },
                (_, _) -> {});
        assertThat(found).map(path -> path.local().name()).containsExactly("cable", "shared");
    }

    private List<String> find(CandidatePaths candidates) {
        return candidates.find("b", peer, Set.of(), TIE, () -> false, (_, _) -> {}).stream()
                .map(path -> path.local().name())
                .toList();
    }

    private CandidatePaths candidates(int sharedMbps) {
        return candidates(link("shared", "192.168.1.1/24", sharedMbps));
    }

    private CandidatePaths candidates(LocalLink... others) {
        List<LocalLink> links =
                Stream.concat(Stream.of(cable), Stream.of(others)).toList();
        return new CandidatePaths(
                new RoutingTable(links, _ -> Optional.empty(), Map.of(), List.of()),
                new KnownWays(ways),
                link -> !down.contains(link),
                Duration.ofSeconds(20),
                clock);
    }

    private Path relayed(int mbps) {
        Reason reason = new Reason.Relayed(List.of("c"), Bandwidth.ofRelayed(mbps, 1), 0);
        return new Path("b", cable, remote, LinkKind.SOFTWARE, reason);
    }

    private static LocalLink link(String name, String address, int mbps) {
        InterfaceAddress parsed = InterfaceAddress.parse(address);
        Gid gid = Gid.of(parsed.address());
        return new LocalLink(name, LinkKind.SOFTWARE, name, 1, parsed, 0, gid, mbps, name, 1, 0);
    }

    private static PeerLink peerLink(String address) {
        InterfaceAddress parsed = InterfaceAddress.parse(address);
        return new PeerLink(parsed.address(), parsed.prefixLength(), 4711, Set.of(LinkKind.SOFTWARE));
    }

    private record KnownWays(List<Path> ways) implements Relays {

        @Override
        public List<Path> pathsTo(String peer, List<PeerLink> remotes, long tie) {
            return List.copyOf(ways);
        }

        @Override
        public Duration patience() {
            return Duration.ofSeconds(8);
        }

        @Override
        public String report(List<PeerLink> remotes) {
            return "";
        }

        @Override
        public String advice() {
            return "";
        }

        @Override
        public void opened(long communicator) {
            // nobody asks
        }

        @Override
        public void closed(long communicator) {
            // nobody asks
        }

        @Override
        public void drain() {
            // nothing is relayed
        }
    }
}
