package trigon.transport.failover;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import trigon.config.InterfaceAddress;
import trigon.routing.LocalLink;
import trigon.routing.Path;
import trigon.routing.PeerLink;
import trigon.routing.Reason;
import trigon.verbs.Gid;
import trigon.verbs.LinkKind;

class LatestPathsTest {

    private final LatestPaths latest = new LatestPaths();
    private final Path one = path(1);
    private final Path two = path(2);

    @Test
    void nothingIsAgainstTheFirstPaths() {
        assertThat(latest.fruitless(List.of(one), 0)).isEmpty();
    }

    @Test
    void pathsThatMessagesHaveGotAcrossAreTakenAgain() {
        latest.are(List.of(one), 7);

        assertThat(latest.fruitless(List.of(one), 8)).isEmpty();
    }

    @Test
    void pathsThatNothingHasGotAcrossAreLeftOutOnce() {
        latest.are(List.of(one, two), 7);

        assertThat(latest.fruitless(List.of(two), 7)).isEqualTo(Set.of(one, two));
        assertThat(latest.fruitless(List.of(two), 7)).isEmpty();
    }

    @Test
    void othersAreTakenAtOnce() {
        latest.are(List.of(one), 7);

        assertThat(latest.fruitless(List.of(two), 7)).isEmpty();
    }

    private static Path path(int number) {
        InterfaceAddress here = InterfaceAddress.parse("10.0.%d.1/24".formatted(number));
        InterfaceAddress there = InterfaceAddress.parse("10.0.%d.2/24".formatted(number));
        String device = "soft_" + number;
        LocalLink link = new LocalLink(
                device,
                LinkKind.SOFTWARE,
                device,
                1,
                here,
                0,
                Gid.of(here.address()),
                10_000,
                "eth" + number,
                number,
                number);
        PeerLink peer = new PeerLink(there.address(), 24, 4711, Set.of(LinkKind.SOFTWARE));
        return new Path("b", link, peer, LinkKind.SOFTWARE, new Reason.SameSubnet(24));
    }
}
