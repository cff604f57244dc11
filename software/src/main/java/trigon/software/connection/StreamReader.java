package trigon.software.connection;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.Channel;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.software.memory.Buffers;
import trigon.software.wire.WireFormat;
import trigon.stream.ByteStream;
import trigon.stream.SocketOptions;
import trigon.stream.SocketStream;
import trigon.system.Memory;

/**
 * Cuts what arrives on a connection into headers of fixed length and payloads. Short payloads are read together with
 * their headers, and handed on where they lie in a small buffer; long ones are read where they are to go, together with
 * the header behind them. So a long message costs two reads, or one if the next is behind it, and nothing is copied but
 * what is short. Reading can be paused in the middle; what has arrived is kept then, and TCP holds the sender back.
 *
 * <p>A message may have a tail, a byte that says nothing. When a read leaves a socket empty, the kernel acknowledges at
 * once (tcp_cleanup_rbuf in net/ipv4/tcp.c), which takes longer than all else that a short message costs its receiver.
 * So after a read that found nothing, no more is read than a message as long as the last one with a tail; its own tail
 * stays behind, for a later read, which most likely finds nothing else and then has the time.
 *
 * <p>Never blocks, and allocates nothing in the steady state. Used by one thread at a time.
 */
public abstract class StreamReader {

    private static final Logger log = LoggerFactory.getLogger(StreamReader.class);

    private static final int HEADER_LIMIT = 128;

    /** The longest payload that is read together with its header, and copied. */
    protected static final int COPIED_BYTES = 4 << 10;

    /** Most reads in a row: who polls has other things to do. */
    private static final int READS_AT_ONCE = 4;

    private final SocketChannel channel;
    private ByteStream carrier;
    private final MemorySegment header = Buffers.allocateSegment(HEADER_LIMIT);
    private ByteBuffer buffer;
    private long bufferAddress;

    /** Buffers that are read into at once: where a payload is to go, and the buffer, for the header behind it. */
    private final ByteBuffer[] both;

    /** Begin of the bytes that were read and not handed on, while paused. */
    private int keptFrom;

    private int keptTo;
    private int headerBytes;
    private int headerFilled;
    private int payloadBytes;
    private int payloadLeft;
    private int tailLeft;
    /** The last payload was long. So is the next most likely, and nothing of it is read with its header. */
    private boolean wasLong;
    /** Header and payload of the last message, if it had a tail; else 0. */
    private int likelyBytes;
    /** The last read found nothing, or a tail. */
    private boolean foundNothing;

    private boolean paused;
    private boolean discarding;
    private volatile boolean ended; // others may ask
    private boolean readsOneHeader;
    private boolean asksOften;

    /**
     * A reader with a buffer of its own.
     *
     * @param mostCopied length of the longest payload that is read together with its header
     */
    protected StreamReader(SocketChannel channel, int headerBytes, int mostCopied) {
        this(channel, headerBytes, Buffers.allocate(mostCopied + HEADER_LIMIT), false);
    }

    /**
     * A reader that reads no more than one header, into a buffer that it shares with others, until it {@linkplain
     * #takeOwnBuffer gets its own}.
     *
     * @param shared neither its position nor its limit is used or changed
     */
    protected StreamReader(SocketChannel channel, int headerBytes, ByteBuffer shared) {
        this(channel, headerBytes, shared.duplicate(), true);
    }

    private StreamReader(SocketChannel channel, int headerBytes, ByteBuffer buffer, boolean readsOneHeader) {
        this.channel = channel;
        carrier = new SocketStream(channel);
        this.headerBytes = headerBytes;
        this.buffer = buffer.clear();
        this.readsOneHeader = readsOneHeader;
        bufferAddress = MemorySegment.ofBuffer(this.buffer).address();
        both = new ByteBuffer[] {this.buffer, this.buffer};
    }

    /** A header is complete; it lies at {@code at} until this returns. */
    protected abstract void onHeader(long at);

    /** Some of the payload; after the last of it comes the next header. */
    protected abstract void onPayload(long at, int bytes, boolean last);

