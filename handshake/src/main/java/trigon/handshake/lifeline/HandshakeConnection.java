package trigon.handshake.lifeline;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
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
import trigon.handshake.message.EndFailure;
import trigon.handshake.message.HandshakeCodec;
import trigon.handshake.message.HandshakeException;
import trigon.handshake.message.HandshakeException.Kind;
import trigon.handshake.message.HandshakeFrameDecoder.HandshakeFrame;
import trigon.handshake.message.HandshakeMessage;
import trigon.handshake.message.HandshakeMessage.Farewell;
import trigon.handshake.message.HandshakeMessage.Filler;
import trigon.handshake.message.HandshakeProofs;
import trigon.trace.TraceLog;

/**
 * The common part of both ends of a handshake, and of the lifeline that comes of it: one stream of a {@link
 * PeerChannel}, one deadline, one result. All fields belong to the event loop, but for the result.
 */
public abstract class HandshakeConnection implements Lifeline {

    private static final Logger LOGGER = LoggerFactory.getLogger(HandshakeConnection.class);
    private static final byte[] FILLERS = Filler.frames();

    private final HandshakeEventLoop loop;
    private final Duration timeout;
    private final HandshakeConfig config;
    private final CompletableFuture<Established> result = new CompletableFuture<>();
    private final CompletableFuture<LifelineEnd> lost = new CompletableFuture<>();

    /** True if the peer has given a sign of life since the link is established. */
    private volatile boolean heard;

    private @Nullable PeerChannel channel;
    private int stream;
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
    private volatile Runnable onQuiet = () -> {};

