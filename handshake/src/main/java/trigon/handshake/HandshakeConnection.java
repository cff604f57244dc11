package trigon.handshake;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.ScheduledFuture;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.handshake.HandshakeException.Kind;
import trigon.handshake.HandshakeMessage.Reject;

/**
 * What both ends of a handshake have in common: one TCP connection, one deadline, one result. All fields belong to the
 * event loop, but for the result.
 */
abstract class HandshakeConnection extends ChannelInboundHandlerAdapter implements Lifeline {

    private static final Logger LOGGER = LoggerFactory.getLogger(HandshakeConnection.class);
    private static final int RECEIVE_BYTES = 512;

    private final HandshakeEventLoop loop;
    private final Duration timeout;
    private final CompletableFuture<Established> result = new CompletableFuture<>();
    private final CompletableFuture<Void> lost = new CompletableFuture<>();

    private @Nullable Channel channel;
    private @Nullable ScheduledFuture<?> deadline;
    private String awaited;
    private boolean over;

    HandshakeConnection(HandshakeEventLoop loop, Duration timeout, String awaited) {
        this.loop = loop;
        this.timeout = timeout;
        this.awaited = awaited;
    }

    /** A message of the peer, while the handshake is not over. */
    abstract void received(HandshakeFrame frame);

    /** The handshake is over without a link; called once. The result completes after it. */
    abstract void failed(HandshakeException cause);

    /** Which handshake between whom, for logs and exceptions. */
    abstract String describe();

    public final CompletableFuture<Established> result() {
        return result;
    }

    final HandshakeEventLoop loop() {
        return loop;
    }

    final boolean isOver() {
        return over;
    }

    /** Starts the deadline of the whole handshake. */
    final void startDeadline() {
        deadline = loop.eventLoop().schedule(this::expire, timeout.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Notes what is waited for, for the message if it does not come. */
    final void await(String what) {
        awaited = what;
    }

    final void attach(Channel to) {
        channel = to;
        loop.adopt(to);
        to.config().setRecvByteBufAllocator(new FixedRecvByteBufAllocator(RECEIVE_BYTES));
        to.config().setOption(ChannelOption.TCP_NODELAY, true);
        to.pipeline().addLast(new HandshakeFrameDecoder(), this);
    }

    /** Sends a message without a proof, which is part of what is agreed on. */
    final void sendNoted(HandshakeMessage message, HandshakeProofs proofs) {
        byte[] frame = HandshakeCodec.encode(message);
        proofs.note(frame);
        send(frame);
    }

    /** Sends a message with its proof. */
    final void sendProven(HandshakeMessage message, HandshakeProofs proofs) {
        byte[] frame = HandshakeCodec.encode(message);
        proofs.prove(frame);
        send(frame);
    }

    private void send(byte[] frame) {
        if (channel != null) {
            channel.writeAndFlush(Unpooled.wrappedBuffer(frame))
                    .addListener(ChannelFutureListener.FIRE_EXCEPTION_ON_FAILURE);
        }
    }

    /** The link is up. The connection stays open until either end releases it. */
    final void succeed(Established established) {
        over = true;
        if (deadline != null) {
            deadline.cancel(false);
        }
        if (channel != null) {
            channel.pipeline().remove(HandshakeFrameDecoder.class); // from now on nothing is listened to but the end
        }
        result.complete(established);
    }

    final void fail(Kind kind, String why) {
        fail(kind, why, null);
    }

    final void fail(Kind kind, String why, @Nullable Throwable cause) {
        if (!over) {
            over = true; // before closing, which is a failure of its own to whoever listens to the channel
            close();
            end(new HandshakeException(kind, describe() + ": " + why, cause));
        }
    }

    /** Fails, and tells the peer the reason as far as it still listens. */
    final void reject(Kind kind, String reason) {
        if (over) {
            return;
        }
        over = true;
        if (channel != null && channel.isActive()) {
            // closed once the reason is written; the deadline guards that
            channel.writeAndFlush(Unpooled.wrappedBuffer(HandshakeCodec.encode(new Reject(reason))))
                    .addListener(ChannelFutureListener.CLOSE);
        } else {
            close();
        }
        end(new HandshakeException(kind, describe() + ": " + reason));
    }

    private void end(HandshakeException exception) {
        failed(exception);
        result.completeExceptionally(exception);
    }

    final void close() {
        if (deadline != null) {
            deadline.cancel(false);
        }
        if (channel != null) {
            var _ = channel.close();
        }
    }

    @Override
    public final CompletableFuture<Void> lost() {
        return lost;
    }

    @Override
    public final void release() {
        try {
            loop.eventLoop().execute(this::close);
        } catch (RejectedExecutionException e) {
            LOGGER.trace("the thread has ended, and closed the connection before", e);
        }
    }

    private void expire() {
        if (over) {
            close();
        } else {
            fail(Kind.TIMED_OUT, "%s did not come within %s".formatted(awaited, text(timeout)));
        }
    }

    @Override
    public final void channelRead(ChannelHandlerContext context, Object message) {
        if (!over && message instanceof HandshakeFrame frame) {
            received(frame);
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
        close();
        lost.complete(null);
    }

    @Override
    public final void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        switch (cause) {
            // told to the peer as well: one of another version reads at least that
            case HandshakeException e -> reject(e.kind(), String.valueOf(e.getMessage()));
            case IOException e ->
                fail(
                        Kind.DISCONNECTED,
                        "the connection broke before %s came: %s".formatted(awaited, e.getMessage()),
                        e);
            default -> fail(Kind.ABANDONED, "internal error: " + cause, cause);
        }
        if (!(cause instanceof HandshakeException)) {
            close();
        }
    }

    /** A disagreement is logged on both sides; what else goes wrong is for whoever looks at the result to tell. */
    static void log(Logger logger, HandshakeException failure) {
        switch (failure.kind()) {
            case REJECTED, PROTOCOL, UNAUTHENTICATED -> logger.warn("{}", failure.getMessage());
            case UNREACHABLE, TIMED_OUT, DISCONNECTED, ABANDONED, LISTEN -> logger.debug("{}", failure.getMessage());
        }
    }

    private static String text(Duration duration) {
        return duration.toMillis() % 1000 == 0 ? duration.toSeconds() + " s" : duration.toMillis() + " ms";
    }
}
