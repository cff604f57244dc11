package trigon.relay;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/**
 * One direction of a circuit: from one socket through its own slot into the other. It reads only into an empty slot, so
 * a receiver that does not read holds up its sender, by TCP, and nobody else. Allocates nothing.
 */
final class Splice {

    private final SocketChannel from;
    private final SocketChannel to;
    private final ByteBuffer slot;
    private boolean full;
    private boolean ended;
    private boolean over;

    Splice(SocketChannel from, SocketChannel to, ByteBuffer slot) {
        this.from = from;
        this.to = to;
        this.slot = slot;
    }

    /**
     * Moves what one slot holds, if it can.
     *
     * @return how many bytes were written
     * @throws IOException if one of the sockets is broken
     */
    int step() throws IOException {
        if (!full && !ended) {
            slot.clear();
            int read = from.read(slot);
            if (read < 0) {
                ended = true;
            }
            slot.flip();
            full = slot.hasRemaining();
        }
        int written = full ? to.write(slot) : 0;
        full = slot.hasRemaining() && full;
        if (ended && !full && !over) {
            over = true;
            to.shutdownOutput();
        }
        return written;
    }

    /** Whether it waits for its source to have something. */
    boolean wantsToRead() {
        return !full && !ended;
    }

    /** Whether it waits for room at the other end. */
    boolean wantsToWrite() {
        return full;
    }

    /** Whether its source has ended, and the other end has all of it. */
    boolean isOver() {
        return over;
    }

    ByteBuffer slot() {
        return slot;
    }
}
