package trigon.handshake.listen;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.handshake.Established;
import trigon.handshake.Node;
import trigon.handshake.OutgoingOffer;
import trigon.handshake.message.ConnectionId;
import trigon.handshake.message.HandshakeCodec;
import trigon.handshake.message.RandomMessages;
import trigon.testsupport.Await;

/** Many strangers at once: those who are connected stay so, new ones get through, and nothing grows. */
@Timeout(300)
class FloodTest {

    /** Several times as many as are let in; -Dtrigon.flood.sockets=10000 is a long run. */
    private static final int HALF_OPEN = Integer.getInteger("trigon.flood.sockets", 1000);

    private static final int SCANS = 2_000;
    private static final int SLOW = 300;
    private static final int NEW_CONNECTIONS = 20;

    /** What the heap may differ by after a collection, whoever else ran in this process. */
    private static final long HEAP_SLACK = 8L << 20;

    private final Node server = new Node("127.0.0.1", Node.LONG);
    private final Node client = new Node("127.0.0.2", Node.LONG);

    @AfterEach
    void close() {
        client.close();
        server.close();
    }

    @Test
    void manyHalfOpenSockets() throws Exception {
        underAttack(() -> {
            try (Attacker attacker = new Attacker("127.0.0.66", server)) {
                // while they come in, and when all are there
                establishMany();
                attacker.awaitAllOpen();
                establishMany();
                assertThat(descriptors())
                        .isLessThan(attacker.descriptorsBefore + UnauthenticatedConnections.MAX + 10 * NEW_CONNECTIONS);
            }
        });
    }

    @Test
    void halfOpenSocketsFromAPeersOwnAddress() throws Exception {
        underAttack(() -> {
            try (Attacker attacker = new Attacker("127.0.0.2", server)) {
                attacker.awaitAllOpen();
                establishMany();
            }
        });
    }

    @Test
    void aPortScanner() throws Exception {
        underAttack(() -> {
            for (int i = 0; i < SCANS; i++) {
                try (Socket scan =
                        new Socket(server.address(), server.listeningAt().getPort())) {
                    if (i % 2 == 0) {
                        scan.setSoLinger(true, 0); // some end with a reset
                    }
                }
            }
            establishMany();
        });
    }

    @Test
    void slowLoris() throws Exception {
        underAttack(() -> {
            List<Socket> slow = new ArrayList<>();
            try {
                for (int i = 0; i < SLOW; i++) {
                    slow.add(new Socket(server.address(), server.listeningAt().getPort()));
                }
                byte[] hello = HandshakeCodec.encode(0, new RandomMessages(new Random(1)).hello());
                for (int at = 0; at < hello.length - 1; at++) {
                    for (Socket socket : slow) {
                        drip(socket, hello[at]);
                    }
                    if (at % 20 == 0) {
                        establishAndRelease();
                    }
                }
            } finally {
                for (Socket socket : slow) {
                    socket.close();
                }
            }
        });
    }

    private static void drip(Socket socket, byte drop) throws IOException {
        try {
            socket.getOutputStream().write(drop);
        } catch (SocketException e) {
            assertThat(e).hasMessageMatching(".*(reset|pipe|closed).*"); // it made room for another one
        }
    }

    /** An attack that tests something on its way. */
    private interface Attack {
        void run() throws Exception;
    }

    /** Runs it beside an established connection, and counts before and after. */
    private void underAttack(Attack attack) throws Exception {
        Established running = establish(ConnectionId.random());
        establishMany(); // and with them all that is loaded once
        int descriptors = descriptors();
        long direct = directBytes();
        long heap = usedHeap();

        attack.run();

        assertThat(running.lifeline().lost()).isNotDone();
        Await.until("all strangers are gone", () -> descriptors() <= descriptors);
        assertThat(directBytes()).isLessThanOrEqualTo(direct + (64 << 10));
        Await.until("the heap is what it was", () -> usedHeap() < heap + HEAP_SLACK);
        establishMany();
        running.lifeline().release();
    }

    private void establishMany() throws Exception {
        for (int i = 0; i < NEW_CONNECTIONS; i++) {
            establishAndRelease();
        }
    }

    private void establishAndRelease() throws Exception {
        Established established = establish(ConnectionId.random());
        established.lifeline().release();
        established.lifeline().lost().get(60, TimeUnit.SECONDS);
    }

    private Established establish(ConnectionId connection) throws Exception {
        Node.Listener listener = server.listen(connection);
        OutgoingOffer outgoing = client.connect(server.listeningAt(), client.offer(connection));
        CompletableFuture<Established> result = outgoing.answer().thenCompose(_ -> outgoing.sendReady(1));
        Node.Attempt attempt = null;
        while (attempt == null && !result.isDone()) {
            attempt = listener.poll(20);
        }
        if (attempt != null) {
            attempt.answer().complete(server.answer());
        }
        Established established = result.get(60, TimeUnit.SECONDS);
        server.listeners().unregister(connection);
        return established;
    }

    private static int descriptors() {
        int count = 0;
        try (DirectoryStream<Path> open = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path _ : open) {
                count++;
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return count;
    }

    private static long directBytes() {
        return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("direct"))
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .sum();
    }

    private static long usedHeap() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    /** {@link HalfOpenSockets}, since one process may not have twice as many file descriptors. */
    private static final class Attacker implements AutoCloseable {

        private static final Duration PATIENCE = Duration.ofSeconds(60);

        private final Process process;
        private final int descriptorsBefore;

        Attacker(String own, Node target) throws IOException {
            process = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-XX:TieredStopAtLevel=1",
                            "-XX:+UseSerialGC",
                            "-Xmx64m",
                            "-cp",
                            System.getProperty("java.class.path"),
                            HalfOpenSockets.class.getName(),
                            own,
                            target.address().getHostAddress(),
                            Integer.toString(target.listeningAt().getPort()),
                            Integer.toString(HALF_OPEN))
                    .redirectErrorStream(true)
                    .start();
            descriptorsBefore = descriptors();
        }

        /** Fails with what it said if it could not open all of them, for want of file descriptors for example. */
        void awaitAllOpen() throws Exception {
            CompletableFuture<String> said = CompletableFuture.supplyAsync(this::firstLine);
            assertThat(said.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isEqualTo(Integer.toString(HALF_OPEN));
        }

        private String firstLine() {
            try {
                return String.valueOf(
                        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))
                                .readLine());
            } catch (IOException e) {
                return e.toString();
            }
        }

        @Override
        public void close() throws IOException {
            process.destroyForcibly().onExit().join();
        }
    }
}
