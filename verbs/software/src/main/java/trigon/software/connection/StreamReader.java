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
import trigon.system.Memory;

/**
 * Cuts what arrives on a connection into headers of fixed length and payloads. A payload is handed on piece by piece
 * where it lies in the receive buffer. Reading can be paused in the middle; what has arrived is kept then, and TCP
 * holds the sender back.
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

    /** Enough for headers. */
    private static final int SMALL_BUFFER = 4 << 10;

    /** For connections that carry payloads. */
    private static final int LARGE_BUFFER = 64 << 10;

    /**
     * From so much of a payload on, the rest may be read where it is to go: that saves a copy, and costs a system
     * call. More than NCCL's longest messages with LL, 64 KiB, whose lines have to arrive in their order.
     */
    private static final int IN_PLACE_BYTES = (64 << 10) + 1;

    /** Most that is read with a header, where payloads may be read in place but the last was too short for that. */
    private static final int HEADER_READ = 32 << 10;

    /** Most reads in a row: who polls has other things to do. */
    private static final int READS_AT_ONCE = 4;

    private final SocketChannel channel;
    private final MemorySegment header = Buffers.allocateSegment(HEADER_LIMIT);
    private ByteBuffer buffer;
    private long bufferAddress;
    /** What has been read but not been handed on, while paused. */
    private int keptFrom;

    private int keptTo;
    private int headerBytes;
    private int headerFilled;
    private int payloadLeft;
    private int tailLeft;
    /**
     * The last payload was long enough to be read in place; so is the next most likely, and little is read with its
     * header.
     */
    private boolean wasInPlace;
    /** Header and payload of the last message, if it had a tail; else 0. */
    private int likelyBytes;
    /** The last read found nothing, or a tail. */
    private boolean foundNothing;

    private boolean paused;
    private boolean discarding;
    private volatile boolean ended; // others may ask
    private Sharing sharing;
    private boolean cannotGrow;
    private boolean asksOften;

    /** Whether others read into the same buffer, one after the other. */
    public enum Sharing {
        /** It is the reader's own. */
        NONE,
        /** It reads no more than one header into it, until it {@linkplain #takeOwnBuffer gets its own}. */
        FOR_ONE_HEADER,
        /** When it is paused it moves what is left to a buffer of its own, which it keeps. */
        UNTIL_PAUSED
    }

    /** A reader with a buffer of its own, which grows when there is use for it. */
    protected StreamReader(SocketChannel channel, int headerBytes) {
        this(channel, headerBytes, Buffers.allocate(SMALL_BUFFER), Sharing.NONE);
    }

    /**
     * A reader with a buffer that it may share with others.
     *
     * @param buffer neither its position nor its limit is used or changed: another reader may be at work in it, in
     *     another thread
     */
    protected StreamReader(SocketChannel channel, int headerBytes, ByteBuffer buffer, Sharing sharing) {
        this.channel = channel;
        this.sharing = sharing;
        this.headerBytes = headerBytes;
        this.buffer = buffer.duplicate().clear();
        bufferAddress = MemorySegment.ofBuffer(this.buffer).address();
    }

    /** A header is complete; it lies at {@code at} until this returns. */
    protected abstract void onHeader(long at);

    /** A piece of the payload; after the last one comes the next header. */
    protected abstract void onPayload(long at, int bytes, boolean last);

    /** Where the rest of a payload, or some of it, may be read into at once; null for where it is to be handed on. */
    protected @Nullable ByteBuffer inPlace(int bytes) {
        return null;
    }

    /** A piece of the payload was read {@link #inPlace}. */
    protected void onPayloadInPlace(int bytes, boolean last) {
        throw new IllegalStateException("nothing is read in place");
    }

    /** The connection has ended, and the channel is closed; called once, whoever ended it. */
    protected abstract void onClosed();

    /** What it reads from. */
    public final SocketChannel channel() {
        return channel;
    }

    /** Ends the sharing of a buffer. */
    protected final void takeOwnBuffer() {
        setBuffer(Buffers.allocate(SMALL_BUFFER));
        sharing = Sharing.NONE;
    }

    /** Others may read into the shared buffer as soon as this returns. */
    private void moveWhatIsKept() {
        if (sharing == Sharing.UNTIL_PAUSED && keptFrom < keptTo) {
            int kept = keptTo - keptFrom;
            long from = bufferAddress + keptFrom;
            setBuffer(Buffers.allocate(Math.max(kept, LARGE_BUFFER)));
            Memory.copy(from, bufferAddress, kept);
            keptFrom = 0;
            keptTo = kept;
            sharing = Sharing.NONE;
        }
    }

    private void setBuffer(ByteBuffer own) {
        buffer = own;
        bufferAddress = MemorySegment.ofBuffer(own).address();
    }

    /** The headers that follow have that length. */
    protected final void expectHeaders(int bytes) {
        headerBytes = bytes;
    }

    /** What follows the header now being handled. */
    public final void expectPayload(int bytes) {
        payloadLeft = bytes;
        wasInPlace = bytes >= IN_PLACE_BYTES + HEADER_LIMIT;
    }

    /** Behind the payload of so many bytes, if any, that follows the header now being handled comes one byte more. */
    public final void expectTail(int payloadBytes) {
        tailLeft = WireFormat.TAIL_BYTES;
        // the length is what the peer says, and has not been looked at yet
        likelyBytes = payloadBytes >= 0 && payloadBytes <= SMALL_BUFFER ? headerBytes + payloadBytes : 0;
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

    /** Whether nothing is handed on for now. */
    protected final boolean isPaused() {
        return paused;
    }

    /** Whether there is something that was kept while paused, to be had by {@link #receive}. */
    public final boolean hasKept() {
        return !paused && keptFrom < keptTo;
    }

    /** Throws away everything from now on. */
    protected final void discard() {
        discarding = true;
        paused = false;
        keptFrom = keptTo;
        likelyBytes = 0;
    }

    /** Takes what has arrived, but not without limit; false if that was nothing. */
    public final boolean receive() {
        boolean received = false;
        if (hasKept()) {
            received = true;
            feed();
        }
        try {
            for (int i = 0; i < READS_AT_ONCE && !paused && !ended; i++) {
                ByteBuffer place = payloadLeft >= IN_PLACE_BYTES ? inPlace(payloadLeft) : null;
                if (place != null) {
                    int wanted = place.remaining();
                    int taken = channel.read(place);
                    received |= taken != 0;
                    takeInPlace(taken);
                    if (taken < wanted) {
                        break;
                    }
                    continue;
                }
                ByteBuffer into = cleared();
                int wanted = into.remaining();
                int bytes = channel.read(into);
                foundNothing = bytes <= WireFormat.TAIL_BYTES;
                if (bytes < 0) {
                    end("its other side has ended it");
                } else if (bytes > 0) {
                    keptFrom = 0;
                    keptTo = bytes;
                    feed();
                }
                received |= bytes != 0;
                if (bytes < wanted || isDoneWith(wanted)) {
                    break;
                }
                growForPayload();
            }
        } catch (IOException e) {
            received |= !ended;
            end(e.toString());
        }
        moveWhatIsKept();
        return received;
    }

    private void takeInPlace(int bytes) {
        if (bytes < 0) {
            end("its other side has ended it");
        } else if (bytes > 0) {
            payloadLeft -= bytes;
            onPayloadInPlace(bytes, payloadLeft == 0);
        }
    }

    private ByteBuffer cleared() {
        buffer.clear();
        return switch (sharing) {
            case FOR_ONE_HEADER -> buffer.limit(headerBytes - headerFilled);
            case UNTIL_PAUSED -> payloadLeft == 0 ? buffer.limit(wasInPlace ? HEADER_LIMIT : HEADER_READ) : buffer;
            case NONE -> buffer.limit(likelyEnd());
        };
    }

    private int likelyEnd() {
        boolean isLikely = foundNothing && likelyBytes > 0 && payloadLeft == 0 && headerFilled == 0;
        return isLikely ? Math.min(tailLeft + likelyBytes, buffer.capacity()) : buffer.capacity();
    }

    /** Whether a read that found all that it wanted is not to be followed by another. */
    private boolean isDoneWith(int wanted) {
        boolean betweenMessages = payloadLeft == 0 && headerFilled == 0;
        boolean readsOn = sharing == Sharing.NONE || payloadLeft >= IN_PLACE_BYTES;
        return wanted < buffer.capacity() && (betweenMessages || !readsOn);
    }

    private void growForPayload() {
        if (payloadLeft > 0 && buffer.capacity() < LARGE_BUFFER && keptFrom == keptTo && !cannotGrow) {
            try {
                setBuffer(Buffers.allocate(LARGE_BUFFER));
            } catch (OutOfMemoryError e) {
                cannotGrow = true; // trying takes long
                log.warn("{} reads into a small buffer: {}", channel, e.toString());
            }
        }
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
        closeQuietly(channel);
        onClosed();
    }

    /**
     * To a socket that is closed with something unread the kernel's answer is a reset, and the peer loses what was
     * said.
     */
    private void readTail() {
        if (tailLeft > 0 && channel.isOpen()) {
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

    /** Whether the connection has come to its end. Any thread. */
    public final boolean isEnded() {
        return ended;
    }
}