    /** The place for the rest of a payload, or some of it, to be read into at once; null if it is to be handed on. */
    protected @Nullable ByteBuffer inPlace(int bytes) {
        return null;
    }

    /** Some of the payload was read {@link #inPlace}. */
    protected void onPayloadInPlace(int bytes, boolean last) {
        throw new IllegalStateException("nothing is read in place");
    }

    /** Returns whether the payload that comes, of so many bytes in all, is to be read by another thread. */
    protected boolean isLeftToMover(int bytes) {
        return false;
    }

    /** The connection has ended, and the channel is closed; called once, whoever ended it. */
    protected abstract void onClosed();

    /** Its TCP connection, which has its place in selectors. */
    public final SocketChannel channel() {
        return channel;
    }

    /** The carrier of its bytes: the TCP connection, unless something else does. */
    public final ByteStream carrier() {
        return carrier;
    }

    final void setCarrier(ByteStream other) {
        carrier = other;
    }

    /** Ends the sharing of a buffer: from now on it reads what it gets. */
    protected final void takeOwnBuffer() {
        buffer = Buffers.allocate(COPIED_BYTES + HEADER_LIMIT);
        bufferAddress = MemorySegment.ofBuffer(buffer).address();
        both[1] = buffer;
        readsOneHeader = false;
    }

    /** Until {@link #takeOwnBuffer}, from now on in a buffer of its own: it reads no more than one header. */
    protected final void stopSharing() {
        buffer = Buffers.allocate(HEADER_LIMIT);
        bufferAddress = MemorySegment.ofBuffer(buffer).address();
        both[1] = buffer;
    }

    /** The headers that follow have that length. */
    protected final void expectHeaders(int bytes) {
        headerBytes = bytes;
    }

    /** Sets the length of what follows the header now being handled. */
    public final void expectPayload(int bytes) {
        payloadBytes = bytes;
        payloadLeft = bytes;
        wasLong = bytes > COPIED_BYTES || (bytes == 0 && wasLong); // NCCL sends an empty one behind each long one
    }

    /** Behind the payload of so many bytes, if any, that follows the header now being handled comes one byte more. */
    public final void expectTail(int payloadBytes) {
        tailLeft = WireFormat.TAIL_BYTES;
        // the length is what the peer says, and has not been looked at yet
        likelyBytes = payloadBytes >= 0 && payloadBytes <= COPIED_BYTES ? headerBytes + payloadBytes : 0;
    }

    /** Stops after the header or payload now being handled. */
    public final void pause() {
        paused = true;
    }

    /** Ends {@link #pause}; the next {@link #receive} goes on with what is kept. */
    public final void resume() {
        paused = false;
    }

    /** {@link SocketOptions#askOften} from now on. Under the lock of the queue pair. */
    public final void askOften() {
        if (!asksOften) {
            asksOften = true;
            SocketOptions.askOften(channel);
        }
    }

    /** Returns whether nothing is handed on for now. */
    protected final boolean isPaused() {
        return paused;
    }

    /** Returns whether there is something that was kept while paused, to be had by {@link #receive}. */
    public final boolean hasKept() {
        return !paused && keptFrom < keptTo;
    }

    /** Throws away everything from now on. */
    protected final void discard() {
        discarding = true;
        paused = false;
        keptFrom = keptTo;
        payloadLeft = 0;
        likelyBytes = 0;
    }

    /** Length of the payload of which some is to come; 0 if none is. */
    public final int payloadBytes() {
        return payloadLeft > 0 ? payloadBytes : 0;
    }

    /** Takes what has arrived, but not without limit. */
    public final void receive() {
        if (hasKept()) {
            feed();
        }
        try {
            boolean readsOn = true;
            for (int i = 0; i < READS_AT_ONCE && readsOn && !paused && !ended; i++) {
                if (payloadLeft > 0 && carrier.isSelectable() && isLeftToMover(payloadBytes)) {
                    return;
                }
                ByteBuffer place = payloadLeft >= COPIED_BYTES ? inPlace(payloadLeft) : null;
                readsOn = place == null ? readIntoBuffer() : readInto(place);
            }
        } catch (IOException e) {
            end(e.toString());
        }
    }

