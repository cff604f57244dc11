package trigon.handshake;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Optional;
import trigon.config.cluster.ClusterKey;
import trigon.handshake.message.ConnectionId;
import trigon.handshake.message.ConnectionSecret;
import trigon.handshake.message.HandshakeCodec;
import trigon.handshake.message.HandshakeFrameDecoder.HandshakeFrame;
import trigon.handshake.message.HandshakeMessage;
import trigon.handshake.message.HandshakeMessage.Alive;
import trigon.handshake.message.HandshakeMessage.Challenge;
import trigon.handshake.message.HandshakeMessage.Filler;
import trigon.handshake.message.HandshakeMessage.Hello;
import trigon.handshake.message.HandshakeMessage.JobKey;
import trigon.handshake.message.HandshakeProofs;
import trigon.handshake.message.HandshakeProofs.Side;
import trigon.handshake.message.OpaqueBytes;

/** One end of a handshake over a plain socket, that says what the test wants, with right proofs or without. */
public final class RawPeer implements AutoCloseable {

    private static final int TIMEOUT_MILLIS = 60_000;

    private final Socket socket;
    private final ConnectionId connection;
    private final HandshakeProofs proofs;
    private boolean fills;

    private RawPeer(Socket socket, ConnectionId connection, HandshakeProofs proofs) throws IOException {
        this.socket = socket;
        this.connection = connection;
        this.proofs = proofs;
        socket.setSoTimeout(TIMEOUT_MILLIS);
        socket.setTcpNoDelay(true);
    }

    /** A connecting side that knows the secret, or that one. */
    public static RawPeer connectingTo(InetSocketAddress listener, ConnectionId connection, ConnectionSecret secret)
            throws IOException {
        Socket socket = new Socket();
        socket.connect(listener);
        return new RawPeer(socket, connection, HandshakeProofs.of(Side.CONNECTING, secret, Optional.empty()));
    }

    /** The same, with the challenge behind it. */
    public static RawPeer challengedBy(Node listener, ConnectionId connection) throws IOException {
        RawPeer peer = connectingTo(listener.listeningAt(), connection, Node.secretOf(connection));
        peer.hello();
        peer.expect(Challenge.class);
        return peer;
    }

    /** A listening side on an accepted connection. */
    public static RawPeer listening(Socket accepted, ConnectionId connection, ConnectionSecret secret)
            throws IOException {
        return new RawPeer(accepted, connection, HandshakeProofs.of(Side.LISTENING, secret, Optional.empty()));
    }

    /** The connecting side's first frame. */
    public byte[] helloFrame() {
        return helloFrame(false);
    }

    /** The same, of one whose offer was made before, if it was. */
    public byte[] helloFrame(boolean repeats) {
        OpaqueBytes nonce = OpaqueBytes.random(HandshakeProofs.BYTES);
        byte[] frame = HandshakeCodec.encode(
                0,
                new Hello(
                        connection,
                        nonce,
                        HandshakeProofs.clusterMark(Optional.<ClusterKey>empty(), connection, nonce),
                        false,
                        repeats));
        proofs.note(frame);
        return frame;
    }

    public void hello() throws IOException {
        send(helloFrame());
    }

    /** Reads a hello, as the listening side, challenges, and answers what comes behind the fillers. */
    public byte[] greet() throws IOException {
        byte[] frame = challenge();
        if (fills) {
            expect(Alive.class);
            say(new Alive(0));
        }
        return frame;
    }

    /** Reads a hello, as the listening side, and challenges. */
    public byte[] challenge() throws IOException {
        HandshakeFrame hello = read();
        fills = ((Hello) hello.message()).fills();
        proofs.note(hello.bytes());
        byte[] frame = proven(new Challenge(OpaqueBytes.random(HandshakeProofs.BYTES)));
        send(frame);
        return frame;
    }

    /** All that was said so far. */
    public byte[] said() {
        return proofs.said();
    }

