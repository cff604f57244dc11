package trigon.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.circuit.CircuitKeys;
import trigon.circuit.CircuitOpening;
import trigon.circuit.CircuitOpening.Step;
import trigon.circuit.CircuitRequest;
import trigon.config.InterfaceAddress;

/** Nodes on the loopback: 127.0.12.0/24 is the cable between nodes 1 and 2, and so on. */
@Timeout(60)
class RelayTest {

    private static final int STRANGERS = Integer.getInteger("trigon.strangers", 1000);
    private static final long SEED = Long.getLong("trigon.seed", 5);

    /** What this process may have open. */
    private static final int OPEN = 500;

    private static final long MOST_GROWTH = 1 << 20;

    /** The young generation grows into what the JVM has reserved. */
    private static final long MOST_RESIDENT_GROWTH = 64 << 20;

    private static final CircuitKeys KEYS = new CircuitKeys(Optional.of(new byte[] {7}));

    private final List<AutoCloseable> open = new ArrayList<>();
    private final ExecutorService threads = Executors.newCachedThreadPool();

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable each : open.reversed()) {
            each.close();
        }
        threads.shutdownNow();
        assertThat(threads.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
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
        sentBack.get(30, TimeUnit.SECONDS);

        assertThat(heardThere.get(30, TimeUnit.SECONDS)).isEqualTo(there);
        assertThat(heardBack.get(30, TimeUnit.SECONDS)).isEqualTo(back);
        eventually(() -> relay.counts().circuits() == 0);
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

        assertThat(heard.get(10, TimeUnit.SECONDS)).isEqualTo(random(100_000, 3));
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
                .contains("the cluster's key");
        assertThat(refusal(relay, new CircuitRequest(List.of(at(elsewhere))), KEYS))
                .contains("no link of the relay");
        assertThat(refusal(relay, new CircuitRequest(List.of(new InetSocketAddress("127.0.23.2", 80))), KEYS))
                .contains("own address");
        assertThat(refusal(relay, new CircuitRequest(List.of(at(closed))), KEYS))
                .contains("cannot be reached");
        assertThat(relay.counts().refused()).isEqualTo(4);
        eventually(() -> relay.counts().circuits() == 0);
    }

    @Test
    void takesNoMoreCircuitsThanItMay() throws Exception {
        Relay relay = relay(RelayLimits.DEFAULT.withCircuits(2), "127.0.12.2", "127.0.23.2");
        ServerSocket end = listen("127.0.23.3");
        Socket one = circuit(relay, "127.0.12.2", end);
        circuit(relay, "127.0.12.2", end);
        assertThat(refusal(relay, new CircuitRequest(List.of(at(end))), KEYS)).contains("as many circuits");

        one.close();
        accept(end).close();
        eventually(() -> relay.counts().circuits() == 1);
        circuit(relay, "127.0.12.2", end);
    }

    /** {@code -Dtrigon.strangers=10000} takes another number of connections that come to nothing. */
    @Test
    void strangersCostLittleAndDisturbNobody() throws Exception {
        RelayLimits limits = RelayLimits.DEFAULT;
        Relay relay = relay(limits, "127.0.12.2", "127.0.23.2");
        ServerSocket end = listen("127.0.23.3");
        Socket client = circuit(relay, "127.0.12.2", end);
        Socket server = accept(end);
        eventually(() -> relay.counts().slotBytes() > 0); // the reply goes out before
        long slots = relay.counts().slotBytes();
        halfOpen(relay, limits.strangers()); // what the first ones load is no leak
        long heap = usedHeap();
        long resident = resident();
        long refused = relay.counts().refused();

        halfOpen(relay, STRANGERS);

        assertThat(relay.counts().strangers()).isLessThanOrEqualTo(limits.strangers());
        client.getOutputStream().write(42);
        assertThat(server.getInputStream().read()).isEqualTo(42);
        circuit(relay, "127.0.12.2", end);
        assertThat(relay.counts().slotBytes()).isEqualTo(slots);
        eventually(() -> relay.counts().strangers() == 0);
        long heapNow = usedHeap();
        System.err.printf(
                "%d half-open circuits, seed %d: %d refused, heap %d to %d KiB, resident %d to %d KiB%n",
                STRANGERS,
                SEED,
                relay.counts().refused() - refused,
                heap >> 10,
                heapNow >> 10,
                resident >> 10,
                resident() >> 10);
        assertThat(heapNow - heap).isLessThan(MOST_GROWTH);
        assertThat(resident() - resident).isLessThan(MOST_RESIDENT_GROWTH);
    }

    /** Each says nothing, a part of a request, or garbage; the last {@value #OPEN} of them at the same time. */
    private void halfOpen(Relay relay, int count) throws IOException {
        Random random = new Random(SEED);
        InetSocketAddress at = new InetSocketAddress("127.0.12.2", relay.port(InetAddress.ofLiteral("127.0.12.2")));
        ArrayDeque<Socket> halfOpen = new ArrayDeque<>();
        for (int i = 0; i < count; i++) {
            Socket socket = new Socket();
            socket.connect(at, 20_000);
            if (i % 3 == 0) {
                byte[] garbage = new byte[random.nextInt(64)];
                random.nextBytes(garbage);
                try {
                    socket.getOutputStream().write(garbage);
                } catch (IOException _) {
                    // closed already
                }
            }
            halfOpen.add(socket);
            if (halfOpen.size() > OPEN) {
                halfOpen.removeFirst().close();
            }
        }
        for (Socket each : halfOpen) {
            each.close();
        }
    }

    /** The serial collector leaves some of the dead where they are, but for each fourth time. */
    private static long usedHeap() {
        for (int i = 0; i < 4; i++) {
            System.gc();
        }
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    /** Memory of the process, what is native included. */
    private static long resident() throws IOException {
        return Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith("VmRSS:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")) << 10)
                .sum();
    }

    /** What opened a circuit opens no other one: each connection has a nonce of its own. */
    @Test
    void aRecordedRequestIsRefused() throws Exception {
        Relay relay = relay(RelayLimits.DEFAULT, "127.0.12.2", "127.0.23.2");
        ServerSocket end = listen("127.0.23.3");
        InetAddress address = InetAddress.ofLiteral("127.0.12.2");
        ByteArrayOutputStream recorded = new ByteArrayOutputStream();
        try (Socket socket = new Socket(address, relay.port(address))) {
            CircuitOpening opening = new CircuitOpening(new CircuitRequest(List.of(at(end))), KEYS);
            assertThat(say(socket, opening, recorded)).isEqualTo(new Step.Open());
        }
        accept(end).close();
        assertThat(recorded.size()).isPositive();
        eventually(() -> relay.counts().circuits() == 0);

        try (Socket socket = new Socket(address, relay.port(address))) {
            socket.setSoTimeout(20_000);
            socket.getOutputStream().write(recorded.toByteArray());
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(answer).contains("the cluster's key");
        }
        assertThat(relay.counts().opened()).isEqualTo(1);
        eventually(() -> relay.counts().refused() == 1);
    }

    @Test
    void whoSaysNothingIsClosedInTime() throws Exception {
        RelayLimits limits = new RelayLimits(4, 0, 8, 8, Duration.ofMillis(300), Duration.ofSeconds(5), Duration.ZERO);
        Relay relay = relay(limits, "127.0.12.2", "127.0.23.2");
        Socket silent =
                new Socket(InetAddress.ofLiteral("127.0.12.2"), relay.port(InetAddress.ofLiteral("127.0.12.2")));
        open.add(silent);
        silent.setSoTimeout(20_000);

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
            each.get(50, TimeUnit.SECONDS);
        }
        for (Future<byte[]> each : heard) {
            assertThat(each.get(50, TimeUnit.SECONDS)).isEqualTo(text);
        }
        for (Relay relay : relays) {
            eventually(() -> relay.counts().circuits() == 0);
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

        assertThat(heard.get(30, TimeUnit.SECONDS)).hasSize(16 << 20);
        assertThat(relay.counts().slotBytes()).isEqualTo(32L * RelayLimits.SLOT_BYTES);
        stuck.close();
    }

    private Relay relay(RelayLimits limits, String... addresses) throws IOException {
        List<InterfaceAddress> links = new ArrayList<>();
        for (String address : addresses) {
            links.add(new InterfaceAddress(InetAddress.ofLiteral(address), 24));
        }
        Relay relay = Relay.open(links, 0, KEYS, (_, _) -> Optional.empty(), limits);
        open.add(relay);
        return relay;
    }

    private ServerSocket listen(String address) throws IOException {
        ServerSocket end = new ServerSocket(0, 50, InetAddress.ofLiteral(address));
        open.add(end);
        return end;
    }

    private Socket accept(ServerSocket end) throws IOException {
        end.setSoTimeout(10_000);
        Socket socket = end.accept();
        open.add(socket);
        return socket;
    }

    private static InetSocketAddress at(ServerSocket end) {
        return new InetSocketAddress(end.getInetAddress(), end.getLocalPort());
    }

    private Socket circuit(Relay relay, String address, ServerSocket end) throws IOException {
        return circuit(relay, address, new CircuitRequest(List.of(at(end))), KEYS);
    }

    private Socket circuit(Relay relay, String address, CircuitRequest request, CircuitKeys keys) throws IOException {
        Socket socket = new Socket(InetAddress.ofLiteral(address), relay.port(InetAddress.ofLiteral(address)));
        open.add(socket);
        socket.setSoTimeout(20_000);
        Step last = say(socket, new CircuitOpening(request, keys));
        assertThat(last).isEqualTo(new Step.Open());
        return socket;
    }

    private String refusal(Relay relay, CircuitRequest request, CircuitKeys keys) throws IOException {
        try (Socket socket =
                new Socket(InetAddress.ofLiteral("127.0.12.2"), relay.port(InetAddress.ofLiteral("127.0.12.2")))) {
            Step last = say(socket, new CircuitOpening(request, keys));
            assertThat(last).isInstanceOf(Step.Refused.class);
            return ((Step.Refused) last).why();
        }
    }

    private static Step say(Socket socket, CircuitOpening opening) throws IOException {
        return say(socket, opening, OutputStream.nullOutputStream());
    }

    /** The same, and writes down what was said. */
    private static Step say(Socket socket, CircuitOpening opening, OutputStream record) throws IOException {
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

    private Future<byte[]> read(Socket from) {
        return threads.submit(() -> from.getInputStream().readAllBytes());
    }

    private static Object say(Socket socket, byte[] text) throws IOException {
        socket.getOutputStream().write(text);
        socket.shutdownOutput();
        return text;
    }

    private static byte[] random(int length, long seed) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    private static void eventually(BooleanSupplier condition) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("it did not come about in 20 s").isLessThan(deadline);
            Thread.sleep(10);
        }
    }
}
