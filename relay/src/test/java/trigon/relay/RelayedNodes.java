package trigon.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import trigon.stream.Conversation.Step;
import trigon.stream.circuit.CircuitKeys;
import trigon.stream.circuit.CircuitOpening;
import trigon.stream.circuit.CircuitRequest;
import trigon.stream.hop.HopDevices;
import trigon.system.InterfaceAddress;
import trigon.system.PortRange;
import trigon.testsupport.Await;
import trigon.testsupport.ManualClock;

/** Nodes on the loopback: 127.0.12.0/24 is the cable between nodes 1 and 2, and so on. What is opened is closed. */
abstract class RelayedNodes {

    static final CircuitKeys KEYS = new CircuitKeys(Optional.of(new byte[] {7}));

    /** Of waits for what other threads do: it only shows when something is broken. */
    static final long PATIENCE_SECONDS = Await.DEADLINE.toSeconds();

    static final int PATIENCE_MILLIS = (int) Await.DEADLINE.toMillis();

    /** The relays': their deadlines come when a test says so. */
    final ManualClock clock = new ManualClock();

    final List<AutoCloseable> open = new ArrayList<>();
    final ExecutorService threads = Executors.newCachedThreadPool();

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable each : open.reversed()) {
            each.close();
        }
        threads.shutdownNow();
        assertThat(threads.awaitTermination(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
    }

    final Relay relay(RelayLimits limits, String... addresses) throws IOException {
        List<InterfaceAddress> links = new ArrayList<>();
        for (String address : addresses) {
            links.add(new InterfaceAddress(InetAddress.ofLiteral(address), 24));
        }
        Relay relay = Relay.open(
                new Admission(links, KEYS, (_, _) -> Optional.empty()),
                PortRange.ANY,
                limits,
                new HopDevices(List.of(), 0),
                clock);
        open.add(relay);
        relay.start();
        return relay;
    }

    final ServerSocket listen(String address) throws IOException {
        ServerSocket end = new ServerSocket(0, 50, InetAddress.ofLiteral(address));
        open.add(end);
        return end;
    }

    final Socket accept(ServerSocket end) throws IOException {
        end.setSoTimeout(PATIENCE_MILLIS);
        Socket socket = end.accept();
        open.add(socket);
        socket.setSoTimeout(PATIENCE_MILLIS);
        return socket;
    }

    static InetSocketAddress at(ServerSocket end) {
        return new InetSocketAddress(end.getInetAddress(), end.getLocalPort());
    }

    /** A connection on which nothing has been said. */
    final Socket connect(Relay relay, String address) throws IOException {
        InetAddress at = InetAddress.ofLiteral(address);
        return connect(new InetSocketAddress(at, relay.port(at)));
    }

    final Socket connect(InetSocketAddress relay) throws IOException {
        Socket socket = new Socket(relay.getAddress(), relay.getPort());
        open.add(socket);
        socket.setSoTimeout(PATIENCE_MILLIS);
        return socket;
    }

    final Socket circuit(Relay relay, String address, ServerSocket end) throws IOException {
        return circuit(relay, address, new CircuitRequest(List.of(at(end))), KEYS);
    }

    final Socket circuit(Relay relay, String address, CircuitRequest request, CircuitKeys keys) throws IOException {
        Socket socket = connect(relay, address);
        open(socket, request, keys);
        return socket;
    }

    static void open(Socket socket, CircuitRequest request, CircuitKeys keys) throws IOException {
        assertThat(say(socket, new CircuitOpening(request, keys))).isEqualTo(new Step.Open());
    }

    final String refusal(Relay relay, CircuitRequest request, CircuitKeys keys) throws IOException {
        try (Socket socket = connect(relay, "127.0.12.2")) {
            Step last = say(socket, new CircuitOpening(request, keys));
            assertThat(last).isInstanceOf(Step.NotOpened.class);
            Step.NotOpened refused = (Step.NotOpened) last;
            return refused.cause() + ": " + refused.why();
        }
    }

    static Step say(Socket socket, CircuitOpening opening) throws IOException {
        return say(socket, opening, OutputStream.nullOutputStream());
    }

    /** The same, and writes down what was said. */
    static Step say(Socket socket, CircuitOpening opening, OutputStream record) throws IOException {
        DataInputStream in = new DataInputStream(socket.getInputStream());
        while (true) {
            byte[] read = new byte[opening.expected().remaining()];
            in.readFully(read);
            opening.expected().put(read);
            Step step = opening.next();
            if (step instanceof Step.Send(byte[] bytes)) {
                socket.getOutputStream().write(bytes);
                record.write(bytes);
            } else if (!(step instanceof Step.Read)) {
                return step;
            }
        }
    }

    final Future<byte[]> read(Socket from) {
        return threads.submit(() -> from.getInputStream().readAllBytes());
    }

    static Object say(Socket socket, byte[] text) throws IOException {
        socket.getOutputStream().write(text);
        socket.shutdownOutput();
        return text;
    }

    static byte[] random(int length, long seed) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }
}
