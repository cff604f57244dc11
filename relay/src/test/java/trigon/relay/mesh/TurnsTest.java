package trigon.relay.mesh;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import trigon.routing.PeerLink;
import trigon.system.InterfaceAddress;
import trigon.verbs.LinkKind;

class TurnsTest {

    private static final InterfaceAddress A = InterfaceAddress.parse("10.0.12.1/24");
    private static final InterfaceAddress C = InterfaceAddress.parse("10.0.23.3/24");

    @Test
    void theTwoDirectionsBeginAtDifferentRoutes() {
        assertThat(new Turns(0).turn(A, at(C), 1)).isZero();
        assertThat(new Turns(0).turn(C, at(A), 1)).isEqualTo(1);
    }

    @Test
    void aConnectionThatLooksAgainFindsTheSameWayFirst() {
        Turns turns = new Turns(0);
        int first = turns.turn(A, at(C), 17);
        assertThat(turns.turn(A, at(C), 18)).isEqualTo(first + 1);
        assertThat(turns.turn(A, at(C), 17)).isEqualTo(first);
    }

    @Test
    void eachPeerIsCountedByItself() {
        Turns turns = new Turns(0);
        int first = turns.turn(A, at(C), 17);
        assertThat(turns.turn(A, at(InterfaceAddress.parse("10.0.34.4/24")), 18))
                .isEqualTo(first);
    }

    @Test
    void processesOfANodeBeginAtDifferentRoutes() {
        for (int process = 0; process < 4; process++) {
            assertThat(new Turns(process).turn(A, at(C), 17L * process)).isEqualTo(process);
        }
    }

    @Test
    void forgetsTheConnectionThatWasAskedForLongestAgo() {
        Turns turns = new Turns(0);
        for (long connection = 0; connection < 100_000; connection++) {
            turns.turn(A, at(C), connection);
            assertThat(turns.turn(A, at(C), 0)).isZero();
        }
        assertThat(turns.turn(A, at(C), 99_999)).isEqualTo(99_999);
        assertThat(turns.turn(A, at(C), 1)).as("it was forgotten").isEqualTo(100_000);
    }

    private static List<PeerLink> at(InterfaceAddress address) {
        return List.of(new PeerLink(address.address(), address.prefixLength(), 7, Set.of(LinkKind.SOFTWARE)));
    }
}
