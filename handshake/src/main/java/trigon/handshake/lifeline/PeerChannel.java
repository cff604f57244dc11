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
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.config.HandshakeConfig;
import trigon.handshake.LifelineEnd;
import trigon.handshake.lifeline.Lifelines.BeatingChannel;
import trigon.handshake.message.HandshakeCodec;
import trigon.handshake.message.HandshakeException;
import trigon.handshake.message.HandshakeException.Kind;
import trigon.handshake.message.HandshakeFrameDecoder;
import trigon.handshake.message.HandshakeFrameDecoder.HandshakeFrame;
import trigon.handshake.message.HandshakeMessage.Closed;
import trigon.handshake.message.HandshakeMessage.Hello;

/**
 * One TCP connection between two processes over one pair of addresses. It carries the handshakes and lifelines of all
 * connections that the one has dialled to the other over this path, each a stream of its own with proofs of its own,
 * and they are heard, quiet and lost together. Its dialler opens the streams, the first with the TCP connection, the
 * others once both have proven themselves there, and closes it after the last. Event loop only, but for {@link
 * #silence}.
 */
public final class PeerChannel extends ChannelInboundHandlerAdapter implements BeatingChannel {

    /** Streams open at the same time: more than a process has connections with another one. */
    static final int MAX_STREAMS = 8192;

    private static final Logger LOGGER = LoggerFactory.getLogger(PeerChannel.class);
    private static final int RECEIVE_BYTES = 8192;

    /** A process that is stopped for less is not worth a warning. */
    private static final long STOP_NANOS = TimeUnit.SECONDS.toNanos(5);

    private static final HandshakeConnection[] NONE = {};

    private enum State {
        /** Nobody has proven anything there: it has one stream. */
        UNPROVEN,
        PROVEN,
        /** What still arrives is not understood, or not read any more. */
        ENDING
    }

    /** Whether its process is known to be stopped. */
    private enum Peer {
        RUNNING,
        STOPPED
    }

    private final HandshakeEventLoop loop;
    private final HandshakeConfig config;

    /** Makes the end of a stream that the peer opens; null where this side opens them. */
    private final @Nullable Supplier<HandshakeConnection> accepting;

    private final SilenceClock silence;
    private final Map<Integer, HandshakeConnection> streams = new HashMap<>();

    /** Lifelines, of which the first says that this side lives. */
    private final Set<HandshakeConnection> established = new LinkedHashSet<>();

    private State state = State.UNPROVEN;
    private Peer peer = Peer.RUNNING;

    /** The peer's name; empty where it cannot be told that its process is stopped. */
    private String peerName = "";

    private @Nullable Channel channel;
    private int opened;

    private PeerChannel(
            HandshakeEventLoop loop, HandshakeConfig config, @Nullable Supplier<HandshakeConnection> accepting) {
        this.loop = loop;
        this.config = config;
        this.accepting = accepting;
        silence = new SilenceClock(loop.clock().nanoTime());
        silence.onQuiet(this::tellOfSilence);
    }

    /** One that this side dials, with its first stream. */
    static PeerChannel dialled(HandshakeEventLoop loop, HandshakeConfig config, HandshakeConnection first) {
        PeerChannel dialled = new PeerChannel(loop, config, null);
        dialled.open(first);
        return dialled;
    }

    /**
     * One that has come in on a new TCP connection.
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
                && !silence.isQuiet()
                && streams.size() < MAX_STREAMS
                && opened < Integer.MAX_VALUE;
    }

    /** The peer has proven itself there. */
    void markProven() {
        if (state == State.UNPROVEN) {
            state = State.PROVEN;
        }
    }

    boolean isProven() {
        return state == State.PROVEN;
    }

    /** Runs something once it is closed. */
    public void whenClosed(Runnable step) {
        if (channel != null) {
            channel.closeFuture().addListener(_ -> step.run());
        }
    }

    /** The own address of the TCP connection; null before there is one. */
    @Nullable
    InetSocketAddress localAddress() {
        return channel != null && channel.localAddress() instanceof InetSocketAddress address ? address : null;
    }

    boolean isActive() {
        return channel != null && channel.isActive();
    }

    /** Sends a frame; that it cannot be sent is found out by reading, behind what has come. */
    @Nullable
    ChannelFuture send(byte[] frame) {
        return channel == null ? null : channel.writeAndFlush(Unpooled.wrappedBuffer(frame));
    }

    /**
     * A handshake has become a lifeline.
     *
     * @param name the peer's, for the log; empty if the TCP connection ends at a relay, whose kernel would answer
     */
    void establish(HandshakeConnection lifeline, String name) {
        peerName = name;
        if (streams.containsValue(lifeline) && established.add(lifeline) && established.size() == 1) {
            loop.lifelines().add(this);
        }
    }

    /**
     * A stream is over at this end, and the peer hears of it.
     *
     * @param forBreach whether the peer has not kept to the protocol, so that nothing more of it is waited for
     */
    void end(HandshakeConnection ended, boolean forBreach) {
        if (!forget(ended)) {
            return;
        }
        if (channel == null) {
            loop.eventLoop().execute(ended::ended);
        } else if (isOfNoUse() || (forBreach && streams.isEmpty())) {
            channel.closeFuture().addListener(_ -> ended.ended());
            close();
        } else {
            var _ = send(HandshakeCodec.encode(ended.stream(), new Closed()));
            loop.eventLoop().execute(ended::ended);
            closeLaterIfUnused();
        }
    }

