package trigon.relay.mesh;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import trigon.routing.PeerLink;
import trigon.system.InterfaceAddress;
import trigon.verbs.LinkKind;

class RouteBalancerTest {

    /** A route by its relay and by its first link. */
    private record Candidate(String relay, String link) {}

    private static final List<Function<Candidate, Object>> TRAITS = List.of(Candidate::relay, Candidate::link);
    private static final List<Candidate> TWO_RELAYS_WITH_TWINS = List.of(
            new Candidate("b", "b1"), new Candidate("b", "b2"), new Candidate("d", "d1"), new Candidate("d", "d2"));

    private static final InterfaceAddress A = InterfaceAddress.parse("10.0.12.1/24");
    private static final InterfaceAddress C = InterfaceAddress.parse("10.0.23.3/24");

    @Test
    void eightConnectionsOverTwoRelaysAndTwoTwinsAreTwoEach() {
        RouteBalancer balancer = new RouteBalancer(0);
        Map<String, Integer> counts = new TreeMap<>();
        for (long connection = 0; connection < 8; connection++) {
            int turn = balancer.turn(A, at(C), connection * 0x9E3779B97F4A7C15L);
            counts.merge(
                    RouteBalancer.inTurn(TWO_RELAYS_WITH_TWINS, TRAITS, turn)
                            .getFirst()
                            .link(),
                    1,
                    Integer::sum);
        }
        assertThat(counts).isEqualTo(Map.of("b1", 2, "b2", 2, "d1", 2, "d2", 2));
    }

    @Test
    void neighboursInTheListShareNoRelay() {
        List<Candidate> listed = RouteBalancer.inTurn(TWO_RELAYS_WITH_TWINS, TRAITS, 0);

        assertThat(listed).containsExactlyInAnyOrderElementsOf(TWO_RELAYS_WITH_TWINS);
        assertThat(listed).extracting(Candidate::relay).containsExactly("b", "d", "b", "d");
        assertThat(listed).extracting(Candidate::link).containsExactly("b1", "d1", "b2", "d2");
    }

    @Test
    void theTwoDirectionsBeginAtDifferentRelays() {
        int forth = new RouteBalancer(0).turn(A, at(C), 1);
        int back = new RouteBalancer(0).turn(C, at(A), 1);

        assertThat(RouteBalancer.inTurn(TWO_RELAYS_WITH_TWINS, TRAITS, forth)
                        .getFirst()
                        .relay())
                .isEqualTo("b");
        assertThat(RouteBalancer.inTurn(TWO_RELAYS_WITH_TWINS, TRAITS, back)
                        .getFirst()
                        .relay())
                .isEqualTo("d");
    }

    @Test
    void aConnectionThatLooksAgainFindsTheSameWayFirst() {
        RouteBalancer balancer = new RouteBalancer(0);
        int first = balancer.turn(A, at(C), 17);
        assertThat(balancer.turn(A, at(C), 18)).isEqualTo(first + 1);
        assertThat(balancer.turn(A, at(C), 17)).isEqualTo(first);
    }

    @Test
    void eachPeerIsCountedByItself() {
        RouteBalancer balancer = new RouteBalancer(0);
        int first = balancer.turn(A, at(C), 17);
        assertThat(balancer.turn(A, at(InterfaceAddress.parse("10.0.34.4/24")), 18))
                .isEqualTo(first);
    }

    @Test
    void processesOfANodeBeginAtDifferentRelays() {
        List<String> first = new ArrayList<>();
        for (int process = 0; process < 4; process++) {
            int turn = new RouteBalancer(process).turn(A, at(C), 17L * process);
            first.add(RouteBalancer.inTurn(TWO_RELAYS_WITH_TWINS, TRAITS, turn)
                    .getFirst()
                    .link());
        }
        assertThat(first).containsExactly("b1", "d1", "b2", "d2");
    }

    @Test
    void forgetsTheConnectionThatWasAskedForLongestAgo() {
        RouteBalancer balancer = new RouteBalancer(0);
        for (long connection = 0; connection < 100_000; connection++) {
            balancer.turn(A, at(C), connection);
            assertThat(balancer.turn(A, at(C), 0)).isZero();
        }
        assertThat(balancer.turn(A, at(C), 99_999)).isEqualTo(99_999);
        assertThat(balancer.turn(A, at(C), 1)).as("it was forgotten").isEqualTo(100_000);
    }

    @Test
    void manyWaysAreAllListed() {
        List<Candidate> many = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            many.add(new Candidate("r" + i, "l" + i % 7));
        }
        assertThat(RouteBalancer.inTurn(many, TRAITS, 12345)).containsExactlyInAnyOrderElementsOf(many);
        assertThat(RouteBalancer.inTurn(List.of(), TRAITS, 3)).isEmpty();
    }

    private static List<PeerLink> at(InterfaceAddress address) {
        InetAddress peer = address.address();
        return List.of(new PeerLink(peer, address.prefixLength(), 7, Set.of(LinkKind.SOFTWARE)));
    }
}
