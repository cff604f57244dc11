package trigon.stream.hop;

import java.io.IOException;
import trigon.verbs.MemoryRegion;

/** Sends on what one stream receives by another, from where it lies. Used by one thread; allocates nothing. */
public final class ChunkForwarder {

    private final ChunkStream from;
    private final ChunkStream to;
    private final MemoryRegion slots;

    /**
     * From now on one stream sends what another receives, and nothing else.
     *
     * @throws trigon.verbs.VerbsException if the device takes no more memory
     */
    public ChunkForwarder(ChunkStream from, ChunkStream to) {
        this.from = from;
        this.to = to;
        slots = to.resources().addForwarded(from.resources());
        to.sendFor(from);
    }

    /**
     * Sends on what has come. Both streams are to be polled before.
     *
     * @return bytes sent on
     * @throws IOException if one of the two is broken
     */
    public int forward() throws IOException {
        ArrivedChunks arrived = from.arrived();
        int bytes = 0;
        while (arrived.has() && !arrived.isEnd() && to.maySend()) {
            bytes += send(arrived);
        }
        if (arrived.has() && arrived.isEnd()) {
            to.shutdownOutput();
        }
        return bytes;
    }

    private int send(ArrivedChunks arrived) throws IOException {
        int bytes = Math.min(arrived.left(), to.peerSlotBytes);
        long address = from.resources().receiveSlot(arrived.slot()) + arrived.offset();
        int slot = arrived.advance(bytes) ? arrived.remove() : ChunkStream.NO_SLOT;
        to.sendFrom(slot, address, bytes, slots.localKey());
        return bytes;
    }
}
