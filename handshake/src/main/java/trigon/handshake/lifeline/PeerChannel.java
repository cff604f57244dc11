package trigon.handshake.lifeline;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.util.ReferenceCountUtil;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import trigon.config.HandshakeConfig;
import trigon.handshake.LifelineEnd;
import trigon.handshake.message.HandshakeCodec;
import trigon.handshake.message.HandshakeException;
import trigon.handshake.message.HandshakeException.Kind;
import trigon.handshake.message.HandshakeFrameDecoder;
import trigon.handshake.message.HandshakeFrameDecoder.HandshakeFrame;
import trigon.handshake.message.HandshakeMessage.Closed;
import trigon.handshake.message.HandshakeMessage.Hello;
import trigon.handshake.message.HandshakeMessage.Offer;

/**
 * One TCP connection between two processes over one pair of addresses. It carries the handshakes and lifelines of all
 * connections that the one has dialled to the other over this path, each a stream of its own with proofs of its own.
 * Its dialler opens the streams, the first with the TCP connection, the others once both have proven themselves there,
 * and closes it after the last. Event loop only.
 */
public final class PeerChannel extends ChannelInboundHandlerAdapter {

    /** Streams open at the same time: more than a process has connections with another one. */
    static final int MAX_STREAMS = 8192;

    private static final int RECEIVE_BYTES = 8192;
    private static final HandshakeConnection[] NONE = {};

    private enum State {
        /** Nobody has proven anything there: it has one stream. */
        UNPROVEN,
        PROVEN,
        /** It is closed, or what still arrives is not understood. */
        ENDING
    }

    private final HandshakeEventLoop loop;
    private final HandshakeConfig config;

    /** Makes the end of a stream that the peer opens; null where this side opens them. */
    private final @Nullable Supplier<HandshakeConnection> accepting;

    private final ChannelHeartbeat heartbeat;
    private final Map<Integer, HandshakeConnection> streams = new HashMap<>();
    private State state = State.UNPROVEN;

    /** Hello and Challenge of the first stream; empty before. */
    private byte[] opening = {};

    private @Nullable Channel channel;
    private boolean flushes;

    /** The number of the next stream. */
    private int opened;

    PeerChannel(HandshakeEventLoop loop, HandshakeConfig config, @Nullable Supplier<HandshakeConnection> accepting) {
        this.loop = loop;
        this.config = config;
        this.accepting = accepting;
        heartbeat = new ChannelHeartbeat(loop, config, accepting == null, this::lose);
    }

    /**
     * Has one serve a TCP connection that has come in.
     *
     * @param accepting makes the listening end of each of its streams
     */
    public static void accept(
            HandshakeEventLoop loop, HandshakeConfig config, Channel channel, Supplier<HandshakeConnection> accepting) {
        PeerChannel accepted = new PeerChannel(loop, config, accepting);
        accepted.open(accepting.get());
        accepted.attach(channel);
    }

    /** Takes over a new TCP connection, before it is active. */
    void attach(Channel to) {
        channel = to;
        heartbeat.attach(to);
        loop.adopt(to);
        to.config().setRecvByteBufAllocator(new FixedRecvByteBufAllocator(RECEIVE_BYTES));
        to.config().setOption(ChannelOption.TCP_NODELAY, true);
        to.config().setAutoClose(false); // a peer that has gone may have said before why
        to.pipeline().addLast(new HandshakeFrameDecoder(), this);
    }

    /** Gives a handshake a stream of its own. */
    void open(HandshakeConnection handshake) {
        handshake.join(this, opened);
        streams.put(opened, handshake);
        opened++;
    }

    /** Returns whether further handshakes may use it: both ends have proven themselves, and the peer is heard. */
    public boolean isShareable() {
        return state == State.PROVEN
                && channel != null
                && channel.isActive()
                && !heartbeat.silence().isQuiet()
                && streams.size() < MAX_STREAMS
                && opened < Integer.MAX_VALUE;
    }

    /** The peer has proven itself there. */
    public void markProven() {
        if (state == State.UNPROVEN) {
            state = State.PROVEN;
        }
    }

