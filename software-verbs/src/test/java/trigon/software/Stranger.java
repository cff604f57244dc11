package trigon.software;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import trigon.testsupport.ConnectedPair;
import trigon.verbs.ConnectionKey;
import trigon.verbs.Gid;

/** A client of the second end's device that says what a test has it say. Used by one thread. */
final class Stranger implements Closeable {

    private static final int PATIENCE_MILLIS = 30_000;

    private final Socket socket;
    private final Introduction introduction = new Introduction();
    private boolean greeted;

    private Stranger(Socket socket) throws IOException {
        this.socket = socket;
        socket.setSoTimeout(PATIENCE_MILLIS);
        socket.setTcpNoDelay(true);
    }

    /** Connects to the device of a pair's second end, from anywhere. */
    static Stranger to(ConnectedPair pair) throws IOException {
        return new Stranger(
                new Socket(Loopback.B.address(), pair.second().portAttributes().lid()));
    }

    /** What the requester of a pair's first end would say, or almost. */
    static Preamble.Hello hello(ConnectedPair pair, int numberOff, int psnOff, int lane) {
        return new Preamble.Hello(
                pair.second().queuePair().number(),
                pair.first().queuePair().number() + numberOff,
                pair.first().endpoint().psn() + psnOff,
                Gid.of(Loopback.A.address()),
                lane);
    }

    /** Hears the greeting, and returns the preamble that answers it, with a proof under that key. */
    byte[] preamble(Preamble.Hello hello, @Nullable ConnectionKey key) throws IOException {
        ByteBuffer greeting = introduction.greetingSpace();
        greeting.put(socket.getInputStream().readNBytes(greeting.remaining()));
        greeted = true;
        ByteBuffer answer = introduction.answer(hello, new ConnectionProofs(key), Gid.of(Loopback.B.address()));
        byte[] bytes = new byte[answer.remaining()];
        answer.get(bytes);
        return bytes;
    }

    void say(byte[] bytes) throws IOException {
        socket.getOutputStream().write(bytes);
    }

    /** Whether what comes next is the acceptance of what {@link #preamble} returned, under that key. */
    boolean isAccepted(@Nullable ConnectionKey key) throws IOException {
        byte[] acceptance = socket.getInputStream().readNBytes(WireFormat.ACCEPTANCE_BYTES);
        return introduction.isAccepted(acceptance, new ConnectionProofs(key), Gid.of(Loopback.B.address()));
    }

    /** Whether the device closes the connection, and says nothing but the greeting before. */
    boolean isClosed() {
        try {
            InputStream in = socket.getInputStream();
            int unheard = greeted ? 0 : WireFormat.GREETING_BYTES;
            return in.readNBytes(unheard + 1).length <= unheard;
        } catch (SocketTimeoutException e) {
            return false;
        } catch (IOException e) {
            return true; // reset, since not all was read
        }
    }

    /** Whether it has been closed by now; for one that is not taken. */
    boolean isClosedNow() {
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
