package trigon.transport.failover.search;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import org.junit.jupiter.api.Test;
import trigon.handshake.message.ConnectionId;
import trigon.handshake.message.ConnectionSecret;
import trigon.handshake.message.LinkAddress;
import trigon.testsupport.ManualClock;
import trigon.transport.connect.Counterpart;
import trigon.transport.testsupport.CapturedLog;
import trigon.verbs.LinkKind;

class PeersTest {

    private static final Found ALIVE = new Found(List.of(SimulatedNetwork.IN_USE), false, false);
    private static final Found KERNEL = new Found(List.of(), false, true);
    private static final Found SILENCE = new Found(List.of(), false, false);
    private static final Found REFUSED = new Found(List.of(), true, false);

    private static final Duration SECOND = Duration.ofSeconds(1);

    private final ManualClock clock = new ManualClock();
    private final Peers peers = new Peers(Duration.ofSeconds(20), Duration.ofMinutes(10), clock);
    private final Counterpart first = connection(7000);
    private final Counterpart second = connection(7000);
    private final Counterpart other = connection(7001);

    private static Counterpart connection(int port) {
        LinkAddress listener =
                new LinkAddress(InetAddress.ofLiteral("10.0.0.2"), 24, port, Set.of(LinkKind.SOFTWARE), 3);
        return new Counterpart(
                "b",
                OptionalInt.empty(),
                List.of(listener),
                false,
                ConnectionId.random(),
                ConnectionSecret.random(),
                0);
    }

    private boolean observe(Counterpart connection, Found found) {
        return peers.observe(connection, false, found, () -> "");
    }

    /** True if it is lost at any time of so many seconds, in which one finds that each second. */
    private boolean isLostWithin(int seconds, Counterpart connection, Found found) {
        boolean lost = observe(connection, found);
        for (int second = 0; second < seconds && !lost; second++) {
            clock.advance(SECOND);
            lost = observe(connection, found);
        }
        return lost;
    }

    @Test
    void isLostOnceNobodyHasAnsweredForLongerThanThePeerTimeout() {
        assertThat(isLostWithin(20, first, SILENCE)).isFalse();
        assertThat(isLostWithin(1, first, SILENCE)).isTrue();
    }

    @Test
    void anAnswerToOneConnectionCountsForAll() {
        assertThat(isLostWithin(15, first, SILENCE)).isFalse();
        assertThat(observe(second, ALIVE)).isFalse();
        assertThat(isLostWithin(15, first, SILENCE)).isFalse();
    }

    @Test
    void otherProcessesAndOtherClassesAreJudgedApart() {
        assertThat(isLostWithin(15, first, SILENCE)).isFalse();
        assertThat(observe(other, ALIVE)).isFalse();
        assertThat(peers.observe(first, true, ALIVE, () -> "")).isFalse();
        assertThat(isLostWithin(6, first, SILENCE)).isTrue();
    }

    @Test
    void aStoppedProcessIsWaitedForAsLongAsItsKernelAnswers() {
        assertThat(isLostWithin(600, first, KERNEL)).isFalse();
        assertThat(isLostWithin(1, first, KERNEL)).isTrue();
    }

    @Test
    void whatIsNotAskedForWantOfProcessorTimeDoesNotCount() {
        assertThat(isLostWithin(15, first, SILENCE)).isFalse();
        clock.advance(Duration.ofMinutes(5));
        assertThat(isLostWithin(5, first, SILENCE)).isFalse();
        assertThat(isLostWithin(1, first, SILENCE)).isTrue();
    }

    @Test
    void theLogSaysOnceForAllConnectionsThatNoPathIsUpAndOnceThatOneIs() {
        try (CapturedLog log = new CapturedLog()) {
            var _ = isLostWithin(5, first, SILENCE);
            var _ = isLostWithin(5, second, SILENCE);
            var _ = observe(first, ALIVE);
            var _ = observe(second, ALIVE);

            assertThat(log.lines())
                    .containsExactly(
                            "WARN no path to b is up: its connections wait for one until handshake.peerTimeout",
                            "INFO b answers again, after 10000 ms");
        }
    }

    @Test
    void theLogSaysNothingOfAProcessThatRefusesSinceItsConnectionsEndWithIt() {
        try (CapturedLog log = new CapturedLog()) {
            assertThat(isLostWithin(5, first, REFUSED)).isFalse();
            assertThat(log.lines()).isEmpty();
        }
    }

    @Test
    void processesOfWhichNobodyAsksAreForgotten() {
        for (int port = 1; port <= 1000; port++) {
            var _ = observe(connection(port), SILENCE);
            clock.advance(SECOND);
        }

        assertThat(peers.size()).isLessThan(70);
    }
}
