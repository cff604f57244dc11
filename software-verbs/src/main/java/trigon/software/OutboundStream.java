package trigon.software;

import io.netty.channel.Channel;
import io.netty.channel.FileRegion;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.WritableByteChannel;
import org.jspecify.annotations.Nullable;

/**
 * One direction of a connection, pulled by the socket: whenever the socket takes more, the subclass encodes what comes
 * next. Headers and short payloads go by way of a small buffer, long payloads straight from registered memory, both in
 * one gathering write. So nothing is queued up: memory is only read during {@link #transferTo}, and a region that is
 * closed is not read any more.
 *
 * <p>To Netty it is a file region of unknown length, which is the one kind of message that a channel asks for more
 * bytes as it can write them. Netty is asked only when the socket takes no more; before that the stream writes to the
 * socket itself, which costs a fraction. Owned by the event loop; allocates nothing in the steady state.
 */
abstract class OutboundStream implements FileRegion {

    /** Most bytes of payload in one write, so that other connections get their turn. */
    static final int WRITE_LIMIT = 1 << 20;

    /** Payloads up to this are copied behind their header: cheaper than another element in the gathering write. */
    static final int COPY_LIMIT = 2 << 10;

    private static final int HEADER_ROOM = 64;

    /** Most writes in a row, so that other connections get their turn. */
    private static final int WRITES_AT_ONCE = 8;

    private final Channel channel;
    private final int thread;
    private final ByteBuffer staging;
    private final long stagingAddress;
    private final ByteBuffer[] pair;

    private @Nullable SoftwareMemoryRegion payloadRegion;
    private long payloadAddress;
    private int payloadLeft;
    /** Whether Netty has it, and asks for more once the socket takes more. */
    private boolean queued;

    private boolean stopped;
    /** Where Netty writes to, known once it has asked. */
    private @Nullable GatheringByteChannel socket;

    /**
     * A stream into a channel.
     *
     * @param thread the thread of the channel's event loop
     * @param stagingBytes how much of headers and short payloads is gathered for one write
     */
    OutboundStream(Channel channel, DeviceThread thread, int stagingBytes) {
        this.channel = channel;
        this.thread = thread.index();
        staging = ByteBuffer.allocateDirect(stagingBytes);
        stagingAddress = MemorySegment.ofBuffer(staging).address();
        staging.limit(0);
        pair = new ByteBuffer[] {staging, staging};
    }

    // ---- for the subclass

    /** Whether {@link #encode} has something to add. */
    abstract boolean hasNext();

    /** Adds messages while {@link #hasStagingRoom}; returns after a call of {@link #sendPayload}. */
    abstract void encode();

    /** The region of a payload was closed, and these bytes of it have not been sent. */
    abstract void payloadLost(int missing);

    /** Whether a header and a payload to be copied fit. */
    final boolean hasStagingRoom() {
        return staging.capacity() - staging.limit() >= HEADER_ROOM + COPY_LIMIT;
    }

    /** Where the next bytes are to be put; {@link #staged} says how many they were. */
    final long stagingEnd() {
        return stagingAddress + staging.limit();
    }

    final void staged(int bytes) {
        staging.limit(staging.limit() + bytes);
    }

    /** Sends a long payload after what is staged. */
    final void sendPayload(SoftwareMemoryRegion region, long address, int bytes) {
        payloadRegion = region;
        payloadAddress = address;
        payloadLeft = bytes;
    }

    private void dropPayload() {
        payloadRegion = null;
        payloadLeft = 0;
    }

    /** Bytes of the current payload that have not been written. */
    final int payloadLeft() {
        return payloadLeft;
    }

    /** Called after bytes went out. */
    void wrote() {}

    // ---- for the owner

    /** Starts sending if there is something to be sent and sending is not under way. */
    final void ring() {
        if (queued || !hasWork() || !channel.isActive()) {
            return;
        }
        GatheringByteChannel target = socket;
        if (target != null && writeAll(target)) {
            drained();
        } else {
            queued = true;
            var _ = channel.writeAndFlush(this, channel.voidPromise());
        }
    }

    /** Writes without Netty; false if that did not get everything out. */
    private boolean writeAll(GatheringByteChannel target) {
        try {
            for (int i = 0; i < WRITES_AT_ONCE && hasWork(); i++) {
                if (transferTo(target, 0) == 0) {
                    break;
                }
            }
        } catch (IOException _) {
            socket = null; // Netty is going to meet the same, and closes the channel
            return false;
        }
        return !hasWork();
    }

    /** Sends nothing more and forgets the payload. */
    final void stop() {
        stopped = true;
        dropPayload();
        staging.clear().limit(0);
    }

    /** Whether all that there is has been given to the socket. */
    final boolean isIdle() {
        return !hasWork();
    }

    private boolean hasWork() {
        return !stopped && (staging.hasRemaining() || payloadLeft > 0 || hasNext());
    }

    // ---- for Netty

    @Override
    public final long transferTo(WritableByteChannel target, long position) throws IOException {
        GatheringByteChannel sink = (GatheringByteChannel) target;
        socket = sink;
        if (!staging.hasRemaining() && payloadLeft == 0 && !stopped) {
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
        long written = write(sink, region);
        if (written > 0) {
            wrote();
        }
        return written;
    }

    private long write(GatheringByteChannel target, @Nullable SoftwareMemoryRegion region) throws IOException {
        if (region == null) {
            return staging.hasRemaining() ? target.write(staging) : 0;
        }
        int chunk = Math.min(payloadLeft, WRITE_LIMIT);
        ByteBuffer payload = region.window(thread, payloadAddress, chunk);
        long written;
        if (staging.hasRemaining()) {
            pair[1] = payload;
            written = target.write(pair, 0, 2);
            pair[1] = staging;
        } else {
            written = target.write(payload);
        }
        int taken = chunk - payload.remaining();
        payloadAddress += taken;
        payloadLeft -= taken;
        if (payloadLeft == 0) {
            payloadRegion = null;
        }
        return written;
    }

    @Override
    public final long position() {
        return 0;
    }

    @Override
    @Deprecated
    public final long transfered() {
        return hasWork() ? 0 : 1;
    }

    /** Netty drops the region when this reaches {@link #count}. */
    @Override
    public final long transferred() {
        return hasWork() ? 0 : 1;
    }

    @Override
    public final long count() {
        return 1;
    }

    @Override
    public final int refCnt() {
        return 1;
    }

    @Override
    public final FileRegion retain() {
        return this;
    }

    @Override
    public final FileRegion retain(int increment) {
        return this;
    }

    @Override
    public final FileRegion touch() {
        return this;
    }

    @Override
    public final FileRegion touch(Object hint) {
        return this;
    }

    /** Netty is done with it: all was written, or the connection is gone. */
    @Override
    public final boolean release() {
        queued = false;
        drained();
        return false;
    }

    @Override
    public final boolean release(int decrement) {
        return release();
    }

    /** Called when sending has come to an end for now. */
    void drained() {}
}
