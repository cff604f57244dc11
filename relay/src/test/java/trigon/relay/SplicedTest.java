package trigon.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.stream.ByteStream;
import trigon.stream.loop.EventLoop;
import trigon.system.NanoClock;
import trigon.testsupport.Await;

/** A circuit that comes to rest leaves nothing behind that it could have passed on. */
@Timeout(120)
class SplicedTest {

    private static final int LENGTH = 100;

    /** A stream that has room once it has been read: that takes note of the neighbour's credits, as chunks do. */
    private static final class LateRoom implements ByteStream {

        private boolean hasRoom;
        private boolean sleeps;
        private int written;

        @Override
        public int read(ByteBuffer into) {
            hasRoom = true;
            return 0;
        }

        @Override
        public int write(ByteBuffer bytes) {
            if (!hasRoom) {
                return 0;
            }
            int all = bytes.remaining();
            bytes.position(bytes.limit());
            written += all;
            return all;
        }

        @Override
        public long read(ByteBuffer[] into, int offset, int length) {
            throw new UnsupportedOperationException();
        }

        @Override
        public long write(ByteBuffer[] bytes, int offset, int length) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void shutdownOutput() {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean isOutputOver() {
            return false;
        }

        @Override
        public boolean isSelectable() {
            return false;
        }

        @Override
        public int interest(boolean reads, boolean writes) {
            return SelectionKey.OP_READ;
        }

        @Override
        public void sleep() {
            sleeps = true;
        }

        @Override
        public boolean listen() {
            return false;
        }

        @Override
        public boolean hasInput() {
            return false;
        }

        @Override
        public boolean isSending() {
            return false;
        }

        @Override
        public void close() {}
    }

    private static boolean isFullAfterStep(Splice splice) {
        try {
            splice.step();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return splice.wantsToWrite();
    }

    @Test
    void bytesForWhichThereIsRoomAreNotLeftWhenItSleeps() throws IOException {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        try (EventLoop loop = new EventLoop("test-loop", "a test fails", NanoClock.SYSTEM);
                ServerSocketChannel listener = ServerSocketChannel.open().bind(new InetSocketAddress(loopback, 0));
                SocketChannel client = SocketChannel.open(listener.getLocalAddress());
                SocketChannel accepted = listener.accept();
                SocketChannel other = SocketChannel.open(listener.getLocalAddress())) {
            accepted.configureBlocking(false);
            other.configureBlocking(false);
            Side incoming = new Side(accepted, loop, 0, _ -> {});
            Side outgoing = new Side(other, loop, 0, _ -> {});
            LateRoom late = new LateRoom();
            outgoing.carryBy(late);
            Splice onward = new Splice(incoming.carrier(), late, ByteBuffer.allocate(LENGTH));
            Splice back = new Splice(late, incoming.carrier(), ByteBuffer.allocate(LENGTH));
            Spliced spliced = new Spliced(incoming, outgoing, onward, back);
            client.write(ByteBuffer.allocate(LENGTH));
            Await.until("the slot is full", () -> isFullAfterStep(onward));

            assertThat(spliced.poll()).isZero(); // reading back has found room, after writing has found none

            assertThat(spliced.sleep()).isEqualTo(LENGTH);
            assertThat(late.written).isEqualTo(LENGTH);
            assertThat(late.sleeps).isTrue();
        }
    }
}
