package trigon.software.device;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import trigon.software.wire.ConnectionProofs;
import trigon.software.wire.Preamble;
import trigon.software.wire.PreambleExchange;
import trigon.software.wire.WireFormat;
import trigon.testsupport.Await;
import trigon.testsupport.verbs.ConnectedPair;
import trigon.verbs.ConnectionKey;
import trigon.verbs.Gid;

/** A client of the second end's device that says what a test has it say. Used by one thread. */
public final class RawClient implements Closeable {

    private static final int PATIENCE_MILLIS = (int) Await.DEADLINE.toMillis();

    private final Socket socket;
    private final PreambleExchange exchange = new PreambleExchange();
    private boolean greeted;

    private RawClient(Socket socket) throws IOException {
        this.socket = socket;
        socket.setSoTimeout(PATIENCE_MILLIS);
        socket.setTcpNoDelay(true);
    }

    /** Connects to the device of a pair's second end, from anywhere. */
    public static RawClient to(ConnectedPair pair) throws IOException {
        return new RawClient(
                new Socket(Loopback.B.address(), pair.second().portAttributes().lid()));
    }

    /** What the requester of a pair's first end would say, or almost. */
    public static Preamble.Hello hello(ConnectedPair pair, int numberOff, int psnOff) {
        return new Preamble.Hello(
                pair.second().queuePair().number(),
                pair.first().queuePair().number() + numberOff,
                pair.first().endpoint().psn() + psnOff,
                Gid.of(Loopback.A.address()),
                false);
    }

    /** Hears the greeting, and returns the preamble that answers it, with a proof under that key. */
    public byte[] preamble(Preamble.Hello hello, @Nullable ConnectionKey key) throws IOException {
        hearGreeting();
        ByteBuffer answer = exchange.answer(hello, new ConnectionProofs(key), Gid.of(Loopback.B.address()));
        byte[] bytes = new byte[answer.remaining()];
        answer.get(bytes);
        return bytes;
    }

    /** Waits for the greeting: then it has been accepted. */
    public void hearGreeting() throws IOException {
        ByteBuffer greeting = exchange.greetingSpace();
        greeting.put(socket.getInputStream().readNBytes(greeting.remaining()));
        greeted = true;
    }

    public void say(byte[] bytes) throws IOException {
        socket.getOutputStream().write(bytes);
    }

    /** Whether what comes next is the acceptance of what {@link #preamble} returned, under that key. */
    public boolean isAccepted(@Nullable ConnectionKey key) throws IOException {
        byte[] acceptance = socket.getInputStream().readNBytes(WireFormat.ACCEPTANCE_BYTES);
        return exchange.isAccepted(acceptance, new ConnectionProofs(key), Gid.of(Loopback.B.address()));
    }

    /** Whether the device closes the connection, and says nothing but the greeting before. */
    public boolean isClosed() {
        try {
            InputStream in = socket.getInputStream();
            int unheard = greeted ? 0 : exchange.greetingSpace().remaining();
            return in.readNBytes(unheard + 1).length <= unheard;
        } catch (SocketTimeoutException e) {
            return false;
        } catch (IOException e) {
            return true; // reset, since not all was read
        }
    }

    /** Whether it has been closed by now; for one that is not taken. */
    public boolean isClosedNow() {
        try {
            socket.setSoTimeout(1);
            boolean closed = isClosed();
            socket.setSoTimeout(PATIENCE_MILLIS);
            return closed;
        } catch (SocketException e) {
            throw new AssertionError("a socket of the test", e);
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
