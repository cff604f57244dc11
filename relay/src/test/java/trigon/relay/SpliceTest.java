package trigon.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;
import trigon.stream.ByteStream;

/** One direction through a slot, and what it says of itself. */
class SpliceTest {

    private final FakeStream from = new FakeStream();
    private final FakeStream to = new FakeStream();
    private final Splice splice = new Splice(from, to, ByteBuffer.allocate(16));

    /** A side with so many bytes to be read, and room for so many. */
    private static final class FakeStream implements ByteStream {

        private int left;
        private int room;
        private boolean ends;
        private boolean hasRoomForEnd;
        private int shutdowns;

        @Override
        public int read(ByteBuffer into) {
            if (left == 0) {
                return ends ? -1 : 0;
            }
            int bytes = Math.min(left, into.remaining());
            into.position(into.position() + bytes);
            left -= bytes;
            return bytes;
        }

        @Override
        public long read(ByteBuffer[] into, int offset, int length) {
            throw new UnsupportedOperationException();
        }

        @Override
        public int write(ByteBuffer bytes) {
            int written = Math.min(room, bytes.remaining());
            bytes.position(bytes.position() + written);
            room -= written;
            return written;
        }

        @Override
        public long write(ByteBuffer[] bytes, int offset, int length) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void shutdownOutput() {
            shutdowns++;
        }

        @Override
        public boolean isOutputOver() {
            return shutdowns > 0 && hasRoomForEnd;
        }

        @Override
        public boolean isSelectable() {
            return false;
        }

        @Override
        public int interest(boolean reads, boolean writes) {
            return 0;
        }

        @Override
        public void sleep() {}

        @Override
        public boolean listen() {
            return true;
        }

        @Override
        public boolean hasInput() {
            return left > 0;
        }

        @Override
        public boolean isSending() {
            return false;
        }

        @Override
        public void close() {}
    }

    @Test
    void isHeldUpWhileTheReceiverHasNoRoom() throws IOException {
        from.left = 10;
        to.room = 4;
        assertThat(splice.step()).isEqualTo(4);
        assertThat(splice.isHeldUp()).isTrue();

        to.room = 100;
        assertThat(splice.step()).isEqualTo(6);
        assertThat(splice.isHeldUp()).isFalse();
        assertThat(splice.isOver()).isFalse();
    }

    /** An end by RDMA takes a slot at the receiver, who may be slow. */
    @Test
    void isOverOnceTheEndHasBeenSent() throws IOException {
        from.left = 10;
        from.ends = true;
        to.room = 100;
        splice.step();
        splice.step();
        assertThat(to.shutdowns).isOne();
        assertThat(splice.isOver()).isFalse();
        assertThat(splice.isHeldUp()).isTrue();

        to.hasRoomForEnd = true;
        splice.step();

        assertThat(splice.isOver()).isTrue();
        assertThat(splice.isHeldUp()).isFalse();
        assertThat(to.shutdowns).isOne();
    }
}
