package trigon.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.stream.hop.HopDevices;
import trigon.system.InterfaceAddress;
import trigon.system.PortRange;
import trigon.testsupport.Await;

/** A relay with a defect: what its process, and its neighbours, get to know of it. */
@Timeout(300)
class RelayFailureTest extends RelayedNodes {

    private final AtomicBoolean defect = new AtomicBoolean();

    @Test
    void hasEndedOnceItIsClosed() throws IOException {
        Relay relay = open();
        assertThat(relay.hasEnded()).isFalse();
        relay.start();
        assertThat(relay.hasEnded()).isFalse();

        relay.close();
        assertThat(relay.hasEnded()).isTrue();
    }

    /** A relay without looks would go on, and end no circuit in time. */
    @Test
    void takesNoMoreCircuitsOnceItsLooksFail() throws IOException {
        Relay relay = open();
        relay.start();
        InetSocketAddress at = new InetSocketAddress("127.0.12.2", relay.port(InetAddress.ofLiteral("127.0.12.2")));
        ServerSocket end = listen("127.0.23.3");
        circuit(relay, "127.0.12.2", end);

        defect.set(true);
        relay.start(); // has it look

        Await.until("it has ended", relay::hasEnded);
        Await.until("nobody listens", () -> isRefused(at));
        Await.until("no circuit is left", () -> relay.counts().circuits() == 0);
    }

    private static boolean isRefused(InetSocketAddress at) {
        try (Socket _ = new Socket(at.getAddress(), at.getPort())) {
            return false;
        } catch (ConnectException _) {
            return true;
        } catch (IOException _) {
            return false;
        }
    }

    private Relay open() throws IOException {
        List<InterfaceAddress> links = List.of(
                new InterfaceAddress(InetAddress.ofLiteral("127.0.12.2"), 24),
                new InterfaceAddress(InetAddress.ofLiteral("127.0.23.2"), 24));
        Relay relay = Relay.open(
                new Admission(links, KEYS, (_, _) -> Optional.empty()),
                PortRange.ANY,
                RelayLimits.DEFAULT,
                new HopDevices(List.of(), 0),
                () -> {
                    if (defect.get()) {
                        throw new IllegalStateException("a defect of the test");
                    }
                    return clock.nanoTime();
                });
        open.add(relay);
        return relay;
    }
}
