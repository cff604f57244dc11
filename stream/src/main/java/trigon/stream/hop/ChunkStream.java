package trigon.stream.hop;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.stream.ByteStream;
import trigon.stream.SocketStream;
import trigon.system.Memory;
import trigon.system.NanoClock;
import trigon.verbs.MemoryRegion;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletionStatus;
import trigon.verbs.WorkCompletions;

/**
 * A stream whose bytes go from slot to slot by RDMA SENDs, 1 to 64 KiB each: a chunk. Only who holds a credit sends one
 * ({@link ChunkWindow}), so no NIC ever waits for a receive. What breaks the rules breaks the stream.
 *
 * <p>A chunk is read where it landed, or sent on from there by {@link ChunkForwarder}. Reading and writing look at the
 * completion queue; a side that sleeps is woken by a {@link Bell}.
 */
public final class ChunkStream implements ByteStream {

    /** Marks the receives among the work request identifiers; the rest of these is the slot. */
    static final int RECEIVE = 1 << 16;
    /** A message that carries credits alone. */
    static final int NO_SLOT = 1 << 17;

    private static final int SLOT_MASK = 0xFFFF;

    /** A send ends by its timers, in a second or some; a queue pair that says nothing for so long never will. */
    private static final long MAX_SILENCE_NANOS = TimeUnit.SECONDS.toNanos(10);

    private static final Logger log = LoggerFactory.getLogger(ChunkStream.class);

    /** States of the direction away from this side. */
    private enum Output {
        OPEN,
        /** No more bytes are taken; the end waits for a credit. */
        ENDING,
        /** The other side has been told of the end, or is gone. */
        ENDED
    }

    private final HopQueuePair resources;
    private final WorkCompletions completions;
    private final ChunkWindow window;
    private final Bell bell;
    private final SocketChannel socket;
    private final Executor disposer;
    private final NanoClock clock;
    private final int peerSlots;
    final int peerSlotBytes;

    /** Chunks that have come and are not used up, in their order. */
    private final ArrivedChunks arrived;

    private int sending;

    /** When the first of what is being sent was posted, or the last one before it was done. */
    private long sendingSince;

    private Output output = Output.OPEN;
    private boolean closeHeard;
    private boolean closed;
    private @Nullable IOException failure;
    private @Nullable ChunkStream source;
    private @Nullable SendSlots sendSlots;
    private final ByteBuffer[] alone = new ByteBuffer[1];
    private final ByteBuffer receiveSlots;

    /**
     * The stream of a hop whose two sides have agreed.
     *
     * @param resources connected; the stream's from now on
     * @param peer the slots to fill at the other side
     * @param socket the hop's TCP connection, with nothing unread of what was said to agree
     * @param disposer gives back what is held on the device, which may block
     * @param clock by which a queue pair is silent
     */
    ChunkStream(HopQueuePair resources, SlotGeometry peer, SocketChannel socket, Executor disposer, NanoClock clock) {
        this.clock = clock;
        this.resources = resources;
        this.socket = socket;
        this.disposer = disposer;
        completions = resources.batch();
        window = new ChunkWindow(peer.slots(), resources.receives().slots());
        bell = new Bell(socket, window);
        peerSlots = peer.slots();
        peerSlotBytes = peer.slotBytes();
        arrived = new ArrivedChunks(resources.receives().receives());
        receiveSlots = Memory.segment(
                        resources.receiveSlot(0), resources.receives().bytes())
                .asByteBuffer();
    }

    /**
     * Slots to write from.
     *
     * @throws trigon.verbs.VerbsException if the device takes no more memory
     */
    void addSendSlots() {
        MemoryRegion region = resources.addSendSlots((long) peerSlots * peerSlotBytes);
        sendSlots = new SendSlots(region, peerSlots, peerSlotBytes);
    }

    // ---- completions

