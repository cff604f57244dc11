package trigon.software;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.DefaultMaxMessagesRecvByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * The buffer into which an event loop receives, for all its connections in turn: a reader consumes, or copies, all of
 * it before it returns. So receiving allocates nothing, and the bytes lie at an address that is known.
 */
final class ReceiveStaging {

    static final int BYTES = 256 << 10;

    private final ByteBuf buffer;
    private final long address;

    ReceiveStaging() {
        ByteBuffer memory = ByteBuffer.allocateDirect(BYTES);
        address = MemorySegment.ofBuffer(memory).address();
        buffer = Unpooled.wrappedBuffer(memory);
    }

    /** Where index 0 of the buffer lies. */
    long address() {
        return address;
    }

    /** What a connection, which may change threads, receives into. */
    static RecvByteBufAllocator allocator(StreamReader connection) {
        return new Allocator(connection);
    }

    private static final class Allocator extends DefaultMaxMessagesRecvByteBufAllocator {

        private final StreamReader connection;

        Allocator(StreamReader connection) {
            this.connection = connection;
        }

        @Override
        @SuppressWarnings("deprecation") // Netty's interface names the deprecated type
        public Handle newHandle() {
            return new MaxMessageHandle() {
                @Override
                public ByteBuf allocate(ByteBufAllocator allocator) {
                    return connection.thread().staging().buffer.clear().retain();
                }

                @Override
                public int guess() {
                    return BYTES;
                }
            };
        }
    }
}
