package trigon.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.testsupport.Await;

/** Connections to a relay that come to nothing. */
@Timeout(300)
class RelayStrangersTest extends RelayedNodes {

    private static final int STRANGERS = Integer.getInteger("trigon.strangers", 200);
    private static final long SEED = Long.getLong("trigon.seed", 5);

    /** What this process may have open. */
    private static final int OPEN = 500;

    private static final long MAX_GROWTH = 1 << 20;

    /** The young generation grows into what the JVM has reserved. */
    private static final long MAX_RESIDENT_GROWTH = 64 << 20;

    /** {@code -Dtrigon.strangers=10000} takes another number of connections that come to nothing. */
    @Test
    void strangersCostLittleAndDisturbNobody() throws Exception {
        RelayLimits limits = RelayLimits.DEFAULT;
        Relay relay = relay(limits, "127.0.12.2", "127.0.23.2");
        ServerSocket end = listen("127.0.23.3");
        Socket client = circuit(relay, "127.0.12.2", end);
        Socket server = accept(end);
        Await.until("the circuit has slots", () -> relay.counts().slotBytes() > 0); // the reply goes out before
        long slots = relay.counts().slotBytes();
        halfOpen(relay, limits.strangers()); // what the first ones load is no leak
        Await.until("they are gone", () -> relay.counts().strangers() == 0);
        long heap = usedHeap();
        long resident = resident();
        long refused = relay.counts().refused();

        halfOpen(relay, STRANGERS);

        assertThat(relay.counts().strangers()).isLessThanOrEqualTo(limits.strangers());
        client.getOutputStream().write(42);
        assertThat(server.getInputStream().read()).isEqualTo(42);
        circuit(relay, "127.0.12.2", end);
        assertThat(relay.counts().slotBytes()).isEqualTo(slots);
        Await.until("they are gone", () -> relay.counts().strangers() == 0);
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
        assertThat(heapNow - heap).isLessThan(MAX_GROWTH);
        assertThat(resident() - resident).isLessThan(MAX_RESIDENT_GROWTH);
    }

    /** Each says nothing, a part of a request, or garbage; the last {@value #OPEN} of them at the same time. */
    private void halfOpen(Relay relay, int count) throws IOException {
        Random random = new Random(SEED);
        InetSocketAddress at = new InetSocketAddress("127.0.12.2", relay.port(InetAddress.ofLiteral("127.0.12.2")));
        ArrayDeque<Socket> halfOpen = new ArrayDeque<>();
        for (int i = 0; i < count; i++) {
            Socket socket = new Socket();
            socket.connect(at, PATIENCE_MILLIS);
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
}
