package trigon.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.testsupport.Await;

/** A relay whose process is about to end. */
@Timeout(300)
class DrainTest extends RelayedNodes {

    private static final Duration LONG = Duration.ofDays(1);
    private static final Duration SHORT = Duration.ofSeconds(2);

    @Test
    void whatTheRelayHasTakenIsPassedOnBeforeItEnds() throws Exception {
        Relay relay = relay(RelayLimits.DEFAULT, "127.0.12.2", "127.0.23.2");
        ServerSocket end = listen("127.0.23.3");
        Socket client = circuit(relay, "127.0.12.2", end);
        Socket server = accept(end);
        byte[] sent = random(20_000_000, 5);
        Future<?> said = threads.submit(() -> say(client, sent));
        Await.until("something is passed on", () -> relay.counts().bytes() > 0);
        Future<Long> left = threads.submit(() -> relay.drain(LONG, LONG));
        assertThat(left).isNotDone();

        byte[] heard = server.getInputStream().readAllBytes();
        server.close();
        said.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        client.close();

        assertThat(heard).isEqualTo(sent);
        assertThat(left.get(PATIENCE_SECONDS, TimeUnit.SECONDS)).isZero();
    }

    @Test
    void aCircuitThatIsOnlyKeptOpenIsNotWaitedForLong() throws Exception {
        Relay relay = relay(RelayLimits.DEFAULT, "127.0.12.2", "127.0.23.2");
        ServerSocket end = listen("127.0.23.3");
        circuit(relay, "127.0.12.2", end);
        accept(end);

        assertThat(leftAfterTime(relay, SHORT, LONG)).isEqualTo(1);
    }

    @Test
    void aCircuitThatDoesNotEndIsNotWaitedForLong() throws Exception {
        Relay relay = relay(RelayLimits.DEFAULT, "127.0.12.2", "127.0.23.2");
        ServerSocket end = listen("127.0.23.3");
        Socket client = circuit(relay, "127.0.12.2", end);
        Socket server = accept(end);
        Future<Long> heard = threads.submit(() -> server.getInputStream().transferTo(OutputStream.nullOutputStream()));
        Future<?> said = threads.submit(() -> sayWithoutEnd(client));
        Await.until("something is passed on", () -> relay.counts().bytes() > 0);

        assertThat(leftAfterTime(relay, LONG, SHORT)).isEqualTo(1);
        assertThat(said).isNotDone();
        assertThat(heard).isNotDone();
    }

    /** The time goes on as long as somebody waits, from whenever that begins. */
    private long leftAfterTime(Relay relay, Duration quiet, Duration most) throws Exception {
        Future<Long> left = threads.submit(() -> relay.drain(quiet, most));
        Await.until("the relay waits no longer", () -> {
            clock.advance(SHORT);
            return left.isDone();
        });
        return left.get();
    }

    private static Object sayWithoutEnd(Socket client) throws IOException {
        while (true) {
            client.getOutputStream().write(new byte[1000]);
        }
    }

    @Test
    void withoutCircuitsThereIsNothingToWaitFor() throws Exception {
        assertThat(relay(RelayLimits.DEFAULT, "127.0.12.2").drain(LONG, LONG)).isZero();
    }
}
