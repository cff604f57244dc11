package trigon.transport.failover;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import trigon.routing.LocalLink;
import trigon.system.InterfaceAddress;
import trigon.transport.failover.search.PathPenalty;
import trigon.transport.testsupport.CapturedLog;
import trigon.verbs.Gid;
import trigon.verbs.LinkKind;

class PathHealthTest {

    private static final LocalLink FIRST = link("10.0.1.1/24");
    private static final LocalLink OTHER = link("10.0.2.1/24");

    private long now = 1;
    private final PathHealth health = new PathHealth(() -> now);

    private static LocalLink link(String text) {
        InterfaceAddress address = InterfaceAddress.parse(text);
        Gid gid = Gid.of(address.address());
        return new LocalLink("soft", LinkKind.SOFTWARE, "soft", 1, address, 0, gid, 10_000, "eth", 1, 0);
    }

    private void pass(Duration time) {
        now += time.toNanos();
    }

    @Test
    void aLinkThatHasFailedRestsForAWhile() {
        health.markFailed(FIRST, "b", "cut");

        assertThat(health.hasRested(FIRST, "b")).isFalse();
        assertThat(health.hasRested(FIRST, "c")).isTrue();
        assertThat(health.hasRested(OTHER, "b")).isTrue();
        pass(PathHealth.FIRST_REST);
        assertThat(health.hasRested(FIRST, "b")).isTrue();
    }

    @Test
    void eachFailureDuringTheRestBeginsItAnew() {
        health.markFailed(FIRST, "b", "cut");
        pass(PathHealth.FIRST_REST.dividedBy(2));
        health.markFailed(FIRST, "b", "cut");
        pass(PathHealth.FIRST_REST.dividedBy(2));

        assertThat(health.hasRested(FIRST, "b")).isFalse();
    }

    @Test
    void oneThatFailsSoonAgainRestsTwiceAsLong() {
        for (int rests : List.of(1, 2, 4, 8, 16, 32, 60, 60)) {
            health.markFailed(FIRST, "b", "flaps");
            pass(PathHealth.FIRST_REST.multipliedBy(rests).minusNanos(1));
            assertThat(health.hasRested(FIRST, "b")).as("%d rests", rests).isFalse();
            pass(Duration.ofNanos(1));
            assertThat(health.hasRested(FIRST, "b")).as("%d rests", rests).isTrue();
            health.markWell(FIRST, "b");
            pass(PathHealth.FIRST_REST);
        }
    }

    /** A cable that is cut fails for hundreds of connections, some of which have moved and come back meanwhile. */
    @Test
    void allThatFailsWithinASecondIsOneFailure() {
        for (int connection = 0; connection < 9; connection++) {
            health.markFailed(FIRST, "b", "cut");
            health.markWell(FIRST, "b");
            pass(Duration.ofMillis(100));
        }
        health.markFailed(FIRST, "b", "cut");
        pass(PathHealth.FIRST_REST);

        assertThat(health.hasRested(FIRST, "b")).isTrue();
    }

    @Test
    void oneThatFailsAgainAndAgainIsAvoidedWhileItRests() {
        for (int failures = 1; failures < 3; failures++) {
            health.markFailed(FIRST, "b", "loses what is long");
            assertThat(health.penalty(FIRST, "b")).isEqualTo(PathPenalty.NONE);
            health.markWell(FIRST, "b");
            pass(Duration.ofSeconds(1));
        }
        health.markFailed(FIRST, "b", "loses what is long");
        assertThat(health.penalty(FIRST, "b")).isEqualTo(PathPenalty.FAILS_OFTEN);
        health.markWell(FIRST, "b"); // another connection was about to move there

        assertThat(health.penalty(FIRST, "b")).isEqualTo(PathPenalty.FAILS_OFTEN);
        assertThat(health.hasRested(FIRST, "b")).isFalse();
        assertThat(health.penalty(FIRST, "c")).isEqualTo(PathPenalty.NONE);
        assertThat(health.penalty(OTHER, "b")).isEqualTo(PathPenalty.NONE);
        pass(PathHealth.AVOIDED);
        assertThat(health.penalty(FIRST, "b")).isEqualTo(PathPenalty.NONE);
        assertThat(health.hasRested(FIRST, "b")).isTrue();
    }

    /** Each time that it is tried it costs the connection a pause. */
    @Test
    void oneOverWhichNoPathComesUpIsAvoidedForLongerEachTime() {
        for (int rests : List.of(1, 2, 4, 8)) {
            health.markDead(FIRST, "b", "no answer");
            health.markDead(FIRST, "b", "no answer");
            pass(PathHealth.FIRST_REST.multipliedBy(rests).minusNanos(1));
            assertThat(health.penalty(FIRST, "b")).isEqualTo(PathPenalty.DEAD);
            assertThat(health.hasRested(FIRST, "b")).isFalse();
            pass(Duration.ofNanos(1));
            assertThat(health.penalty(FIRST, "b")).isEqualTo(PathPenalty.NONE);
            assertThat(health.hasRested(FIRST, "b")).isTrue();
        }
    }

    @Test
    void oneThatWasWellForLongBeginsAgain() {
        health.markFailed(FIRST, "b", "cut");
        pass(PathHealth.FIRST_REST);
        health.markWell(FIRST, "b");
        pass(Duration.ofMinutes(1));
        health.markFailed(FIRST, "b", "cut");
        pass(PathHealth.FIRST_REST);

        assertThat(health.hasRested(FIRST, "b")).isTrue();
    }

    /** However often it failed, or was silent, meanwhile. */
    @Test
    void theLogSaysHowLongItWasDown() {
        try (CapturedLog log = new CapturedLog()) {
            health.markFailed(FIRST, "b", "cut");
            pass(Duration.ofSeconds(5));
            health.markFailed(FIRST, "b", "cut");
            pass(Duration.ofSeconds(3));
            health.markSilent(FIRST, "b");
            pass(Duration.ofSeconds(3));
            health.markWell(FIRST, "b");
            health.markWell(FIRST, "b");

            assertThat(log.lines())
                    .containsExactly(
                            "WARN " + FIRST + ": path to b down: cut; failing over",
                            "INFO " + FIRST + ": path to b up again after 11000 ms");
        }
    }
}
