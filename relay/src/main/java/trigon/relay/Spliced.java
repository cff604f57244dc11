package trigon.relay;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.function.Supplier;
import trigon.stream.ByteStream;
import trigon.stream.hop.ChunkStream;

/** Both directions of a circuit that is open, whatever carries its two hops. The relay's thread; allocates nothing. */
final class Spliced {

    private final Side incoming;
    private final Side outgoing;
    private final Direction onward;
    private final Direction back;
    private long movedBytes;
    private long lookedAtBytes;
    private int stillLooks;

    Spliced(Side incoming, Side outgoing, Direction onward, Direction back) {
        this.incoming = incoming;
        this.outgoing = outgoing;
        this.onward = onward;
        this.back = back;
    }

    /**
     * Opens both directions.
     *
     * @param slots gives a slot for a direction that needs one
     * @throws IOException if a device has no memory for it
     */
    static Spliced of(Side incoming, Side outgoing, Supplier<ByteBuffer> slots) throws IOException {
        boolean forwards = incoming.hasChunks() && outgoing.hasChunks();
        Optional<ChunkStream> in = incoming.carryByChunks(!forwards);
        Optional<ChunkStream> out = outgoing.carryByChunks(!forwards);
        if (in.isPresent() && out.isPresent()) {
            return new Spliced(
                    incoming, outgoing, new Forwarding(in.get(), out.get()), new Forwarding(out.get(), in.get()));
        }
        return new Spliced(
                incoming,
                outgoing,
                new Splice(incoming.carrier(), outgoing.carrier(), slots.get()),
                new Splice(outgoing.carrier(), incoming.carrier(), slots.get()));
    }

    /** Returns whether it has to be polled while something moves. */
    boolean isPolled() {
        return !incoming.carrier().isSelectable() || !outgoing.carrier().isSelectable();
    }

    /**
     * A socket is ready, and there may be something.
     *
     * @return how many bytes were passed on
     */
    int onReady(Side ready) throws IOException {
        boolean fromClient = ready == incoming;
        if (!ready.carrier().isSelectable()) {
            return poll();
        }
        int moved = 0;
        if (ready.isReadable()) {
            moved += (fromClient ? onward : back).step();
        }
        if (ready.isWritable()) {
            moved += (fromClient ? back : onward).step();
        }
        movedBytes += moved;
        return moved;
    }

    /** Looks at what no selector tells. */
    int poll() throws IOException {
        poll(incoming.carrier());
        poll(outgoing.carrier());
        int moved = 0;
        if (isPolled(onward, incoming, outgoing)) {
            moved += onward.step();
        }
        if (isPolled(back, outgoing, incoming)) {
            moved += back.step();
        }
        movedBytes += moved;
        return moved;
    }

    private static void poll(ByteStream carrier) throws IOException {
        if (carrier instanceof ChunkStream chunks) {
            chunks.poll();
        }
    }

    private static boolean isPolled(Direction direction, Side from, Side to) {
        return (direction.wantsToRead() && !from.carrier().isSelectable())
                || (direction.wantsToWrite() && !to.carrier().isSelectable());
    }

    /** Has the selector wait for what is wanted now. */
    void await() {
        incoming.await(onward.wantsToRead(), back.wantsToWrite());
        outgoing.await(back.wantsToRead(), onward.wantsToWrite());
    }

    /** Looks whether bytes have moved. Returns at how many looks in succession none had. */
    int countStillLooks() {
        stillLooks = movedBytes == lookedAtBytes ? stillLooks + 1 : 0;
        lookedAtBytes = movedBytes;
        return stillLooks;
    }

    /** Returns whether what was passed on is still on its way. */
    boolean isSending() {
        return incoming.carrier().isSending() || outgoing.carrier().isSending();
    }

    /**
     * Has the neighbours make a socket ready with what comes next, since nobody may be polling. Then looks once more:
     * reading back takes note of room, too, which came after the last try to write onwards, and of which no neighbour
     * tells any more.
     *
     * @return how many bytes were passed on
     */
    int sleep() throws IOException {
        incoming.carrier().sleep();
        outgoing.carrier().sleep();
        int moved = poll();
        await();
        return moved;
    }

    /** Returns whether a side has ended, the other has been told, and nothing waits for room at either. */
    boolean isHalfOver() {
        return (onward.isOver() || back.isOver()) && !onward.isHeldUp() && !back.isHeldUp();
    }

    /** Returns whether both sides have ended, and have been told so. */
    boolean isOver() {
        return onward.isOver() && back.isOver() && !isSending();
    }
}
