package trigon.software.lanes;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.software.connection.LocalQueuePair;
import trigon.software.memory.Buffers;
import trigon.software.memory.PayloadWindows;
import trigon.software.memory.SoftwareMemoryRegion;
import trigon.software.queue.PaddedCounter;
import trigon.software.queue.RingSlots;
import trigon.software.wire.WireFormat;

/**
 * A connection on which pieces of a queue pair's messages leave: a ring that is filled under the queue pair's lock and
 * worked off during the iterations of the lane's worker, or of another one that helps it.
 */
final class OutgoingLane {

    private static final Logger log = LoggerFactory.getLogger(OutgoingLane.class);

    /** One piece of each message that may be under way. */
    private static final int PIECES = SentPieces.MESSAGES;

    private static final int STRIDE = 5;
    private static final int WRITES_AT_ONCE = 2;

    /**
     * Most bytes in one system call: fits the cache of a core, and does not keep the worker from other lanes for
     * long.
     */
    static final int MAX_WRITE_BYTES = 256 << 10;

    private final SocketChannel channel;
    private final LocalQueuePair queuePair;
    private final int number;
    private final LaneHost worker;
    private final SentPieces sent;
    private final long[] slots = new long[PIECES * STRIDE];
    private final @Nullable SoftwareMemoryRegion[] regions = new SoftwareMemoryRegion[PIECES];
    private final PaddedCounter tail = new PaddedCounter();
    /** Pieces that are with the socket. */
    private final PaddedCounter done = new PaddedCounter();

    private final LaneOwnership ownership = new LaneOwnership();
    private volatile boolean full;

    // its owner's
    private long head;
    private final ByteBuffer header = Buffers.allocate(WireFormat.PIECE_BYTES).limit(0);
    private final long headerAddress =
            MemorySegment.ofBuffer(header.duplicate().clear()).address();
    private final ByteBuffer[] pair = {header, header};
    private final PayloadWindows windows = new PayloadWindows();
    private @Nullable SoftwareMemoryRegion source;
    private long address;
    private int left;

    private final PaddedCounter bytes = new PaddedCounter();
    private volatile boolean broken;
    private volatile int lostPsn = -1;

    OutgoingLane(SocketChannel channel, int number, LocalQueuePair queuePair, LaneHost worker, SentPieces sent) {
        this.channel = channel;
        this.number = number;
        this.queuePair = queuePair;
        this.worker = worker;
        this.sent = sent;
    }

    SocketChannel channel() {
        return channel;
    }

    /** Its place among the queue pair's lanes, from 1. */
    int number() {
        return number;
    }

    /** Its worker sends no more on it, and the socket is closed. Any thread. */
    void close() {
        worker.remove(this);
    }

    // ---- under the queue pair's lock

    /** Adds a piece; there is room for one of each message under way. {@link WireFormat#putPiece} */
    void offer(
            @Nullable SoftwareMemoryRegion region,
            long messageAddress,
            int opcode,
            int psn,
            int receiveNumber,
            int length,
            int offset,
            int messageLength,
            int immediate) {
        long index = tail.get();
        int slot = (int) index & (PIECES - 1);
        regions[slot] = region;
        slots[slot * STRIDE] = messageAddress;
        slots[slot * STRIDE + 1] = RingSlots.pack(psn, receiveNumber);
        slots[slot * STRIDE + 2] = RingSlots.pack(length, offset);
        slots[slot * STRIDE + 3] = RingSlots.pack(messageLength, immediate);
        slots[slot * STRIDE + 4] = opcode;
        tail.setVolatile(index + 1);
        worker.wake();
    }

    /** Whether the connection does not work any more. */
    boolean isBroken() {
        return broken;
    }

    /** How much it has sent. */
    long bytes() {
        return bytes.getAcquire();
    }

    /** The message whose source was deregistered while it was sent; -1 if there is none. */
    int lostPsn() {
        return lostPsn;
    }

    /** {@link LaneOwnership#tryAcquire}. */
    boolean tryAcquire() {
        return ownership.tryAcquire();
    }

    void release() {
        ownership.release();
    }

    /** Returns once nobody sends on it; nobody does any more. */
    void retire() {
        ownership.retire();
    }

