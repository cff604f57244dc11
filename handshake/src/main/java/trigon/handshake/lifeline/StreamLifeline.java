package trigon.handshake.lifeline;

import io.netty.channel.ChannelFuture;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.handshake.Lifeline;
import trigon.handshake.LifelineEnd;
import trigon.handshake.message.EndFailure;
import trigon.handshake.message.HandshakeCodec;
import trigon.handshake.message.HandshakeFrameDecoder.HandshakeFrame;
import trigon.handshake.message.HandshakeMessage;
import trigon.handshake.message.HandshakeMessage.Alive;
import trigon.handshake.message.HandshakeMessage.Farewell;
import trigon.handshake.message.HandshakeMessage.JobKey;
import trigon.handshake.message.HandshakeProofs;

/** The lifeline that a handshake has become, on the handshake's stream. Its state belongs to the event loop. */
final class StreamLifeline implements Lifeline {

    private static final Logger LOGGER = LoggerFactory.getLogger(StreamLifeline.class);

    private final HandshakeEventLoop loop;
    private final HandshakeConnection handshake;
    private final HandshakeProofs proofs;
    private final ChannelHeartbeat heartbeat;
    private final CompletableFuture<LifelineEnd> lost = new CompletableFuture<>();

    /** True if the peer has given a sign of life since the link is established. */
    private volatile boolean heard;

    private volatile Runnable onQuiet = () -> {};
    private @Nullable LifelineEnd end;
    private @Nullable ChannelFuture lastBeat;
    private long peersBeats;
    private long keys;
    private long peersKeys;

    /**
     * One that has just begun.
     *
     * @param handshake sends
     * @param proofs which both ends have agreed on
     * @param heartbeat of all lifelines of the channel
     */
    StreamLifeline(
            HandshakeEventLoop loop,
            HandshakeConnection handshake,
            HandshakeProofs proofs,
            ChannelHeartbeat heartbeat) {
        this.loop = loop;
        this.handshake = handshake;
        this.proofs = proofs;
        this.heartbeat = heartbeat;
    }

    /** That of its channel. */
    ChannelHeartbeat heartbeat() {
        return heartbeat;
    }

    /** Says that this side lives. */
    void beat() {
        if (lastBeat == null || lastBeat.isDone()) { // what does not get out need not be said twice
            lastBeat = say(new Alive(heartbeat.countBeat()));
        }
    }

    /** Tells the peer the key of the job. */
    void tellKey() {
        keys++;
        proofs.hide(loop.jobKeys(), keys).ifPresent(key -> {
            var _ = say(key);
        });
    }

    /** Sends a message with a proof of its own; null if it cannot. */
    private @Nullable ChannelFuture say(HandshakeMessage message) {
        byte[] frame = HandshakeCodec.encode(handshake.stream(), message);
        proofs.proveAfterwards(frame);
        return handshake.send(frame);
    }

    /** Something came. Only what the peer has proven counts, and is no copy of what it said before. */
    void hear(HandshakeFrame frame) {
        if (end != null) {
            return;
        }
        switch (frame.message()) {
            case Alive(long count)
            when count > peersBeats && proofs.verifyAfterwards(frame.bytes()) -> {
                peersBeats = count;
                heard = true;
                heartbeat.recordHeard(count);
            }
            case JobKey key
            when key.count() > peersKeys && proofs.verifyAfterwards(frame.bytes()) -> {
                peersKeys = key.count();
                if (proofs.reveal(key).map(loop::learn).orElse(false)) {
                    tellKey();
                }
            }
            case Farewell(Optional<EndFailure> failure)
            when proofs.verifyAfterwards(frame.bytes()) -> {
                noteEnd(failure.<LifelineEnd>map(LifelineEnd.Failed::new).orElseGet(LifelineEnd.Released::new));
                handshake.close();
            }
            default -> LOGGER.debug("{}: unexpected or unproven {} dropped", handshake, frame.message());
        }
    }

    /** Notes how it ends: what is first counts. */
    void noteEnd(LifelineEnd how) {
        if (end == null) {
            end = how;
        }
    }

    /** The stream is over. */
    void complete() {
        lost.complete(end);
    }

    /** Runs what waits for the peer's silence. */
    void tellOfSilence() {
        try {
            onQuiet.run();
        } catch (RuntimeException | Error e) { // the other connections' peers are not to go unheard for that
            LOGGER.warn("handling a silent peer failed", e);
        }
    }

    /** Ends it with a farewell. */
    void letGo(Optional<EndFailure> failure) {
        if (end == null) {
            noteEnd(new LifelineEnd.Here());
            var _ = say(new Farewell(failure));
        }
        handshake.close();
    }

    @Override
    public boolean isHeard() {
        return heard;
    }

    @Override
    public CompletableFuture<LifelineEnd> lost() {
        return lost;
    }

    @Override
    public void whenQuiet(Runnable step) {
        onQuiet = step;
        loop.eventLoop().execute(heartbeat::hurry);
    }

    @Override
    public boolean isQuiet() {
        return heartbeat.silence().isQuiet();
    }

    @Override
    public void release() {
        end(Optional.empty());
    }

    @Override
    public void fail(EndFailure failure) {
        end(Optional.of(failure));
    }

    private void end(Optional<EndFailure> failure) {
        try {
            loop.eventLoop().execute(() -> letGo(failure));
        } catch (RejectedExecutionException e) {
            LOGGER.trace("the thread has ended, and closed the connection before", e);
        }
    }
}
