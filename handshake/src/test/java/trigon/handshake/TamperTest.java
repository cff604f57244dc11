package trigon.handshake;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import trigon.handshake.message.ConnectionId;
import trigon.handshake.message.HandshakeCodec;
import trigon.handshake.message.HandshakeException;
import trigon.handshake.message.HandshakeMessage.Answer;
import trigon.handshake.message.HandshakeMessage.Offer;
import trigon.testsupport.Await;
import trigon.testsupport.ManualClock;

/** Somebody in between, who changes one byte: no side ever believes what the other did not say. */
class TamperTest {

    private static final int ROUNDS = 150;

    /** A changed length makes a side wait for bytes that do not come. */
    private static final Duration TIMEOUT = Duration.ofSeconds(3);

    /** More than either side says in one handshake. */
    private static final int LONGEST_CONVERSATION = 400;

    /** In a frame's header. */
    private static final int TYPE_OFFSET = 5;

    private static final int BODY_LENGTH_OFFSET = 6;

    /** Signs of life have this type, and farewells the next. */
    private static final int FIRST_AFTERWARDS = 7;

    private static final int FILLER = 10;

    private final long seed = new Random().nextLong();
    private final Random random = new Random(seed);
    private final ManualClock clock = new ManualClock();
    private final Node server = new Node("127.0.0.1", TIMEOUT, clock);
    private final Node client = new Node("127.0.0.2", TIMEOUT, clock);

    @AfterEach
    void close() {
        client.close();
        server.close();
    }

    @Test
    void nothingIsBelievedThatWasChanged() throws Exception {
        int untouched = 0;
        int refused = 0;
        for (int round = 0; round < ROUNDS; round++) {
            ConnectionId connection = ConnectionId.random();
            Node.Listener listener = server.listen(connection);
            Offer offer = client.offer(connection);
            Answer answer = server.answer();
            boolean towardsListener = random.nextBoolean();
            int position = random.nextInt(LONGEST_CONVERSATION);
            try (Relay relay = new Relay(server.listeningAt(), towardsListener, position, 1 + random.nextInt(255))) {
                OutgoingOffer outgoing = client.connect(relay.address(), offer);
                CompletableFuture<Established> atClient = outgoing.answer().thenCompose(given -> {
                    assertThat(given).isEqualTo(answer);
                    return outgoing.sendReady(1);
                });
                Node.Attempt attempt = null;
                while (attempt == null && !atClient.isDone()) {
                    attempt = listener.poll(2);
                    passAfterAChange(relay);
                }
                if (attempt != null) {
                    assertThat(attempt.incoming().offer()).as("seed %d", seed).isEqualTo(offer);
                    attempt.answer().complete(answer);
                }
                boolean clientBelieves = succeeds(atClient, relay);
                boolean serverBelieves =
                        attempt != null && succeeds(attempt.incoming().result(), relay);
                if (relay.hasChanged()) {
                    // the last word alone may be lost on the one side: the listener has noted that the sender is ready
                    assertThat(clientBelieves)
                            .as("seed %d position %d", seed, position)
                            .isFalse();
                    refused++;
                } else {
                    assertThat(clientBelieves && serverBelieves)
                            .as("seed %d", seed)
                            .isTrue();
                    untouched++;
                }
            }
            server.listeners().unregister(connection);
        }
        assertThat(refused).isGreaterThan(ROUNDS / 4);
        assertThat(untouched).isPositive();
    }

    /** Time passes for nobody who has all that was said. */
    private void passAfterAChange(Relay relay) {
        if (relay.hasChanged()) {
            clock.advance(TIMEOUT.dividedBy(3));
        }
    }

    private boolean succeeds(CompletableFuture<Established> result, Relay relay) {
        Await.until("the handshake's end", () -> {
            passAfterAChange(relay);
            return result.isDone();
        });
        if (result.isCompletedExceptionally() && !(result.exceptionNow() instanceof HandshakeException)) {
            throw new AssertionError("not a handshake's failure", result.exceptionNow());
        }
        return !result.isCompletedExceptionally();
    }

