package trigon.relay;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.Optional;
import java.util.function.Consumer;
import jdk.net.ExtendedSocketOptions;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.stream.ByteStream;
import trigon.stream.SocketStream;
import trigon.stream.hop.ChunkStream;
import trigon.stream.hop.HopUpgrade;
import trigon.stream.loop.EventLoop;
import trigon.system.kernel.TcpEnds;

/** One of the two sides of a circuit: a connection to a neighbour, and what carries its bytes. The relay's thread. */
final class Side {

    /** Bound on the bytes under way on a link, so that the node's own traffic finds room there. */
    private static final int SEND_BUFFER_BYTES = 256 << 10;

    /** ip(7), "maximize throughput": a queue with bands takes the node's own packets first. */
    private static final int BULK = 0x08;

    /** An idle neighbour that does not answer is gone after 20 s. */
    private static final int KEEPALIVE_IDLE_SECONDS = 5;

    private static final int KEEPALIVE_INTERVAL_SECONDS = 5;
    private static final int KEEPALIVE_PROBES = 3;

    private static final Logger log = LoggerFactory.getLogger(Side.class);

    private final SocketChannel socket;
    private final SelectionKey key;
    private ByteStream carrier;
    private @Nullable HopUpgrade upgrade;

    /**
     * A side over TCP.
     *
     * @param interest what its socket is selected for
     * @param onReady called when it is ready
     */
    Side(SocketChannel socket, EventLoop loop, int interest, Consumer<Side> onReady) throws IOException {
        this.socket = socket;
        key = loop.register(socket, interest, () -> onReady.accept(this));
        carrier = new SocketStream(socket);
    }

    SocketChannel socket() {
        return socket;
    }

    /** The connection's two addresses. */
    TcpEnds ends() throws IOException {
        return new TcpEnds((InetSocketAddress) socket.getLocalAddress(), (InetSocketAddress) socket.getRemoteAddress());
    }

    /** Prepares the connection for an open circuit. */
    void relay() throws IOException {
        socket.setOption(StandardSocketOptions.SO_SNDBUF, SEND_BUFFER_BYTES);
        socket.setOption(StandardSocketOptions.IP_TOS, BULK);
        socket.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        socket.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, KEEPALIVE_IDLE_SECONDS);
        socket.setOption(ExtendedSocketOptions.TCP_KEEPINTERVAL, KEEPALIVE_INTERVAL_SECONDS);
        socket.setOption(ExtendedSocketOptions.TCP_KEEPCOUNT, KEEPALIVE_PROBES);
    }

    ByteStream carrier() {
        return carrier;
    }

    boolean isReadable() {
        return key.isReadable();
    }

    boolean isWritable() {
        return key.isWritable();
    }

    /** Selects its socket for the needs of a carrier that may have something to be read, or to be written. */
    void await(boolean reads, boolean writes) {
        interest(carrier.interest(reads, writes));
    }

    void interest(int operations) {
        if (key.interestOps() != operations) {
            key.interestOps(operations);
        }
    }

    /**
     * Reads what is expected.
     *
     * @return true once it is there
     * @throws IOException if the neighbour has gone
     */
    boolean fill(ByteBuffer expected) throws IOException {
        if (socket.read(expected) < 0) {
            throw new IOException("it was closed");
        }
        return !expected.hasRemaining();
    }

    /** Sends a few bytes, for which there is room. */
    void send(byte[] bytes) throws IOException {
        if (socket.write(ByteBuffer.wrap(bytes)) != bytes.length) {
            throw new IOException("a fresh socket takes no more");
        }
    }

    // ---- what carries its bytes

    /** Begins to agree with the neighbour on what carries the bytes. */
    void upgrade(HopUpgrade begun) throws IOException {
        upgrade = begun;
        send(begun.begin());
        interest(SelectionKey.OP_READ);
    }

    /** Reads what the neighbour says, and answers; returns true once both have agreed. */
    boolean continueUpgrade() throws IOException {
        HopUpgrade begun = upgrade;
        if (begun == null || begun.isOver()) {
            return true;
        }
        if (fill(begun.expected())) {
            send(begun.next());
        }
        if (begun.isOver()) {
            interest(0); // the next that comes is for the carrier
        }
        return begun.isOver();
    }

    /** Returns whether chunks carry the bytes from now on. */
    boolean hasChunks() {
        return upgrade != null && upgrade.isRdma();
    }

    /**
     * Has what was agreed on carry the bytes.
     *
     * @param writes whether the relay writes to it, and does not only forward to it
     */
    Optional<ChunkStream> carryByChunks(boolean writes) throws IOException {
        HopUpgrade agreed = upgrade;
        if (agreed == null) {
            return Optional.empty();
        }
        Optional<ChunkStream> chunks = agreed.stream(socket, writes, Runnable::run);
        chunks.ifPresent(this::carryBy);
        return chunks;
    }

    void carryBy(ByteStream other) {
        carrier = other;
    }

    // ---- its end

    /** The neighbour is to see that its connection broke, and not that it ended. */
    void reset() {
        try {
            socket.setOption(StandardSocketOptions.SO_LINGER, 0);
        } catch (IOException e) {
            log.debug("{} is closed already", socket, e);
        }
    }

    void close() {
        if (upgrade != null) {
            upgrade.close();
        }
        carrier.close();
    }
}
