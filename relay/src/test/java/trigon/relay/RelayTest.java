package trigon.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.stream.Conversation.Step;
import trigon.stream.circuit.CircuitKeys;
import trigon.stream.circuit.CircuitOpening;
import trigon.stream.circuit.CircuitRequest;
import trigon.testsupport.Await;

/** What a relay passes on, and what it refuses. */
@Timeout(300)
class RelayTest extends RelayedNodes {

    /** The second is one of documentation: nobody can listen there. */
    @Test
    void anAddressThatHasGoneIsLeftOutUnlessItIsTheLast() throws IOException {
        Relay relay = relay(RelayLimits.DEFAULT, "127.0.12.2", "192.0.2.1");

        assertThat(relay.port(InetAddress.ofLiteral("127.0.12.2"))).isPositive();
        assertThat(relay.port(InetAddress.ofLiteral("192.0.2.1"))).isZero();
        assertThatThrownBy(() -> relay(RelayLimits.DEFAULT, "192.0.2.1"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("the relay cannot listen on 192.0.2.1, any port");
    }

    @Test
    void passesOnBothDirectionsAndTheirEnds() throws Exception {
        Relay relay = relay(RelayLimits.DEFAULT, "127.0.12.2", "127.0.23.2");
        ServerSocket end = listen("127.0.23.3");
        Socket client = circuit(relay, "127.0.12.2", end);
        Socket server = accept(end);

        byte[] there = random(3_000_000, 1);
        byte[] back = random(2_000_000, 2);
        Future<byte[]> heardThere = read(server);
        Future<byte[]> heardBack = read(client);
        Future<?> sentBack = threads.submit(() -> say(server, back));
        say(client, there);
        sentBack.get(PATIENCE_SECONDS, TimeUnit.SECONDS);

        assertThat(heardThere.get(PATIENCE_SECONDS, TimeUnit.SECONDS)).isEqualTo(there);
        assertThat(heardBack.get(PATIENCE_SECONDS, TimeUnit.SECONDS)).isEqualTo(back);
        Await.until("no circuit is left", () -> relay.counts().circuits() == 0);
        assertThat(relay.counts().bytes()).isEqualTo(there.length + back.length);
        assertThat(relay.counts().slotBytes()).isEqualTo(32L * RelayLimits.SLOT_BYTES);
    }

    @Test
    void goesOverSeveralRelays() throws Exception {
        Relay first = relay(RelayLimits.DEFAULT, "127.0.12.2", "127.0.23.2");
        Relay second = relay(RelayLimits.DEFAULT, "127.0.23.3", "127.0.34.3");
        ServerSocket end = listen("127.0.34.4");
        List<InetSocketAddress> hops =
                List.of(new InetSocketAddress("127.0.23.3", second.port(InetAddress.ofLiteral("127.0.23.3"))), at(end));
        Socket client = circuit(first, "127.0.12.2", new CircuitRequest(hops), KEYS);
        Socket server = accept(end);
        Future<byte[]> heard = read(server);
        say(client, random(100_000, 3));

        assertThat(heard.get(PATIENCE_SECONDS, TimeUnit.SECONDS)).isEqualTo(random(100_000, 3));
    }

    @Test
    void aBrokenEndBreaksTheOther() throws Exception {
        Relay relay = relay(RelayLimits.DEFAULT, "127.0.12.2", "127.0.23.2");
        ServerSocket end = listen("127.0.23.3");
        Socket client = circuit(relay, "127.0.12.2", end);
        Socket server = accept(end);
        server.setSoLinger(true, 0);
        server.close();

        assertThatThrownBy(() -> {
                    while (client.getInputStream().read() >= 0) {
                        client.getOutputStream().write(1);
                    }
                    throw new AssertionError("it ended as if all had been said");
                })
                .isInstanceOf(IOException.class);
    }

    @Test
    void refusesWithAReason() throws Exception {
        Relay relay = relay(RelayLimits.DEFAULT, "127.0.12.2", "127.0.23.2");
        ServerSocket end = listen("127.0.23.3");
        ServerSocket elsewhere = listen("127.0.99.1");
        ServerSocket closed = listen("127.0.23.3");
        closed.close();
        CircuitKeys stranger = new CircuitKeys(Optional.of(new byte[] {8}));

        assertThat(refusal(relay, new CircuitRequest(List.of(at(end))), stranger))
                .startsWith("DENIED: ")
                .contains("the cluster key");
        assertThat(refusal(relay, new CircuitRequest(List.of(at(elsewhere))), KEYS))
                .startsWith("DENIED: ")
                .contains("not on any of the relay's links");
        assertThat(refusal(relay, new CircuitRequest(List.of(new InetSocketAddress("127.0.23.2", 80))), KEYS))
                .contains("own address");
        assertThat(refusal(relay, new CircuitRequest(List.of(at(closed))), KEYS))
                .startsWith("END_REFUSED: ")
                .contains("cannot be reached");
        assertThat(relay.counts().refused()).isEqualTo(4);
        Await.until("no circuit is left", () -> relay.counts().circuits() == 0);
    }

    @Test
    void takesNoMoreCircuitsThanItMay() throws Exception {
        Relay relay = relay(RelayLimits.DEFAULT.withCircuits(2), "127.0.12.2", "127.0.23.2");
        ServerSocket end = listen("127.0.23.3");
        Socket one = circuit(relay, "127.0.12.2", end);
        circuit(relay, "127.0.12.2", end);
        assertThat(refusal(relay, new CircuitRequest(List.of(at(end))), KEYS))
                .startsWith("FULL: ")
                .contains("its maximum of circuits");

        one.close();
        accept(end).close();
        Await.until("one circuit has ended", () -> relay.counts().circuits() == 1);
        circuit(relay, "127.0.12.2", end);
    }

    /** What opened a circuit opens no other one: each connection has a nonce of its own. */
    @Test
    void aRecordedRequestIsRefused() throws Exception {
        Relay relay = relay(RelayLimits.DEFAULT, "127.0.12.2", "127.0.23.2");
        ServerSocket end = listen("127.0.23.3");
        ByteArrayOutputStream recorded = new ByteArrayOutputStream();
        try (Socket socket = connect(relay, "127.0.12.2")) {
            CircuitOpening opening = new CircuitOpening(new CircuitRequest(List.of(at(end))), KEYS);
            assertThat(say(socket, opening, recorded)).isEqualTo(new Step.Open());
        }
        accept(end).close();
        assertThat(recorded.size()).isPositive();
        Await.until("no circuit is left", () -> relay.counts().circuits() == 0);

        try (Socket socket = connect(relay, "127.0.12.2")) {
            socket.getOutputStream().write(recorded.toByteArray());
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(answer).contains("the cluster key");
        }
        assertThat(relay.counts().opened()).isEqualTo(1);
        Await.until("it is counted", () -> relay.counts().refused() == 1);
    }

    @Test
    void whoSaysNothingIsClosedInTime() throws Exception {
        Relay relay = relay(RelayLimits.DEFAULT, "127.0.12.2", "127.0.23.2");
        Socket silent = connect(relay, "127.0.12.2");
        Await.until("it is taken", () -> relay.counts().strangers() == 1);

        clock.advance(RelayLimits.DEFAULT.requestTime());

        assertThat(silent.getInputStream().readAllBytes()).hasSizeGreaterThan(24);
    }

    /** Four nodes in a ring, each relaying for its neighbours' pairs in both directions, all at full load. */
    @Test
    void everyNodeRelaysForEveryOtherAtFullLoad() throws Exception {
        int nodes = 4;
        List<Relay> relays = new ArrayList<>();
        for (int node = 0; node < nodes; node++) {
            int before = (node + nodes - 1) % nodes;
            relays.add(relay(RelayLimits.DEFAULT, "127.1.%d.2".formatted(before), "127.1.%d.1".formatted(node)));
        }
        byte[] text = random(8 << 20, 9);
        List<Future<byte[]>> heard = new ArrayList<>();
        List<Future<?>> said = new ArrayList<>();
        for (int node = 0; node < nodes; node++) { // from node to node + 2, over node + 1
            int over = (node + 1) % nodes;
            for (int i = 0; i < 8; i++) {
                ServerSocket end = listen("127.1.%d.2".formatted(over));
                Socket client = circuit(relays.get(over), "127.1.%d.2".formatted(node), end);
                Socket server = accept(end);
                heard.add(read(server));
                heard.add(read(client));
                said.add(threads.submit(() -> say(client, text)));
                said.add(threads.submit(() -> say(server, text)));
            }
        }
        for (Future<?> each : said) {
            each.get(2 * PATIENCE_SECONDS, TimeUnit.SECONDS);
        }
        for (Future<byte[]> each : heard) {
            assertThat(each.get(2 * PATIENCE_SECONDS, TimeUnit.SECONDS)).isEqualTo(text);
        }
        for (Relay relay : relays) {
            Await.until("no circuit is left", () -> relay.counts().circuits() == 0);
            assertThat(relay.counts().bytes()).isEqualTo(16L * text.length);
        }
    }

    /** One receiver does not read; the others on the same relay go on. */
    @Test
    void aReceiverThatDoesNotReadHoldsUpItsOwnSenderOnly() throws Exception {
        Relay relay = relay(RelayLimits.DEFAULT, "127.0.12.2", "127.0.23.2");
        ServerSocket end = listen("127.0.23.3");
        Socket stuck = circuit(relay, "127.0.12.2", end);
        accept(end);
        var _ = threads.submit(() -> say(stuck, new byte[64 << 20]));
        Socket client = circuit(relay, "127.0.12.2", end);
        Socket server = accept(end);
        Future<byte[]> heard = read(server);
        say(client, random(16 << 20, 4));

        assertThat(heard.get(PATIENCE_SECONDS, TimeUnit.SECONDS)).hasSize(16 << 20);
        assertThat(relay.counts().slotBytes()).isEqualTo(32L * RelayLimits.SLOT_BYTES);
        stuck.close();
    }
}