    /** Passes one connection on, but for one byte. */
    private static final class Relay implements AutoCloseable {

        private final ServerSocket listener;
        private final InetSocketAddress target;
        private final boolean towardsListener;
        private final int position;
        private final int mask;
        private final Thread thread;
        private volatile boolean changed;

        Relay(InetSocketAddress target, boolean towardsListener, int position, int mask) throws IOException {
            listener = new ServerSocket(0, 1, target.getAddress());
            this.target = target;
            this.towardsListener = towardsListener;
            this.position = position;
            this.mask = mask;
            thread = Thread.ofVirtual().start(this::relay);
        }

        InetSocketAddress address() {
            return new InetSocketAddress(listener.getInetAddress(), listener.getLocalPort());
        }

        boolean hasChanged() {
            return changed;
        }

        private void relay() {
            try (Socket from = listener.accept();
                    Socket to = new Socket(target.getAddress(), target.getPort())) {
                from.setTcpNoDelay(true);
                to.setTcpNoDelay(true);
                Thread back = Thread.ofVirtual().start(() -> copy(to, from, !towardsListener));
                copy(from, to, towardsListener);
                back.join();
            } catch (IOException | InterruptedException e) {
                // the test has ended, or one side has hung up
            }
        }

        private void copy(Socket from, Socket to, boolean changing) {
            byte[] buffer = new byte[4096];
            ByteArrayOutputStream said = new ByteArrayOutputStream();
            try {
                InputStream in = from.getInputStream();
                OutputStream out = to.getOutputStream();
                for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
                    int at = said.size();
                    said.write(buffer, 0, length);
                    int index = indexOf(position, said.toByteArray());
                    boolean isIn = index >= at && index < at + length;
                    if (changing && isIn && isOfHandshake(said.toByteArray(), index)) {
                        buffer[index - at] ^= (byte) mask;
                        changed = true;
                    }
                    out.write(buffer, 0, length);
                }
                to.shutdownOutput();
            } catch (IOException e) {
                // one side has hung up: so does the relay
                closeQuietly(from);
                closeQuietly(to);
            }
        }

        /** Tells whether it is a sign of life that comes before the offer, which is agreed on. */
        private static boolean isOfGreeting(byte[] said, int frame) {
            int count = frame + HandshakeCodec.HEADER_BYTES;
            return said[frame + TYPE_OFFSET] == FIRST_AFTERWARDS
                    && said.length >= count + Long.BYTES
                    && ByteBuffer.wrap(said).getLong(count) == 0;
        }

        /** Place of a byte that is counted without the fillers, which are not agreed on; -1 if it has not come. */
        private static int indexOf(int position, byte[] said) {
            int frame = 0;
            int left = position;
            while (frame + HandshakeCodec.HEADER_BYTES <= said.length) {
                int bytes = HandshakeCodec.HEADER_BYTES
                        + Short.toUnsignedInt(ByteBuffer.wrap(said).getShort(frame + BODY_LENGTH_OFFSET));
                boolean counts = said[frame + TYPE_OFFSET] != FILLER;
                if (counts && left < bytes) {
                    return frame + left < said.length ? frame + left : -1;
                }
                left -= counts ? bytes : 0;
                frame += bytes;
            }
            return -1;
        }

        /** Signs of life follow on the same connection: a changed one ends what was established by right. */
        private static boolean isOfHandshake(byte[] said, int position) {
            int frame = 0;
            while (frame + HandshakeCodec.HEADER_BYTES <= said.length) {
                int body = Short.toUnsignedInt(ByteBuffer.wrap(said).getShort(frame + BODY_LENGTH_OFFSET));
                int next = frame + HandshakeCodec.HEADER_BYTES + body;
                if (position < next) {
                    return said[frame + TYPE_OFFSET] < FIRST_AFTERWARDS || isOfGreeting(said, frame);
                }
                frame = next;
            }
            return true;
        }

        private static void closeQuietly(Socket socket) {
            try {
                socket.close();
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }

        @Override
        public void close() throws IOException {
            listener.close();
            thread.interrupt();
        }
    }
}
