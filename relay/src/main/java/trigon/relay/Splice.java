package trigon.relay;

import java.io.IOException;
import java.nio.ByteBuffer;
import trigon.stream.ByteStream;

/**
 * One direction of a circuit, through its own slot. It reads only into an empty slot, so a receiver that does not read
 * holds up its sender and nobody else.
 */
final class Splice implements Direction {

    private final ByteStream from;
    private final ByteStream to;
    private final ByteBuffer slot;
    private long left;
    private boolean full;
    private boolean ended;
    private boolean told;

    /** A direction up to its end. */
    Splice(ByteStream from, ByteStream to, ByteBuffer slot) {
        this(from, to, slot, Long.MAX_VALUE);
    }

    /**
     * A direction that passes on so many bytes and no more.
     *
     * @param slot empty
     */
    Splice(ByteStream from, ByteStream to, ByteBuffer slot, long bytes) {
        this.from = from;
        this.to = to;
        this.slot = slot;
        left = bytes;
    }

    @Override
    public int step() throws IOException {
        if (!full && !ended && left > 0) {
            slot.clear().limit((int) Math.min(slot.capacity(), left));
            int read = from.read(slot);
            ended = read < 0;
            left -= Math.max(0, read);
            slot.flip();
            full = slot.hasRemaining();
        }
        int written = full ? to.write(slot) : 0;
        full = slot.hasRemaining() && full;
        if (ended && !full && !told) {
            told = true;
            to.shutdownOutput();
        }
        return written;
    }

    @Override
    public boolean wantsToRead() {
        return !full && !ended && left > 0;
    }

    @Override
    public boolean wantsToWrite() {
        return full;
    }

    @Override
    public boolean isHeldUp() {
        return full || (told && !isOver());
    }

    @Override
    public boolean isOver() {
        return told && to.isOutputOver();
    }

    /** Returns whether the bytes that it was to pass on are passed on. */
    boolean isComplete() {
        return left == 0 && !full;
    }
}
