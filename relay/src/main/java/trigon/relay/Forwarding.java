package trigon.relay;

import java.io.IOException;
import trigon.stream.hop.ChunkForwarder;
import trigon.stream.hop.ChunkStream;

/** One direction of a circuit between two hops that carry chunks: these go on from where they landed. */
final class Forwarding implements Direction {

    private final ChunkStream from;
    private final ChunkStream to;
    private final ChunkForwarder forwarder;

    /**
     * A direction.
     *
     * @throws trigon.verbs.VerbsException if a device takes no more memory
     */
    Forwarding(ChunkStream from, ChunkStream to) {
        this.from = from;
        this.to = to;
        forwarder = new ChunkForwarder(from, to);
    }

    @Override
    public int step() throws IOException {
        return forwarder.forward();
    }

    @Override
    public boolean wantsToRead() {
        return true;
    }

    @Override
    public boolean wantsToWrite() {
        return true;
    }

    @Override
    public boolean isHeldUp() {
        return !isOver() && from.hasInput();
    }

    @Override
    public boolean isOver() {
        return to.isOutputOver();
    }
}