    /** Returns whether it is worth reading on. */
    private boolean readIntoBuffer() throws IOException {
        int wanted = limitOfBuffer();
        int bytes = carrier.read(buffer.clear().limit(wanted));
        foundNothing = bytes <= WireFormat.TAIL_BYTES;
        if (bytes < 0) {
            end("its other side closed it");
        } else {
            handOn(bytes);
        }
        return bytes == wanted && (isInMessage() || wanted == buffer.capacity());
    }

    private int limitOfBuffer() {
        if (readsOneHeader || (wasLong && payloadLeft == 0)) {
            return headerBytes - headerFilled + tailLeft;
        }
        boolean isLikely = foundNothing && likelyBytes > 0 && !isInMessage();
        return isLikely ? Math.min(tailLeft + likelyBytes, buffer.capacity()) : buffer.capacity();
    }

    /** Reads what is left of a payload, or some of it, and no more than the header behind it. */
    private boolean readInto(ByteBuffer place) throws IOException {
        int wanted = place.remaining();
        int behind = wanted == payloadLeft ? headerBytes : 0;
        both[0] = place;
        buffer.clear().limit(behind);
        long bytes = carrier.read(both, 0, behind == 0 ? 1 : 2);
        both[0] = buffer;
        foundNothing = bytes <= 0;
        if (bytes < 0) {
            end("its other side closed it");
        } else if (bytes > 0) {
            int ofPayload = (int) Math.min(bytes, wanted);
            payloadLeft -= ofPayload;
            onPayloadInPlace(ofPayload, payloadLeft == 0);
            handOn((int) bytes - ofPayload);
        }
        return bytes == wanted + behind && isInMessage();
    }

    private void handOn(int bytes) {
        keptFrom = 0;
        keptTo = bytes;
        feed();
    }

    private boolean isInMessage() {
        return payloadLeft > 0 || headerFilled > 0;
    }

    private void feed() {
        while (!discarding && !paused && keptFrom < keptTo) {
            long at = bufferAddress + keptFrom;
            if (payloadLeft > 0) {
                int piece = Math.min(payloadLeft, keptTo - keptFrom);
                payloadLeft -= piece;
                keptFrom += piece;
                onPayload(at, piece, payloadLeft == 0);
            } else if (tailLeft > 0) {
                tailLeft--;
                keptFrom++;
            } else {
                int piece = Math.min(headerBytes - headerFilled, keptTo - keptFrom);
                Memory.copy(at, header.address() + headerFilled, piece);
                headerFilled += piece;
                keptFrom += piece;
                if (headerFilled == headerBytes) {
                    headerFilled = 0;
                    likelyBytes = 0;
                    onHeader(header.address());
                }
            }
        }
        if (discarding) {
            keptFrom = keptTo;
        }
    }

    /** Ends the connection. Ending twice is allowed. */
    public final void end(String reason) {
        if (ended) {
            return;
        }
        ended = true;
        discard();
        readTail();
        log.debug("Connection {} ends: {}", channel, reason);
        carrier.close();
        onClosed();
    }

    /**
     * To a socket that is closed with something unread the kernel's answer is a reset, and the peer loses what was
     * said.
     */
    private void readTail() {
        if (tailLeft > 0 && carrier.isSelectable() && channel.isOpen()) {
            try {
                channel.read(buffer.clear());
            } catch (IOException e) {
                log.debug("{} has ended already: {}", channel, e.toString());
            }
        }
    }

    /** Closes a channel; if that fails, a line in the log is all. */
    public static void closeQuietly(Channel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            log.debug("Closing {}: {}", channel, e.toString());
        }
    }

    /** Returns whether the connection has come to its end. Any thread. */
    public final boolean isEnded() {
        return ended;
    }
}