    private boolean forget(HandshakeConnection ended) {
        boolean known = streams.remove(ended.stream(), ended);
        if (established.remove(ended) && established.isEmpty()) {
            loop.lifelines().remove(this);
            if (peer == Peer.STOPPED) {
                peer = Peer.RUNNING;
                loop.lifelines().stopped().removeEnded(peerName);
            }
        }
        return known;
    }

    /** The dialler may open another stream of one that is proven, so the dialler closes that. */
    private boolean isOfNoUse() {
        return streams.isEmpty() && (isDialled() || state != State.PROVEN);
    }

    /** A dialler that does not close it has nothing more to say. */
    private void closeLaterIfUnused() {
        if (streams.isEmpty()) {
            int known = opened;
            loop.later(config.timeout().toNanos(), () -> {
                if (streams.isEmpty() && opened == known) {
                    close();
                }
            });
        }
    }

    private void close() {
        state = State.ENDING;
        if (channel != null) {
            var _ = channel.close();
        }
    }

    /** Somebody wants to know soon when the peer is silent. */
    void hurry() {
        if (!established.isEmpty()) {
            loop.lifelines().hurry(this);
        }
    }

    /** The peer has said over one of the lifelines that it lives. */
    void recordHeard(long count) {
        long now = loop.clock().nanoTime();
        if (peer == Peer.STOPPED) {
            peer = Peer.RUNNING;
            loop.lifelines().stopped().removeHeard(peerName);
        }
        Lifelines.traceHeard(channel, count, now, silence.recordHeard(now));
        if (silence.peerHurries() && !isDialled() && !loop.lifelines().isTraced(this)) {
            beat();
        }
    }

    @Override
    public void beat() {
        if (!established.isEmpty()) {
            established.iterator().next().beat();
        }
    }

    /** A lifeline says that it lives, for the trace. */
    void traceSaid(long count) {
        loop.lifelines().traceSaid(this, channel, count);
    }

    @Override
    public void look(long passedNanos, long now) {
        long silent = silence.advance(passedNanos, now);
        noteIfStopped(silent);
        boolean stopped = silent > config.stoppedTimeout().toNanos();
        if (stopped
                || silence.outlast(
                        config.peerTimeout().toNanos(), () -> loop.lifelines().askKernel(channel))) {
            Duration length = Duration.ofNanos(silent);
            boolean answers = stopped && config.stoppedTimeout().compareTo(config.peerTimeout()) > 0;
            lose(answers ? new LifelineEnd.Stopped(length) : new LifelineEnd.Silent(length));
        }
        silence.tellIfQuiet();
    }

    private void noteIfStopped(long silent) {
        if (silent > STOP_NANOS
                && peer == Peer.RUNNING
                && !peerName.isEmpty()
                && loop.lifelines().askKernel(channel)) {
            peer = Peer.STOPPED;
            loop.lifelines().stopped().add(peerName);
        }
    }

    private void lose(LifelineEnd how) {
        for (HandshakeConnection each : streams.values().toArray(NONE)) {
            each.lose(how);
        }
        close();
    }

    private void tellOfSilence() {
        for (HandshakeConnection each : established.toArray(NONE)) {
            each.tellOfSilence();
        }
    }

    @Override
    public SilenceClock silence() {
        return silence;
    }

    @Override
    public boolean isDialled() {
        return accepting == null;
    }

    @Override
    public String peerAddress() {
        return channel != null && channel.remoteAddress() instanceof InetSocketAddress address
                ? address.getAddress().getHostAddress()
                : "";
    }

    @Override
    public void letGo() {
        for (HandshakeConnection each : established.toArray(NONE)) {
            each.letGo(Optional.empty());
        }
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
        HandshakeConnection known = streams.get(frame.stream());
        if (known == null && frame.stream() == opened) {
            known = accept(frame);
        }
        if (known == null) {
            LOGGER.trace("{}: {} of a stream that is over", peerAddress(), frame.message());
        } else if (frame.message() instanceof Closed) {
            forget(known);
            known.ended();
            if (isOfNoUse()) {
                close();
            } else {
                closeLaterIfUnused();
            }
        } else {
            known.arrived(frame);
        }
    }

    private @Nullable HandshakeConnection accept(HandshakeFrame frame) {
        if (accepting == null
                || !(frame.message() instanceof Hello)
                || state != State.PROVEN
                || streams.size() == MAX_STREAMS) {
            fail(new HandshakeException(Kind.PROTOCOL, "the peer opened a stream where none is due"));
            return null;
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
            forget(each);
            each.ended();
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        fail(cause);
    }

    /** Ends all streams; what of the peer's comes after a message that cannot be read is not understood. */
    private void fail(Throwable cause) {
        state = State.ENDING;
        for (HandshakeConnection each : streams.values().toArray(NONE)) {
            each.fail(cause);
        }
        if (!(cause instanceof HandshakeException)) {
            close();
        }
    }
}
