package trigon.stream.hop;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import trigon.stream.ByteStream;
import trigon.system.NanoClock;
import trigon.testsupport.verbs.SendFabric;
import trigon.verbs.Gid;

/** A hop between two addresses of this machine: two sockets, and whatever its two sides agree on. */
final class TestHop implements AutoCloseable {

    static final InetAddress LOCAL = InetAddress.getLoopbackAddress();
    static final Gid GID = Gid.of(LOCAL);

    final SocketChannel dialled;
    final SocketChannel accepted;
    final Optional<ChunkStream> dialler;
    final Optional<ChunkStream> accepter;

    /** Sides that write. */
    TestHop(HopDevices ofDialler, HopDevices ofAccepter) throws IOException {
        this(ofDialler, ofAccepter, true, true);
    }

    TestHop(HopDevices ofDialler, HopDevices ofAccepter, boolean diallerWrites, boolean accepterWrites)
            throws IOException {
        try (ServerSocketChannel server = ServerSocketChannel.open().bind(new InetSocketAddress(LOCAL, 0))) {
            dialled = SocketChannel.open(server.getLocalAddress());
            accepted = server.accept();
        }
        HopUpgrade one = diallerWrites
                ? HopUpgrade.ofDialer(ofDialler, LOCAL, LOCAL)
                : HopUpgrade.ofOutgoing(ofDialler, LOCAL, LOCAL);
        HopUpgrade other = accepterWrites
                ? HopUpgrade.ofAccepter(ofAccepter, LOCAL, LOCAL)
                : HopUpgrade.ofIncoming(ofAccepter, LOCAL, LOCAL);
        byte[] said = one.begin();
        while (!one.isOver() || !other.isOver()) {
            other.expected().put(said);
            byte[] answer = other.next();
            if (answer.length > 0) {
                one.expected().put(answer);
                said = one.next();
            }
        }
        dialled.configureBlocking(false);
        accepted.configureBlocking(false);
        dialler = one.stream(dialled, diallerWrites, Runnable::run);
        accepter = other.stream(accepted, accepterWrites, Runnable::run);
    }

    static SendFabric fabric() {
        return new SendFabric(Map.of("one", GID));
    }

    static HopDevices devices(SendFabric fabric) {
        return devices(fabric, Long.MAX_VALUE);
    }

    /** The slots of all their hops lock so much at most. */
    static HopDevices devices(SendFabric fabric, long mostBytes) {
        return new HopDevices(List.of(new HopPort(fabric, LOCAL, "one", 1, GID)), mostBytes);
    }

    static HopDevices devices(SendFabric fabric, NanoClock clock) {
        return new HopDevices(List.of(new HopPort(fabric, LOCAL, "one", 1, GID)), Long.MAX_VALUE, clock);
    }

    static ByteBuffer bytes(int... values) {
        ByteBuffer buffer = ByteBuffer.allocateDirect(values.length);
        for (int value : values) {
            buffer.put((byte) value);
        }
        return buffer.flip();
    }

    @Override
    public void close() {
        dialler.ifPresent(ByteStream::close);
        accepter.ifPresent(ByteStream::close);
        try {
            dialled.close();
            accepted.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
