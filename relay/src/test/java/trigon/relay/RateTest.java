package trigon.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.testsupport.Await;

/** What passes a relay with a limit. */
@Timeout(300)
class RateTest extends RelayedNodes {

    private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);

    @Test
    void onlyTheTimeThatWasWaitedIsPaid() {
        Allowance allowance = new Allowance(1_000_000);
        allowance.spent(64_000_000); // of many circuits at once
        for (int i = 0; i < 639; i++) {
            allowance.waited(100 * MILLI);
            assertThat(allowance.owedNanos()).isPositive();
        }
        allowance.waited(100 * MILLI);
        assertThat(allowance.owedNanos()).isLessThanOrEqualTo(MILLI);
    }

    @Test
    void noMorePassesInATimeThanTheLimitAndOneRound() {
        long round = 3_000_000;
        long rate = 1_000_000;
        Allowance allowance = new Allowance(rate);
        long bytes = 0;
        long nanos = 0;
        while (nanos < TimeUnit.SECONDS.toNanos(100)) {
            if (allowance.owedNanos() == 0) {
                allowance.spent(round);
                bytes += round;
            }
            long wait = Math.min(allowance.owedNanos(), 100 * MILLI);
            allowance.waited(wait);
            nanos += wait;
        }
        assertThat(bytes).isBetween(100 * rate - round, 100 * rate + round);
    }

    @Test
    void aLongWaitIsNotSavedUpAndNoLimitOwesNothing() {
        Allowance allowance = new Allowance(1000);
        allowance.waited(TimeUnit.HOURS.toNanos(1));
        allowance.spent(1);
        assertThat(allowance.owedNanos()).isEqualTo(MILLI);

        Allowance unlimited = new Allowance(0);
        unlimited.spent(Long.MAX_VALUE);
        assertThat(unlimited.owedNanos()).isZero();
    }

    /** One slot at a byte per second is hours. In them it takes and refuses connections, and passes on nothing. */
    @Test
    void whileALotIsOwedNothingPassesAndDeadlinesAreKept() throws Exception {
        RelayLimits limits = RelayLimits.DEFAULT.withBytesPerSecond(1);
        Relay relay = relay(limits, "127.0.12.2", "127.0.23.2");
        ServerSocket end = listen("127.0.23.3");
        Socket client = circuit(relay, "127.0.12.2", end);
        accept(end);
        var _ = threads.submit(() -> say(client, new byte[1 << 20]));
        Await.until("something is passed on", () -> relay.counts().bytes() > 0);

        circuit(relay, "127.0.12.2", end);
        Socket silent = connect(relay, "127.0.12.2");
        Await.until("it is taken", () -> relay.counts().strangers() == 1);
        clock.advance(limits.requestTime());
        assertThat(silent.getInputStream().readAllBytes()).hasSizeGreaterThan(24);
        assertThat(relay.counts().bytes()).isLessThanOrEqualTo(RelayLimits.SLOT_BYTES);
    }
}