    // ---- during a worker's iteration

    /** It sends nothing more, and its queue pair is to know. */
    void abort(LaneHost sender) {
        broken = true;
        sender.tell(queuePair);
        queuePair.onBroken();
    }

    /** What its worker's selector is to look for while that sleeps. */
    int interest() {
        if (broken) {
            return 0;
        }
        return hasWork() ? SelectionKey.OP_READ | SelectionKey.OP_WRITE : SelectionKey.OP_READ;
    }

    /**
     * There is something to be read, and the peer never says anything on it: it has come to its end.
     *
     * @param anything room for a byte
     */
    void onReadable(LaneHost sender, ByteBuffer anything) {
        boolean over;
        try {
            over = channel.read(anything) != 0;
        } catch (IOException | NotYetConnectedException _) {
            over = true;
        }
        if (over && !broken) {
            abort(sender);
        }
    }

    boolean hasWork() {
        return !broken && done.getVolatile() != tail.getVolatile();
    }

    /** Whether the socket took nothing the last time. */
    boolean isFull() {
        return full;
    }

    /**
     * Gives the socket what there is and it takes, but not without limit; false if it took nothing. For who has
     * {@linkplain #tryAcquire acquired} it.
     *
     * @param sender the worker that sends
     */
    boolean send(LaneHost sender) {
        boolean wrote = false;
        try {
            for (int i = 0; i < WRITES_AT_ONCE && hasWork(); i++) {
                boolean took = write(sender) != 0 || broken;
                if (full == took) {
                    full = !took;
                }
                if (!took) {
                    break;
                }
                wrote = true;
            }
        } catch (IOException _) {
            abort(sender);
        } catch (RuntimeException | VirtualMachineError e) {
            log.warn("A lane of {} ends, for lack of memory or by a defect of the software device", queuePair, e);
            abort(sender);
        }
        return wrote;
    }

    private long write(LaneHost sender) throws IOException {
        if (left == 0 && !header.hasRemaining()) {
            startNext();
        }
        long written;
        SoftwareMemoryRegion region = source;
        if (left == 0) {
            written = channel.write(header);
        } else if (region == null || !region.isOpen()) {
            // the rest of the piece cannot be had, so nothing after it can be told apart any more
            lostPsn = WireFormat.piecePsn(headerAddress);
            abort(sender);
            return 0;
        } else {
            written = writePayload(region);
        }
        if (left == 0 && !header.hasRemaining()) {
            onPieceSent(sender);
        }
        return written;
    }

    /** With what is left of the header. */
    private long writePayload(SoftwareMemoryRegion region) throws IOException {
        int chunk = Math.min(left, MAX_WRITE_BYTES);
        ByteBuffer payload = windows.of(region, address, chunk);
        long written;
        if (header.hasRemaining()) {
            pair[1] = payload;
            written = channel.write(pair, 0, 2);
            pair[1] = header;
        } else {
            written = channel.write(payload);
        }
        int taken = chunk - payload.remaining();
        address += taken;
        left -= taken;
        bytes.setRelease(bytes.get() + taken);
        return written;
    }

    private void onPieceSent(LaneHost sender) {
        source = null;
        done.setVolatile(done.get() + 1);
        int weight = WireFormat.weight(WireFormat.pieceLength(headerAddress));
        int whole = WireFormat.weight(WireFormat.pieceMessageLength(headerAddress));
        if (sent.add(WireFormat.piecePsn(headerAddress), weight) == whole) {
            sender.tell(queuePair); // it may be complete
        }
    }

    private void startNext() {
        int slot = (int) head & (PIECES - 1);
        source = regions[slot];
        long names = slots[slot * STRIDE + 1];
        long place = slots[slot * STRIDE + 2];
        long message = slots[slot * STRIDE + 3];
        address = slots[slot * STRIDE] + RingSlots.low(place);
        left = RingSlots.high(place);
        WireFormat.putPiece(
                headerAddress,
                (int) slots[slot * STRIDE + 4],
                RingSlots.high(names),
                RingSlots.low(names),
                left,
                RingSlots.low(place),
                RingSlots.high(message),
                RingSlots.low(message));
        header.clear();
        head++;
    }
}
