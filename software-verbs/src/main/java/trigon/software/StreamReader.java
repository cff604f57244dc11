package trigon.software;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.verbs.Memory;

/**
 * Cuts what arrives on a connection into headers of fixed length and payloads. A payload is handed on piece by piece
 * where it lies in the receive buffer. Reading can be paused in the middle; what has arrived is kept then, and TCP
 * holds the sender back. Owned by the event loop; allocates nothing in the steady state.
 */
abstract class StreamReader extends ChannelInboundHandlerAdapter {

    private static final Logger log = LoggerFactory.getLogger(StreamReader.class);
    private static final int HEADER_LIMIT = 64;

    private final Channel channel;
    private DeviceThread thread;
    private final MemorySegment header = Arena.ofAuto().allocate(HEADER_LIMIT, Long.BYTES);
    private int headerBytes;
    private int headerFilled;
    private int payloadLeft;
    private boolean paused;
    private boolean discarding;
    private @Nullable MemorySegment held;
    private int heldBytes;

    StreamReader(Channel channel, DeviceThread thread, int headerBytes) {
        this.channel = channel;
        this.thread = thread;
        this.headerBytes = headerBytes;
    }

    /** A header is complete; it lies at {@code at} until this returns. */
    abstract void onHeader(long at);

    /** A piece of the payload; after the last one comes the next header. */
    abstract void onPayload(long at, int bytes, boolean last);

    /** All that had arrived has been handed on, for now. */
    abstract void onReadComplete();

    /** The connection has ended; called once, whoever ended it. */
    abstract void onClosed();

    final Channel channel() {
        return channel;
    }

    /** The thread of the channel's event loop. */
    final DeviceThread thread() {
        return thread;
    }

    /**
     * Goes over to another event loop, paused; after a failure the connection is closed.
     *
     * @param onArrival runs there
     */
    final void moveTo(DeviceThread destination, Runnable onArrival) {
        pause();
        channel.deregister().addListener(left -> {
            thread = destination;
            destination.loop().register(channel).addListener(arrived -> {
                if (arrived.isSuccess()) {
                    onArrival.run();
                } else {
                    closeChannel();
                }
            });
        });
    }

    final void closeChannel() {
        var _ = channel.close();
    }

    final void expectHeaders(int bytes) {
        headerBytes = bytes;
    }

    /** What follows the header now being handled. */
    final void expectPayload(int bytes) {
        payloadLeft = bytes;
    }

    /** Stops after the header or payload now being handled. */
    final void pause() {
        if (!paused) {
            paused = true;
            channel.config().setAutoRead(false);
        }
    }

    /** Goes on after {@link #pause}, with what is kept first. */
    final void resume() {
        if (!paused) {
            return;
        }
        paused = false;
        MemorySegment kept = held;
        int bytes = heldBytes;
        heldBytes = 0;
        if (kept != null && bytes > 0) {
            feed(kept.address(), bytes);
        }
        onReadComplete();
        if (!paused) {
            channel.config().setAutoRead(true);
        }
    }

    /** Throws away everything from now on. */
    final void discard() {
        discarding = true;
        heldBytes = 0;
        if (paused) {
            paused = false;
            channel.config().setAutoRead(true);
        }
    }

    final boolean isDiscarding() {
        return discarding;
    }

    @Override
    public final void channelRead(ChannelHandlerContext context, Object message) {
        ByteBuf buffer = (ByteBuf) message;
        try {
            feed(thread.staging().address() + buffer.readerIndex(), buffer.readableBytes());
        } finally {
            buffer.release();
        }
    }

    private void feed(long from, int bytes) {
        long at = from;
        long end = from + bytes;
        while (!discarding && at < end) {
            if (paused) {
                hold(at, (int) (end - at));
                return;
            }
            if (payloadLeft > 0) {
                int piece = (int) Math.min(payloadLeft, end - at);
                payloadLeft -= piece;
                onPayload(at, piece, payloadLeft == 0);
                at += piece;
            } else {
                int piece = (int) Math.min(headerBytes - headerFilled, end - at);
                Memory.copy(at, header.address() + headerFilled, piece);
                headerFilled += piece;
                at += piece;
                if (headerFilled == headerBytes) {
                    headerFilled = 0;
                    onHeader(header.address());
                }
            }
        }
    }

    private void hold(long from, int bytes) {
        MemorySegment area = held;
        if (area == null) {
            area = Arena.ofAuto().allocate(ReceiveStaging.BYTES, Long.BYTES);
            held = area;
        }
        // may be what is left of an earlier hold; copy allows the overlap
        Memory.copy(from, area.address(), bytes);
        heldBytes = bytes;
    }

    @Override
    public final void channelReadComplete(ChannelHandlerContext context) {
        if (!paused) {
            onReadComplete();
        }
    }

    @Override
    public final void channelInactive(ChannelHandlerContext context) {
        discarding = true;
        onClosed();
    }

    @Override
    public final void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        if (cause instanceof java.io.IOException) {
            log.debug("Connection {} is lost: {}", channel, cause.getMessage());
        } else {
            log.warn("Connection {} fails, which is a defect of the software device", channel, cause);
        }
        closeChannel();
    }
}
