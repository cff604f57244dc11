package trigon.software.connection;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.software.memory.Buffers;
import trigon.software.memory.PayloadWindows;
import trigon.software.memory.SoftwareMemoryRegion;

/**
 * One direction of a connection, pulled by the socket: whenever the socket takes more, the subclass encodes what comes
 * next. Headers and short payloads go by way of a small buffer, long payloads straight from registered memory, both in
 * one gathering write. So nothing is queued up: memory is only read during {@link #ring}, and a region that is closed
 * is not read any more.
 *
 * <p>Never blocks, and allocates nothing in the steady state. Used under the queue pair's lock.
 */
public abstract class OutboundStream {

    private static final Logger log = LoggerFactory.getLogger(OutboundStream.class);

    /** Payloads up to this are copied behind their header: cheaper than another element in the gathering write. */
    public static final int COPY_LIMIT = 4 << 10;

    private static final int HEADER_ROOM = 64;

    /** Most writes in a row: who polls has other things to do. */
    private static final int WRITES_AT_ONCE = 4;

    private final SocketChannel channel;
    private final ByteBuffer staging;
    private final long stagingAddress;
    private final ByteBuffer[] pair;
    private final PayloadWindows windows = new PayloadWindows();

    private @Nullable SoftwareMemoryRegion payloadRegion;
    private long payloadAddress;
    private int payloadLeft;
    private boolean stopped;

    /**
     * A stream into a connected channel.
     *
     * @param stagingBytes how much of headers and short payloads is gathered for one write
     */
    protected OutboundStream(SocketChannel channel, int stagingBytes) {
        this.channel = channel;
        staging = Buffers.allocate(stagingBytes);
        stagingAddress = MemorySegment.ofBuffer(staging).address();
        staging.limit(0);
        pair = new ByteBuffer[] {staging, staging};
    }

    // ---- for the subclass

    /** Whether {@link #encode} has something to add. */
    protected abstract boolean hasNext();

    /** Adds messages while {@link #hasStagingRoom}; returns after a call of {@link #sendPayload}. */
    protected abstract void encode();

    /** The region of a payload was closed, and these bytes of it have not been sent. */
    protected abstract void payloadLost(int missing);

    /** Whether a header and a payload to be copied fit. */
    protected final boolean hasStagingRoom() {
        return staging.capacity() - staging.limit() >= HEADER_ROOM + COPY_LIMIT;
    }

    /** Where the next bytes are to be put; {@link #staged} says how many they were. */
    protected final long stagingEnd() {
        return stagingAddress + staging.limit();
    }

    /** So many bytes have been put at {@link #stagingEnd}. */
    protected final void staged(int bytes) {
        staging.limit(staging.limit() + bytes);
    }

    /** Sends a long payload after what is staged. */
    public final void sendPayload(SoftwareMemoryRegion region, long address, int bytes) {
        payloadRegion = region;
        payloadAddress = address;
        payloadLeft = bytes;
    }

    private void dropPayload() {
        payloadRegion = null;
        payloadLeft = 0;
    }

    /** Bytes of the current payload that have not been written. */
    public final int payloadLeft() {
        return payloadLeft;
    }

    /** Called after bytes went out. */
    protected void wrote() {}

    // ---- for the owner

    /** Gives the socket what there is and it takes; false if it took nothing. */
    public final boolean ring() {
        boolean wrote = false;
        try {
            for (int i = 0; i < WRITES_AT_ONCE && hasWork(); i++) {
                if (write() == 0) {
                    break;
                }
                wrote = true;
            }
        } catch (IOException e) {
            // the reading side meets the same, after the last that the peer has said, and ends the connection
            stop();
            letPeerEnd(e);
        }
        return wrote;
    }

    /**
     * The socket may be well, and what was to be sent not to be had: memory that was unmapped, but not deregistered.
     */
    private void letPeerEnd(IOException cause) {
        log.debug("{} takes nothing more: {}", channel, cause.toString());
        try {
            channel.shutdownOutput();
        } catch (IOException e) {
            log.debug("{} has ended already: {}", channel, e.toString());
        }
    }

    /** Sends nothing more and forgets the payload. */
    public final void stop() {
        stopped = true;
        dropPayload();
        staging.clear().limit(0);
    }

    /** Whether all that there is has been given to the socket. */
    public final boolean isIdle() {
        return !hasWork();
    }

    /** Whether what has been encoded has been given to the socket. */
    public final boolean isWritten() {
        return !stopped && !staging.hasRemaining() && payloadLeft == 0;
    }

    /** The same, but for some of the payload that was encoded last. */
    public final boolean isWrittenButForPayload() {
        return !stopped && !staging.hasRemaining() && payloadLeft > 0;
    }

    private boolean hasWork() {
        return !stopped && (staging.hasRemaining() || payloadLeft > 0 || hasNext());
    }

    private long write() throws IOException {
        if (isWritten()) {
            staging.clear().limit(0);
            encode();
        }
        SoftwareMemoryRegion region = payloadRegion;
        if (region != null && !region.isOpen()) {
            int missing = payloadLeft;
            dropPayload();
            payloadLost(missing);
            region = null;
        }
        long written = region == null ? writeStaged() : writeBoth(region);
        if (written > 0) {
            wrote();
        }
        return written;
    }

    private long writeStaged() throws IOException {
        return staging.hasRemaining() ? channel.write(staging) : 0;
    }

    private long writeBoth(SoftwareMemoryRegion region) throws IOException {
        int chunk = Math.min(payloadLeft, PayloadWindows.MAX_BYTES);
        ByteBuffer payload = windows.of(region, payloadAddress, chunk);
        long written;
        if (staging.hasRemaining()) {
            pair[1] = payload;
            written = channel.write(pair, 0, 2);
            pair[1] = staging;
        } else {
            written = channel.write(payload);
        }
        int taken = chunk - payload.remaining();
        payloadAddress += taken;
        payloadLeft -= taken;
        if (payloadLeft == 0) {
            payloadRegion = null;
        }
        return written;
    }
}
