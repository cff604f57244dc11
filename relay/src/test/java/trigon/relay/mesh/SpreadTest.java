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

class SpreadTest {

    /** A way by its relay and by its first link. */
    private record Way(String relay, String link) {}

    private static final List<Function<Way, Object>> TRAITS = List.of(Way::relay, Way::link);
    private static final List<Way> TWO_RELAYS_WITH_TWINS =
            List.of(new Way("b", "b1"), new Way("b", "b2"), new Way("d", "d1"), new Way("d", "d2"));

    private static final InterfaceAddress A = InterfaceAddress.parse("10.0.12.1/24");
    private static final InterfaceAddress C = InterfaceAddress.parse("10.0.23.3/24");

    @Test
    void eightConnectionsOverTwoRelaysAndTwoTwinsAreTwoEach() {
        Spread spread = new Spread(0);
        Map<String, Integer> counts = new TreeMap<>();
        for (long connection = 0; connection < 8; connection++) {
            int turn = spread.turn(A, at(C), connection * 0x9E3779B97F4A7C15L);
            counts.merge(
                    Spread.inTurn(TWO_RELAYS_WITH_TWINS, TRAITS, turn)
                            .getFirst()
                            .link(),
                    1,
                    Integer::sum);
        }
        assertThat(counts).isEqualTo(Map.of("b1", 2, "b2", 2, "d1", 2, "d2", 2));
    }

    @Test
    void neighboursInTheListShareNoRelay() {
        List<Way> listed = Spread.inTurn(TWO_RELAYS_WITH_TWINS, TRAITS, 0);

        assertThat(listed).containsExactlyInAnyOrderElementsOf(TWO_RELAYS_WITH_TWINS);
        assertThat(listed).extracting(Way::relay).containsExactly("b", "d", "b", "d");
        assertThat(listed).extracting(Way::link).containsExactly("b1", "d1", "b2", "d2");
    }

    @Test
    void theTwoDirectionsBeginAtDifferentRelays() {
        int forth = new Spread(0).turn(A, at(C), 1);
        int back = new Spread(0).turn(C, at(A), 1);

        assertThat(Spread.inTurn(TWO_RELAYS_WITH_TWINS, TRAITS, forth)
                        .getFirst()
                        .relay())
                .isEqualTo("b");
        assertThat(Spread.inTurn(TWO_RELAYS_WITH_TWINS, TRAITS, back).getFirst().relay())
                .isEqualTo("d");
    }

    @Test
    void aConnectionThatLooksAgainFindsTheSameWayFirst() {
        Spread spread = new Spread(0);
        int first = spread.turn(A, at(C), 17);
        assertThat(spread.turn(A, at(C), 18)).isEqualTo(first + 1);
        assertThat(spread.turn(A, at(C), 17)).isEqualTo(first);
    }

    @Test
    void eachPeerIsCountedByItself() {
        Spread spread = new Spread(0);
        int first = spread.turn(A, at(C), 17);
        assertThat(spread.turn(A, at(InterfaceAddress.parse("10.0.34.4/24")), 18))
                .isEqualTo(first);
    }

    @Test
    void processesOfANodeBeginAtDifferentRelays() {
        List<String> first = new ArrayList<>();
        for (int process = 0; process < 4; process++) {
            int turn = new Spread(process).turn(A, at(C), 17L * process);
            first.add(Spread.inTurn(TWO_RELAYS_WITH_TWINS, TRAITS, turn)
                    .getFirst()
                    .link());
        }
        assertThat(first).containsExactly("b1", "d1", "b2", "d2");
    }

    @Test
    void forgetsTheConnectionThatWasAskedForLongestAgo() {
        Spread spread = new Spread(0);
        for (long connection = 0; connection < 100_000; connection++) {
            spread.turn(A, at(C), connection);
            assertThat(spread.turn(A, at(C), 0)).isZero();
        }
        assertThat(spread.turn(A, at(C), 99_999)).isEqualTo(99_999);
        assertThat(spread.turn(A, at(C), 1)).as("it was forgotten").isEqualTo(100_000);
    }

    @Test
    void manyWaysAreAllListed() {
        List<Way> many = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            many.add(new Way("r" + i, "l" + i % 7));
        }
        assertThat(Spread.inTurn(many, TRAITS, 12345)).containsExactlyInAnyOrderElementsOf(many);
        assertThat(Spread.inTurn(List.of(), TRAITS, 3)).isEmpty();
    }

    private static List<PeerLink> at(InterfaceAddress address) {
        InetAddress peer = address.address();
        return List.of(new PeerLink(peer, address.prefixLength(), 7, Set.of(LinkKind.SOFTWARE)));
    }
}
