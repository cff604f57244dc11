package trigon.transport.path;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import trigon.handshake.LifelineEnd;

class PathLossTest {

    private static final LifelineEnd SILENT = new LifelineEnd.Silent(Duration.ofMillis(20_100));
    private static final Optional<String> DOWN = Optional.of("interface c1 of this node is down");

    @Test
    void aPeerThatIsNotHeardOverALinkThatIsDownHereIsNotBlamed() {
        assertThat(new PathLoss.OfPeer("b", SILENT, DOWN).words())
                .contains("lost b", "20.1 s", "since interface c1 of this node is down")
                .doesNotContain("stopped");
        assertThat(new PathLoss.OfPeer("b", SILENT).words()).contains("its process is stopped");
    }

    @Test
    void whatThePeerSaysIsBelievedWhateverIsDown() {
        LifelineEnd broken = new LifelineEnd.Broken("connection reset");

        assertThat(new PathLoss.OfPeer("b", broken, DOWN).words())
                .contains("connection reset")
                .doesNotContain("c1");
    }
}
