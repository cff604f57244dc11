package trigon.software.responder;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.concurrent.Executor;
import trigon.stream.ByteStream;
import trigon.stream.hop.HopUpgrade;
import trigon.system.Memory;

/**
 * The agreement of the last relay and this end on the hop between them. Only in the event loop's thread: queue pairs
 * are opened and connected, which may block.
 */
final class InboundUpgrade {

    private final HopUpgrade upgrade;

    /** One that has heard nothing yet. */
    InboundUpgrade(HopUpgrade upgrade) {
        this.upgrade = upgrade;
    }

    /** Length of what the relay says next. */
    int expectedBytes() {
        return upgrade.expected().capacity();
    }

    /**
     * The relay has said something, which lies at that address, and is answered.
     *
     * @return whether both have agreed
     * @throws IOException if it does not speak this protocol
     */
    boolean hear(long at, SocketChannel channel) throws IOException {
        Memory.copy(at, MemorySegment.ofBuffer(upgrade.expected()), expectedBytes());
        ByteBuffer answer = ByteBuffer.wrap(upgrade.next());
        channel.write(answer);
        if (answer.hasRemaining()) {
            throw new IOException("a fresh socket has no room");
        }
        return upgrade.isOver();
    }

    /** {@link HopUpgrade#carrier}. */
    ByteStream carrier(SocketChannel channel, Executor disposer) throws IOException {
        return upgrade.carrier(channel, disposer);
    }

    void close() {
        upgrade.close();
    }
}
