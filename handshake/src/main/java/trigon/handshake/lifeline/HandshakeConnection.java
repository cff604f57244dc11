package trigon.handshake.lifeline;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.util.concurrent.ScheduledFuture;
import java.io.IOException;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.config.HandshakeConfig;
import trigon.handshake.Established;
import trigon.handshake.Lifeline;
import trigon.handshake.LifelineEnd;
import trigon.handshake.message.HandshakeCodec;
import trigon.handshake.message.HandshakeException;
import trigon.handshake.message.HandshakeException.Kind;
import trigon.handshake.message.HandshakeFrameDecoder.HandshakeFrame;
import trigon.handshake.message.HandshakeMessage;
import trigon.handshake.message.HandshakeMessage.Filler;
import trigon.handshake.message.HandshakeProofs;
import trigon.trace.TraceLog;

/**
 * The common part of both ends of a handshake: one stream of a {@link PeerChannel}, one deadline, one result. All
 * fields belong to the event loop, but for the result.
 */
public abstract class HandshakeConnection {

    private static final Logger LOGGER = LoggerFactory.getLogger(HandshakeConnection.class);
    private static final byte[] FILLERS = Filler.frames();

    private final HandshakeEventLoop loop;
    private final Duration timeout;
    private final HandshakeConfig config;
    private final CompletableFuture<Established> result = new CompletableFuture<>();

    private @Nullable PeerChannel channel;
    private int stream;
    private @Nullable ScheduledFuture<?> deadline;
    private String awaited;
    private boolean over;
    private int fillers;

    /** That of the link, once it is established. */
    private @Nullable StreamLifeline lifeline;

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
        PeerChannel dialled = new PeerChannel(loop, config, null);
        dialled.open(this);
        dialled.attach(to);
    }

    /** Takes a further stream of a channel that is there, and begins. */
    protected final void openOn(PeerChannel shared) {
        shared.open(this);
        opened();
    }

    /** Becomes that stream of a channel. */
    final void join(PeerChannel to, int number) {
        channel = to;
        stream = number;
    }

    /** Its stream's number, from 0. */
    final int stream() {
        return stream;
    }

    /** The channel that it has a stream of; null before there is one. */
    public final @Nullable PeerChannel channel() {
        return channel;
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

    /** Sends the key of the job, with its proof; nothing where there is a cluster key. */
    protected final void sendKey(HandshakeProofs proofs) {
        proofs.hide(loop.jobKeys(), 0).ifPresent(key -> sendProven(key, proofs));
    }

    /** The step, not what it carries. */
    private void trace(String direction, HandshakeMessage message) {
        TraceLog.event(
                "handshake", direction, message.getClass().getSimpleName(), "number", System.identityHashCode(this));
    }

    final @Nullable ChannelFuture send(byte[] frame) {
        return channel == null ? null : channel.send(frame);
    }

    /**
     * The link is up. The connection stays open until either end releases it.
     *
     * @param link with its lifeline
     * @param peer its name, for the log; empty if there is a relay in between
     */
    protected final void succeed(Function<Lifeline, Established> link, HandshakeProofs proofs, String peer) {
        PeerChannel own = Objects.requireNonNull(channel, "a handshake has a channel");
        StreamLifeline begun = new StreamLifeline(loop, this, proofs, own.heartbeat());
        over = true;
        lifeline = begun;
        if (deadline != null) {
            deadline.cancel(false);
        }
        own.heartbeat().add(begun, peer);
        result.complete(link.apply(begun));
    }

    /** Says that this side lives, on the link that is established. */
    protected final void beat() {
        if (lifeline != null) {
            lifeline.beat();
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
        endWith(new HandshakeMessage.Reject(reason), kind, reason);
    }

    /** Fails, and tells the peer that its own end was heard. */
    protected final void endProven(HandshakeMessage last, HandshakeProofs proofs, String reason) {
        byte[] frame = HandshakeCodec.encode(stream, last);
        proofs.prove(frame);
        endWith(frame, Kind.ABANDONED, reason);
    }

    /** Fails once that message is written. */
    protected final void endWith(HandshakeMessage last, Kind kind, String reason) {
        endWith(HandshakeCodec.encode(stream, last), kind, reason);
    }

    private void endWith(byte[] frame, Kind kind, String reason) {
        if (over) {
            return;
        }
        over = true;
        ChannelFuture written = send(frame);
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

    /** Ends it; an established link with a farewell. */
    public final void letGo() {
        if (lifeline == null) {
            close();
        } else {
            lifeline.letGo(Optional.empty());
        }
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
        if (lifeline != null) {
            lifeline.hear(frame);
        } else if (over) {
            LOGGER.trace("{}: {} comes too late", this, frame.message());
        } else if (frame.message() instanceof Filler && fillers < Filler.MAX) {
            fillers++;
        } else {
            trace("received", frame.message());
            received(frame);
        }
    }

    /** The stream has ended, by whom it was; called once. */
    protected void ended() {
        boolean here = loop.isClosing();
        fail(
                here ? Kind.ABANDONED : Kind.DISCONNECTED,
                here
                        ? "this process closes its handshakes"
                        : "the peer closed the connection before " + awaited + " came");
        close();
        if (lifeline != null && channel != null) {
            lifeline.noteEnd(here ? new LifelineEnd.Here() : new LifelineEnd.Broken("end of stream"));
            channel.heartbeat().remove(lifeline);
            lifeline.complete();
        }
    }

    /** The channel is lost in that way. */
    final void lose(LifelineEnd how) {
        if (lifeline != null) {
            lifeline.noteEnd(how);
        }
        fail(Kind.DISCONNECTED, how.explanation());
        close();
    }

    /** The channel has failed. */
    final void fail(Throwable cause) {
        switch (cause) {
            // told to the peer as well: one of another version reads at least that. Who has a link may not have said
            // it: what the peer has to say is missed, if it lives
            case HandshakeException e -> reject(e.kind(), String.valueOf(e.getMessage()));
            case IOException e -> {
                if (lifeline != null) {
                    lifeline.noteEnd(new LifelineEnd.Broken(String.valueOf(e.getMessage())));
                }
                fail(
                        Kind.DISCONNECTED,
                        "the connection broke before %s came: %s".formatted(awaited, e.getMessage()),
                        e);
            }
            default -> fail(Kind.ABANDONED, "internal error: " + cause, cause);
        }
    }

    @Override
    public final String toString() {
        return describe();
    }
}