    /**
     * Looks at the completion queue.
     *
     * @throws IOException if the stream is broken
     */
    public void poll() throws IOException {
        int count;
        do {
            count = closed ? 0 : resources.completions().poll(completions);
            if (count < 0) {
                throw broken("its completion queue cannot be polled: errno " + -count);
            }
            for (int i = 0; i < count; i++) {
                onCompletion(i);
            }
        } while (count == completions.capacity());
        if (count == 0 && isSending() && clock.nanoTime() - sendingSince >= MAX_SILENCE_NANOS) {
            throw broken("RDMA says nothing of what was sent 10 s ago");
        }
        if (bell.isClosed()) {
            onNeighbourClosed();
        } else if (output == Output.ENDING && window.maySend()) {
            output = Output.ENDED;
            send(NO_SLOT, 0, 0, 0, window.sendChunk(true));
        }
    }

    /** One that has heard the end of this side may go without a word of its own. */
    private void onNeighbourClosed() throws IOException {
        if (!window.hasPeerEnded()) {
            if (output != Output.ENDED) {
                throw broken("the neighbour has closed the connection");
            }
            window.endPeer();
            arrived.add(NO_SLOT, 0, true);
        }
        output = Output.ENDED;
    }

    private void onCompletion(int i) throws IOException {
        int status = completions.statusCode(i);
        if (status != WorkCompletionStatus.SUCCESS_CODE) {
            throw broken("RDMA reports " + WorkCompletionStatus.ofCode(status));
        }
        int id = (int) completions.workRequestId(i);
        if ((id & RECEIVE) != 0) {
            onReceived(id & SLOT_MASK, completions.immediate(i), completions.byteLength(i));
            return;
        }
        sending--;
        sendingSince = clock.nanoTime();
        if ((id & NO_SLOT) == 0 && source != null) {
            source.release(id & SLOT_MASK);
        }
    }

    private void onReceived(int slot, int immediate, int length) throws IOException {
        String flaw = window.receive(immediate, length);
        if (flaw != null) {
            throw broken("the neighbour violates the protocol: " + flaw);
        }
        if (ChunkWindow.isCredits(immediate)) {
            post(slot);
        } else {
            arrived.add(slot, length, ChunkWindow.isEnd(immediate));
        }
    }

    private void post(int slot) throws IOException {
        int errno = resources.postReceive(slot);
        if (errno != 0) {
            throw broken("no receive can be posted: errno " + errno);
        }
    }

    /** A chunk is used up. What is owed then is given back at once: this side may be about to sleep. */
    private void release(int slot) throws IOException {
        if (!closed && failure == null) {
            post(slot);
            window.release();
            if (window.isCreditDue()) {
                send(NO_SLOT, 0, 0, 0, window.sendCredits());
            }
        }
    }

    private IOException broken(String why) {
        IOException known = failure;
        if (known == null) {
            known = new IOException(why);
            failure = known;
            log.debug("{}: {}", this, why);
        }
        return known;
    }

    private void requireWell() throws IOException {
        if (failure != null) {
            throw failure;
        }
        requireOpen();
    }

    /** After the end its slots may be gone. */
    private void requireOpen() throws IOException {
        if (closed) {
            throw new IOException("it is closed");
        }
    }

    // ---- reading

    @Override
    public int read(ByteBuffer into) throws IOException {
        return arrivedBytes() ? take(into) : arrived.has() ? -1 : 0;
    }

    @Override
    public long read(ByteBuffer[] into, int offset, int length) throws IOException {
        if (!arrivedBytes()) {
            return arrived.has() ? -1 : 0;
        }
        long bytes = 0;
        for (int i = offset; i < offset + length && arrived.has(); i++) {
            bytes += take(into[i]);
        }
        return bytes;
    }

    /** Returns whether there is a chunk to be read. What has come before the stream broke is still to be had. */
    private boolean arrivedBytes() throws IOException {
        requireOpen();
        if (!arrived.has()) {
            requireWell();
            poll();
        }
        return arrived.has() && !arrived.isEnd();
    }

    private int take(ByteBuffer into) throws IOException {
        int taken = 0;
        while (into.hasRemaining() && arrived.has() && !arrived.isEnd()) {
            int bytes = Math.min(into.remaining(), arrived.left());
            int from = arrived.slot() * resources.receives().slotBytes() + arrived.offset();
            into.put(receiveSlots.limit(from + bytes).position(from));
            taken += bytes;
            if (arrived.advance(bytes)) {
                release(arrived.remove());
            }
        }
        return taken;
    }