    /** Takes note of the first stream's Hello and Challenge; further streams' are ignored. */
    public void noteOpening(byte[] said) {
        opening = opening.length == 0 ? said : opening;
    }

    /**
     * The first stream's Hello and Challenge: who proves a message behind them and its stream's number proves that it
     * is no copy, since both sides' nonces are in there, and no stream is opened twice. Empty until the peer has proven
     * itself.
     */
    public byte[] opening() {
        return state == State.PROVEN ? opening : new byte[0];
    }

    ChannelHeartbeat heartbeat() {
        return heartbeat;
    }

    /** The own address of the TCP connection; null before there is one. */
    public @Nullable InetSocketAddress localAddress() {
        return channel != null && channel.localAddress() instanceof InetSocketAddress address ? address : null;
    }

    /**
     * Sends a frame, with all others of this turn of the loop; null if there is no TCP connection. That it does not get
     * through is found out by reading, behind what has come.
     */
    @Nullable
    ChannelFuture send(byte[] frame) {
        Channel to = channel;
        if (to == null || !to.isActive()) {
            return null;
        }
        if (!flushes) {
            flushes = true;
            loop.afterTurn(this::flush);
        }
        return to.write(Unpooled.wrappedBuffer(frame));
    }

    private void flush() {
        flushes = false;
        if (channel != null) {
            channel.flush();
        }
    }

    /**
     * A stream is over at this end, and the peer hears of it.
     *
     * @param forBreach whether the peer has not kept to the protocol, so that nothing more of it is waited for
     */
    void end(HandshakeConnection ended, boolean forBreach) {
        if (!streams.remove(ended.stream(), ended)) {
            return;
        }
        if (forBreach && streams.isEmpty()) {
            close();
        } else {
            closeIfUnused();
        }
        if (state != State.ENDING) {
            var _ = send(HandshakeCodec.encode(ended.stream(), new Closed()));
        }
        loop.eventLoop().execute(ended::ended);
    }

    /**
     * The dialler may open another stream of one that is proven, so the dialler closes that. One that does not has
     * nothing more to say after a while.
     */
    private void closeIfUnused() {
        if (!streams.isEmpty()) {
            return;
        }
        if (accepting == null || state != State.PROVEN) {
            close();
            return;
        }
        int known = opened;
        loop.later(config.timeout().toNanos(), () -> {
            if (streams.isEmpty() && opened == known) {
                close();
            }
        });
    }

    private void close() {
        state = State.ENDING;
        flush();
        if (channel != null) {
            var _ = channel.close();
        }
    }

    private void lose(LifelineEnd how) {
        state = State.ENDING;
        for (HandshakeConnection each : streams.values().toArray(NONE)) {
            each.lose(how);
        }
        close();
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        List.copyOf(streams.values()).forEach(HandshakeConnection::opened);
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (!(message instanceof HandshakeFrame frame)) {
            ReferenceCountUtil.release(message);
            return;
        }
        HandshakeConnection known =
                frame.stream() == opened ? accept(frame) : streams.get(frame.stream()); // null: it is over
        if (known != null && frame.message() instanceof Closed) {
            streams.remove(frame.stream());
            known.ended();
            closeIfUnused();
        } else if (known != null) {
            known.arrived(frame);
        }
    }

    private HandshakeConnection accept(HandshakeFrame frame) {
        if (accepting == null
                || !(frame.message() instanceof Hello || frame.message() instanceof Offer)
                || state != State.PROVEN
                || streams.size() == MAX_STREAMS) {
            throw new HandshakeException(Kind.PROTOCOL, "the peer opened a stream where none is due");
        }
        HandshakeConnection accepted = accepting.get();
        open(accepted);
        accepted.opened();
        return accepted;
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        state = State.ENDING;
        for (HandshakeConnection each : streams.values().toArray(NONE)) {
            streams.remove(each.stream());
            each.ended();
        }
    }

    /** Ends what is under way; what of the peer's comes after a message that cannot be read is not understood. */
    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        state = State.ENDING;
        for (HandshakeConnection each : streams.values().toArray(NONE)) {
            each.fail(cause);
        }
        if (!(cause instanceof HandshakeException)) {
            close();
        }
    }
}
