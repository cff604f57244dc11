package trigon.handshake.lifeline;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.ScheduledFuture;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.config.HandshakeConfig;
import trigon.handshake.Established;
import trigon.handshake.Lifeline;
import trigon.handshake.LifelineEnd;
import trigon.handshake.lifeline.Lifelines.BeatingLifeline;
import trigon.handshake.message.EndFailure;
import trigon.handshake.message.HandshakeCodec;
import trigon.handshake.message.HandshakeException;
import trigon.handshake.message.HandshakeException.Kind;
import trigon.handshake.message.HandshakeFrameDecoder;
import trigon.handshake.message.HandshakeFrameDecoder.HandshakeFrame;
import trigon.handshake.message.HandshakeMessage;
import trigon.handshake.message.HandshakeMessage.Farewell;
import trigon.handshake.message.HandshakeMessage.Filler;
import trigon.handshake.message.HandshakeProofs;
import trigon.trace.TraceLog;

/**
 * The common part of both ends of a handshake: one TCP connection, one deadline, one result. All fields belong to the
 * event loop, but for the result.
 */
public abstract class HandshakeConnection extends ChannelInboundHandlerAdapter implements Lifeline, BeatingLifeline {

    private static final Logger LOGGER = LoggerFactory.getLogger(HandshakeConnection.class);
    private static final int RECEIVE_BYTES = 512;

    /** As long as the fillers come. */
    private static final int RECEIVE_BYTES_AT_FIRST = 8192;

    private static final byte[] FILLERS = Filler.frames();

    private final HandshakeEventLoop loop;
    private final Duration timeout;
    private final HandshakeConfig config;
    private final CompletableFuture<Established> result = new CompletableFuture<>();
    private final CompletableFuture<LifelineEnd> lost = new CompletableFuture<>();

    /** True if the peer has given a sign of life since the link is established. */
    private volatile boolean heard;

    private @Nullable Channel channel;
    private @Nullable ScheduledFuture<?> deadline;
    private String awaited;
    private boolean over;
    private int fillers;

    /** Only while the link is established. */
    private @Nullable HandshakeProofs lifelineProofs;

    private @Nullable LifelineEnd end;
    private @Nullable ChannelFuture lastBeat;
    private long beats;
    private long peersBeats;
    private final SilenceClock silence;

    protected HandshakeConnection(HandshakeEventLoop loop, Duration timeout, HandshakeConfig config, String awaited) {
        this.loop = loop;
        this.timeout = timeout;
        this.config = config;
        this.awaited = awaited;
        silence = new SilenceClock(loop.clock().nanoTime());
    }

    /** A message of the peer, while the handshake is not over. */
    protected abstract void received(HandshakeFrame frame);

    /** The handshake is over without a link; called once. The result completes after it. */
    protected abstract void failed(HandshakeException cause);

    /** The handshake and its ends, for logs and exceptions. */
    protected abstract String describe();

    public final CompletableFuture<Established> result() {
        return result;
    }

    protected final HandshakeEventLoop loop() {
        return loop;
    }

    /** Returns whether the handshake has ended, with a link or without. */
    public final boolean isOver() {
        return over;
    }