    /** A connection's first message on a further stream, behind what was said at first. */
    public static byte[] joining(int stream, HandshakeMessage message, byte[] opening, ConnectionSecret secret) {
        HandshakeProofs joining = HandshakeProofs.of(Side.CONNECTING, secret, Optional.empty());
        joining.note(opening);
        byte[] frame = HandshakeCodec.encode(stream, message);
        joining.prove(frame);
        return frame;
    }

    /** The message with its proof. */
    public byte[] proven(HandshakeMessage message) {
        byte[] frame = HandshakeCodec.encode(0, message);
        proofs.prove(frame);
        return frame;
    }

    /** The same for a message that comes after the handshake. */
    public byte[] provenAfterwards(HandshakeMessage message) {
        byte[] frame = HandshakeCodec.encode(0, message);
        proofs.proveAfterwards(frame);
        return frame;
    }

    /** The next message after the handshake, which has to be of that type and proven. */
    public <M extends HandshakeMessage> M expectAfterwards(Class<M> type) throws IOException {
        HandshakeFrame frame = read();
        while (frame.message() instanceof JobKey && type != JobKey.class) { // no test but those of keys is about them
            frame = read();
        }
        if (!type.isInstance(frame.message()) || !proofs.verifyAfterwards(frame.bytes())) {
            throw new AssertionError("not a proven " + type.getSimpleName() + ": " + frame.message());
        }
        return type.cast(frame.message());
    }

    public void say(HandshakeMessage message) throws IOException {
        send(proven(message));
    }

    /** Sends; that the other side has hung up is what most tests want. */
    public void send(byte... bytes) throws IOException {
        send(socket, bytes);
    }

    /** Sends over any socket. */
    public static void send(Socket socket, byte... bytes) throws IOException {
        try {
            socket.getOutputStream().write(bytes);
        } catch (SocketException e) {
            if (!String.valueOf(e.getMessage()).matches(".*(reset|pipe|closed).*")) {
                throw e;
            }
        }
    }

    /** The next frame that says something. */
    public HandshakeFrame read() throws IOException {
        HandshakeFrame next = readAny();
        while (next.message() instanceof Filler) {
            next = readAny();
        }
        return next;
    }

    private HandshakeFrame readAny() throws IOException {
        byte[] header = readExactly(HandshakeCodec.HEADER_BYTES);
        HandshakeCodec.Header decoded = HandshakeCodec.decodeHeader(ByteBuffer.wrap(header));
        byte[] body = readExactly(decoded.bodyBytes());
        byte[] frame = Arrays.copyOf(header, header.length + body.length);
        System.arraycopy(body, 0, frame, header.length, body.length);
        return new HandshakeFrame(
                decoded.stream(), HandshakeCodec.decodeBody(decoded.type(), ByteBuffer.wrap(body)), frame);
    }

    /** The next message, which has to be of that type and proven. */
    public <M extends HandshakeMessage> M expect(Class<M> type) throws IOException {
        HandshakeFrame frame = read();
        if (!type.isInstance(frame.message())) {
            throw new AssertionError("not a " + type.getSimpleName() + ": " + frame.message());
        }
        if (!proofs.verify(frame.bytes())) {
            throw new AssertionError("not proven: " + frame.message());
        }
        return type.cast(frame.message());
    }

    private byte[] readExactly(int bytes) throws IOException {
        byte[] read = socket.getInputStream().readNBytes(bytes);
        if (read.length < bytes) {
            throw new EOFException("the other side has hung up");
        }
        return read;
    }

    /** Everything until the other side closes. */
    public void readToTheEnd() throws IOException {
        byte[] rest = new byte[8192];
        try (InputStream in = socket.getInputStream()) {
            while (in.read(rest) >= 0) {
                // what it says before is none of this test's business
            }
        } catch (SocketException e) {
            if (!String.valueOf(e.getMessage()).contains("reset")) {
                throw e;
            }
        }
    }

    public Socket socket() {
        return socket;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