    protected HandshakeConnection(HandshakeEventLoop loop, Duration timeout, HandshakeConfig config, String awaited) {
        this.loop = loop;
        this.timeout = timeout;
        this.config = config;
        this.awaited = awaited;
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

    /** Dials a channel by that TCP connection, whose first stream this is. */
    public final void dialBy(Channel to) {
        PeerChannel.dialled(loop, config, this).attach(to);
    }

    /** Takes a further stream of a channel that is there, and begins. */
    protected final void openOn(PeerChannel shared) {
        shared.open(this);
        opened();
    }

    /** Gets its stream. */
    final void join(PeerChannel to, int number) {
        channel = to;
        stream = number;
    }

    /** Its stream's number, from 0. */
    final int stream() {
        return stream;
    }

    /** The channel that it has a stream of. */
    protected final @Nullable PeerChannel channel() {
        return channel;
    }

    /** Returns whether the peer has proven itself on its channel. */
    public final boolean isOnProvenChannel() {
        return channel != null && channel.isProven();
    }

    /** The peer has proven itself; others may use the channel, too. */
    protected final void markProven() {
        if (channel != null) {
            channel.markProven();
        }
    }

    /** The own address of the channel; where there is none, that. */
    protected final InetSocketAddress localAddress(InetSocketAddress otherwise) {
        InetSocketAddress own = channel == null ? null : channel.localAddress();
        return own == null ? otherwise : own;
    }

    /** Begins: there is a TCP connection. */
    protected abstract void opened();

    /** Sends fillers, ahead of a proof. */
    protected final void sendFillers() {
        var _ = send(FILLERS);
    }

    /** Sends a message without a proof, which is part of what is agreed on. */
    protected final void sendNoted(HandshakeMessage message, HandshakeProofs proofs) {
        trace("sent", message);
        byte[] frame = HandshakeCodec.encode(stream, message);
        proofs.note(frame);
        var _ = send(frame);
    }

    /** Sends a message with its proof. */
    protected final void sendProven(HandshakeMessage message, HandshakeProofs proofs) {
        byte[] frame = HandshakeCodec.encode(stream, message);
        proofs.prove(frame);
        var _ = send(frame);
    }

    /** The step, not what it carries. */
    private void trace(String direction, HandshakeMessage message) {
        TraceLog.event(
                "handshake", direction, message.getClass().getSimpleName(), "number", System.identityHashCode(this));
    }

    private @Nullable ChannelFuture send(byte[] frame) {
        return channel == null ? null : channel.send(frame);
    }

    /**
     * The link is up. The connection stays open until either end releases it.
     *
     * @param peer its name, for the log; empty if there is a relay in between
     */
    protected final void succeed(Established established, HandshakeProofs proofs, String peer) {
        over = true;
        lifelineProofs = proofs;
        if (deadline != null) {
            deadline.cancel(false);
        }
        if (channel != null) {
            channel.establish(this, peer);
        }
        result.complete(established);
    }

    /** Says that this side lives. */
    protected final void beat() {
        if (lastBeat == null || lastBeat.isDone()) { // what does not get out need not be said twice
            beats++;
            if (channel != null) {
                channel.traceSaid(beats);
            }
            lastBeat = sendAfterwards(new HandshakeMessage.Alive(beats));
        }
    }

    private @Nullable ChannelFuture sendAfterwards(HandshakeMessage message) {
        if (channel == null || lifelineProofs == null) {
            return null;
        }
        byte[] frame = HandshakeCodec.encode(stream, message);
        lifelineProofs.proveAfterwards(frame);
        return send(frame);
    }

    /**
     * Something came over the lifeline. Only what the peer has proven counts, and is no copy of what it said before.
     */
    private void heard(HandshakeFrame frame) {
        if (lifelineProofs == null || channel == null || end != null) {
            return;
        }
        switch (frame.message()) {
            case HandshakeMessage.Alive(long count)
            when count > peersBeats && lifelineProofs.verifyAfterwards(frame.bytes()) -> {
                peersBeats = count;
                heard = true;
                channel.recordHeard(count);
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
            close(isBreach(kind));
            end(new HandshakeException(kind, describe() + ": " + why, cause));
        }
    }

    /** Fails, and tells the peer the reason as far as it still listens. */
    public final void reject(Kind kind, String reason) {
        endWith(HandshakeCodec.encode(stream, new HandshakeMessage.Reject(reason)), kind, reason);
    }

    /** Fails, and tells the peer that its own end was heard. */
    protected final void endProven(HandshakeMessage last, HandshakeProofs proofs, String reason) {
        byte[] frame = HandshakeCodec.encode(stream, last);
        proofs.prove(frame);
        endWith(frame, Kind.ABANDONED, reason);
    }

    /** Fails once that frame is written. */
    protected final void endWith(byte[] frame, Kind kind, String reason) {
        if (over) {
            return;
        }
        over = true;
        ChannelFuture written = channel != null && channel.isActive() ? channel.send(frame) : null;
        if (written == null) {
            close(isBreach(kind));
        } else { // closed once the reason is written; the deadline guards that
            written.addListener(_ -> close(isBreach(kind)));
        }
        end(new HandshakeException(kind, describe() + ": " + reason));
    }

    private void end(HandshakeException exception) {
        failed(exception);
        result.completeExceptionally(exception);
    }

    /** Ends the stream; without effect if it has ended. */
    public final void close() {
        close(false);
    }

    private void close(boolean forBreach) {
        if (deadline != null) {
            deadline.cancel(false);
        }
        if (channel != null) {
            channel.end(this, forBreach);
        }
    }

    /** Returns whether the peer is none that keeps to the protocol. */
    private static boolean isBreach(Kind kind) {
        return kind == Kind.PROTOCOL || kind == Kind.UNAUTHENTICATED;
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
        onQuiet = step;
        loop.eventLoop().execute(() -> {
            if (channel != null) {
                channel.hurry();
            }
        });
    }

    /** Runs what waits for the peer's silence. */
    final void tellOfSilence() {
        try {
            onQuiet.run();
        } catch (RuntimeException | Error e) { // the other connections' peers are not to go unheard for that
            LOGGER.warn("handling a silent peer failed", e);
        }
    }

    @Override
    public final boolean isQuiet() {
        return channel != null && channel.silence().isQuiet();
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

    /** Ends the connection; an established one with a farewell. Event loop only. */
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

    /** A message of the peer has come. */
    final void arrived(HandshakeFrame frame) {
        if (over) {
            heard(frame);
        } else if (frame.message() instanceof Filler && fillers < Filler.MAX) {
            fillers++;
        } else {
            trace("received", frame.message());
            received(frame);
        }
    }

    /** The stream has ended, by whom it was; called once. */
    protected void ended() {
        if (loop.isClosing()) {
            fail(Kind.ABANDONED, "this process closes its handshakes");
        } else {
            fail(Kind.DISCONNECTED, "the peer closed the connection before " + awaited + " came");
        }
        over(loop.isClosing() ? new LifelineEnd.Here() : new LifelineEnd.Broken("end of stream"));
        close();
        lost.complete(end);
    }

    /** The channel is lost in that way. */
    final void lose(LifelineEnd how) {
        over(how);
        fail(Kind.DISCONNECTED, how.explanation());
        close();
    }

    /** The channel has failed. */
    final void fail(Throwable cause) {
        if (over && cause instanceof HandshakeException) {
            return; // somebody else may have said it: what the peer has to say is missed, if it lives
        }
        over(new LifelineEnd.Broken(String.valueOf(cause.getMessage())));
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
    }
}