    /** Starts the deadline of the whole handshake. */
    public final void startDeadline() {
        deadline = loop.eventLoop().schedule(this::expire, timeout.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Notes what is waited for, for the message if it does not come. */
    protected final void await(String what) {
        awaited = what;
    }

    /** Takes over a new TCP connection. */
    public final void attach(Channel to) {
        channel = to;
        loop.adopt(to);
        to.config().setRecvByteBufAllocator(new FixedRecvByteBufAllocator(RECEIVE_BYTES_AT_FIRST));
        to.config().setOption(ChannelOption.TCP_NODELAY, true);
        to.pipeline().addLast(new HandshakeFrameDecoder(), this);
    }

    /** Sends fillers, ahead of a proof. */
    protected final void sendFillers() {
        var _ = send(FILLERS);
    }

    /** Sends a message without a proof, which is part of what is agreed on. */
    protected final void sendNoted(HandshakeMessage message, HandshakeProofs proofs) {
        trace("sent", message);
        byte[] frame = HandshakeCodec.encode(message);
        proofs.note(frame);
        var _ = send(frame);
    }

    /** Sends a message with its proof. */
    protected final void sendProven(HandshakeMessage message, HandshakeProofs proofs) {
        byte[] frame = HandshakeCodec.encode(message);
        proofs.prove(frame);
        var _ = send(frame);
    }

    /** The step, not what it carries. */
    private void trace(String direction, HandshakeMessage message) {
        TraceLog.event(
                "handshake", direction, message.getClass().getSimpleName(), "number", System.identityHashCode(this));
    }

    private @Nullable ChannelFuture send(byte[] frame) {
        return channel == null
                ? null
                : channel.writeAndFlush(Unpooled.wrappedBuffer(frame))
                        .addListener(ChannelFutureListener.FIRE_EXCEPTION_ON_FAILURE);
    }

    /** The link is up. The connection stays open until either end releases it. */
    protected final void succeed(Established established, HandshakeProofs proofs) {
        over = true;
        lifelineProofs = proofs;
        if (deadline != null) {
            deadline.cancel(false);
        }
        if (channel != null) {
            channel.config().setRecvByteBufAllocator(new FixedRecvByteBufAllocator(RECEIVE_BYTES));
        }
        loop.lifelines().add(this);
        result.complete(established);
    }

    @Override
    public final void beat() {
        if (lastBeat == null || lastBeat.isDone()) { // what does not get out need not be said twice
            beats++;
            loop.lifelines().traceSaid(this, channel, beats);
            lastBeat = sendAfterwards(new HandshakeMessage.Alive(beats));
        }
    }

    @Override
    public final void look(long passedNanos, long now) {
        long silent = silence.advance(passedNanos, now);
        boolean stopped = silent > config.stoppedTimeout().toNanos();
        if (stopped
                || silence.outlast(
                        config.peerTimeout().toNanos(), () -> loop.lifelines().askKernel(channel))) {
            Duration length = Duration.ofNanos(silent);
            boolean answers = stopped && config.stoppedTimeout().compareTo(config.peerTimeout()) > 0;
            over(answers ? new LifelineEnd.Stopped(length) : new LifelineEnd.Silent(length));
            close();
        }
        silence.tellIfQuiet();
    }

    @Override
    public final SilenceClock silence() {
        return silence;
    }

    @Override
    public @Nullable Object dialled() {
        return null;
    }

    @Override
    public final String peerAddress() {
        return channel != null && channel.remoteAddress() instanceof InetSocketAddress address
                ? address.getAddress().getHostAddress()
                : "";
    }

    private @Nullable ChannelFuture sendAfterwards(HandshakeMessage message) {
        if (channel == null || lifelineProofs == null) {
            return null;
        }
        byte[] frame = HandshakeCodec.encode(message);
        lifelineProofs.proveAfterwards(frame);
        return send(frame);
    }

    /**
     * Something came over the lifeline. Only what the peer has proven counts, and is no copy of what it said before.
     */
    private void heard(HandshakeFrame frame) {
        long now = loop.clock().nanoTime();
        if (lifelineProofs == null || end != null) {
            return;
        }
        switch (frame.message()) {
            case HandshakeMessage.Alive(long count)
            when count > peersBeats && lifelineProofs.verifyAfterwards(frame.bytes()) -> {
                peersBeats = count;
                heard = true;
                Lifelines.traceHeard(channel, count, now, silence.recordHeard(now));
                if (silence.peerHurries()
                        && dialled() == null
                        && !loop.lifelines().isTraced(this)) {
                    beat();
                }
            }
            case Farewell(Optional<EndFailure> failure)
            when lifelineProofs.verifyAfterwards(frame.bytes()) -> {
                over(failure.<LifelineEnd>map(LifelineEnd.Failed::new).orElseGet(LifelineEnd.Released::new));
                close();
            }
            default -> LOGGER.debug("{}: unexpected or unproven {} dropped", describe(), frame.message());
        }
    }

    /** Notes how the lifeline ended: what was first. */
    private void over(LifelineEnd how) {
        if (end == null) {
            end = how;
        }
    }

    public final void fail(Kind kind, String why) {
        fail(kind, why, null);
    }

    protected final void fail(Kind kind, String why, @Nullable Throwable cause) {
        if (!over) {
            over = true; // before closing, which is a failure of its own to whoever listens to the channel
            close();
            end(new HandshakeException(kind, describe() + ": " + why, cause));
        }
    }

    /** Fails, and tells the peer the reason as far as it still listens. */
    public final void reject(Kind kind, String reason) {
        endWith(HandshakeCodec.encode(new HandshakeMessage.Reject(reason)), kind, reason);
    }

    /** Fails, and tells the peer that its own end was heard. */
    protected final void endProven(HandshakeMessage last, HandshakeProofs proofs, String reason) {
        byte[] frame = HandshakeCodec.encode(last);
        proofs.prove(frame);
        endWith(frame, Kind.ABANDONED, reason);
    }

    /** Fails once that frame is written. */
    protected final void endWith(byte[] frame, Kind kind, String reason) {
        if (over) {
            return;
        }
        over = true;
        if (channel != null && channel.isActive()) {
            // closed once the reason is written; the deadline guards that
            channel.writeAndFlush(Unpooled.wrappedBuffer(frame)).addListener(ChannelFutureListener.CLOSE);
        } else {
            close();
        }
        end(new HandshakeException(kind, describe() + ": " + reason));
    }

    private void end(HandshakeException exception) {
        failed(exception);
        result.completeExceptionally(exception);
    }

    public final void close() {
        if (deadline != null) {
            deadline.cancel(false);
        }
        if (channel != null) {
            var _ = channel.close();
        }
    }

    @Override
    public final boolean isHeard() {
        return heard;
    }

    @Override
    public final CompletableFuture<LifelineEnd> lost() {
        return lost;
    }

    @Override
    public final void whenQuiet(Runnable step) {
        silence.onQuiet(step);
        loop.eventLoop().execute(() -> loop.lifelines().addToGroup(this));
    }

    @Override
    public final boolean isQuiet() {
        return silence.isQuiet();
    }

    @Override
    public final void release() {
        end(Optional.empty());
    }

    @Override
    public final void fail(EndFailure failure) {
        end(Optional.of(failure));
    }

    private void end(Optional<EndFailure> failure) {
        try {
            loop.eventLoop().execute(() -> letGo(failure));
        } catch (RejectedExecutionException e) {
            LOGGER.trace("the thread has ended, and closed the connection before", e);
        }
    }

    /** Ends the connection; an established one with a farewell. */
    @Override
    public final void letGo(Optional<EndFailure> failure) {
        if (lifelineProofs != null && end == null) {
            over(new LifelineEnd.Here());
            var _ = sendAfterwards(new Farewell(failure));
        }
        close();
    }

    private void expire() {
        if (over) {
            close();
        } else {
            String time = timeout.toMillis() % 1000 == 0 ? timeout.toSeconds() + " s" : timeout.toMillis() + " ms";
            fail(Kind.TIMED_OUT, "%s did not come within %s%s".formatted(awaited, time, causeOfSilence()));
        }
    }

    /** The rest of the sentence on a deadline that has passed; empty if nothing more is known. */
    protected abstract String causeOfSilence();

    @Override
    public final void channelRead(ChannelHandlerContext context, Object message) {
        if (message instanceof HandshakeFrame frame) {
            if (over) {
                heard(frame);
            } else if (frame.message() instanceof Filler && fillers < Filler.MAX) {
                fillers++;
            } else {
                trace("received", frame.message());
                received(frame);
            }
        } else {
            ReferenceCountUtil.release(message);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        if (loop.isClosing()) {
            fail(Kind.ABANDONED, "this process closes its handshakes");
        } else {
            fail(Kind.DISCONNECTED, "the peer closed the connection before " + awaited + " came");
        }
        over(loop.isClosing() ? new LifelineEnd.Here() : new LifelineEnd.Broken("end of stream"));
        close();
        loop.lifelines().remove(this);
        lost.complete(end);
    }

    @Override
    public final void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        switch (cause) {
            // told to the peer as well: one of another version reads at least that
            case HandshakeException e -> reject(e.kind(), String.valueOf(e.getMessage()));
            case IOException e -> {
                over(new LifelineEnd.Broken(String.valueOf(e.getMessage())));
                fail(
                        Kind.DISCONNECTED,
                        "the connection broke before %s came: %s".formatted(awaited, e.getMessage()),
                        e);
            }
            default -> fail(Kind.ABANDONED, "internal error: " + cause, cause);
        }
        if (!(cause instanceof HandshakeException)) {
            close();
        }
    }
}