    @Override
    public int write(ByteBuffer from) throws IOException {
        alone[0] = from;
        return (int) write(alone, 0, 1);
    }

    @Override
    public long write(ByteBuffer[] from, int offset, int length) throws IOException {
        long written = 0;
        int filled = 0;
        for (int i = offset; i < offset + length && (i == offset || !from[i - 1].hasRemaining()); i++) {
            while (from[i].hasRemaining() && (filled > 0 || hasRoom())) {
                int bytes = Math.min(from[i].remaining(), peerSlotBytes - filled);
                slots().copy(from[i], bytes, filled);
                filled += bytes;
                written += bytes;
                if (filled == peerSlotBytes) {
                    sendStaged(filled);
                    filled = 0;
                }
            }
        }
        if (filled > 0) {
            sendStaged(filled);
        }
        return written;
    }

    private boolean hasRoom() throws IOException {
        requireWell();
        if (!maySend() || sending >= peerSlots) {
            poll();
        }
        return maySend() && sending < peerSlots;
    }

    private SendSlots slots() {
        SendSlots slots = sendSlots;
        if (slots == null) {
            throw new IllegalStateException("it has no slots to send from");
        }
        return slots;
    }

    private void sendStaged(int bytes) throws IOException {
        SendSlots slots = slots();
        int slot = slots.take();
        send(slot, slots.address(slot), bytes, slots.localKey(), window.sendChunk(false));
    }

    private void send(int id, long address, int bytes, int key, int immediate) throws IOException {
        int flags = SendFlag.SIGNALED | (bytes <= resources.maxInlineBytes() ? SendFlag.INLINE : 0);
        int errno = resources.queuePair().postSendWithImmediate(id, address, bytes, key, immediate, flags);
        if (errno != 0) {
            throw broken("nothing can be sent: errno " + errno);
        }
        if (sending++ == 0) {
            sendingSince = clock.nanoTime();
        }
        bell.onSent();
    }

    ArrivedChunks arrived() {
        return arrived;
    }

    HopQueuePair resources() {
        return resources;
    }

    /** Takes what it sends from the slots of another stream, which are released when it has been sent. */
    void sendFor(ChunkStream other) {
        source = other;
    }

    /**
     * Sends a chunk, or some of it, from where it lies, if it may.
     *
     * @param slot to be released then; {@link #NO_SLOT} for none
     */
    void sendFrom(int slot, long address, int bytes, int key) throws IOException {
        send(slot, address, bytes, key, window.sendChunk(false));
    }

    boolean maySend() throws IOException {
        if (bell.isClosed()) {
            throw broken("the neighbour accepts no more data");
        }
        return window.maySend() && output == Output.OPEN;
    }

    @Override
    public boolean isOutputOver() {
        return output == Output.ENDED;
    }

    @Override
    public void shutdownOutput() throws IOException {
        if (output == Output.OPEN) {
            requireWell();
            output = Output.ENDING;
            poll();
        }
    }

    @Override
    public boolean isSelectable() {
        return false;
    }

    /** The bell. If a word to a neighbour finds that it has closed it, the socket says so once more, to who sleeps. */
    @Override
    public int interest(boolean reads, boolean writes) {
        return closeHeard ? 0 : SelectionKey.OP_READ;
    }

    @Override
    public void sleep() throws IOException {
        if (!closed && failure == null) {
            bell.sleep();
        }
    }

    @Override
    public boolean listen() {
        try {
            boolean woken = closed || bell.listen();
            closeHeard |= bell.isClosed();
            return woken;
        } catch (IOException e) {
            broken("its connection broke: " + e.getMessage());
            return true;
        }
    }

    @Override
    public boolean hasInput() {
        return arrived.has() && !closed;
    }

    @Override
    public boolean isSending() {
        return sending > 0 && failure == null && !closed && !bell.isClosed();
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            new SocketStream(socket).close();
            disposer.execute(resources::close);
        }
    }

    @Override
    public String toString() {
        return "RDMA qp 0x%06x beside %s".formatted(resources.queuePair().number(), socket);
    }
}
