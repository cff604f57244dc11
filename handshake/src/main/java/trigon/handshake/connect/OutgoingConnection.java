package trigon.handshake.connect;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.handshake.Established;
import trigon.handshake.OutgoingOffer;
import trigon.handshake.message.HandshakeException;
import trigon.handshake.message.HandshakeException.Kind;
import trigon.handshake.message.HandshakeFrameDecoder.HandshakeFrame;
import trigon.handshake.message.HandshakeMessage.Alive;
import trigon.handshake.message.HandshakeMessage.Answer;
import trigon.handshake.message.HandshakeMessage.Challenge;
import trigon.handshake.message.HandshakeMessage.Closed;
import trigon.handshake.message.HandshakeMessage.Farewell;
import trigon.handshake.message.HandshakeMessage.Filler;
import trigon.handshake.message.HandshakeMessage.Hello;
import trigon.handshake.message.HandshakeMessage.JobKey;
import trigon.handshake.message.HandshakeMessage.NotNow;
import trigon.handshake.message.HandshakeMessage.Offer;
import trigon.handshake.message.HandshakeMessage.Ready;
import trigon.handshake.message.HandshakeMessage.Reject;
import trigon.verbs.ConnectionKey;

/** The connecting side's end of one handshake. */
final class OutgoingConnection extends ClientConnection implements OutgoingOffer {

    private static final Logger LOGGER = LoggerFactory.getLogger(OutgoingConnection.class);

    private enum Step {
        GREETING,
        OFFERING,
        ANSWERED,
        READY
    }

    private final Offer offer;
    private final Runnable beforeOffer;
    private final boolean repeats;
    private final CompletableFuture<Answer> answer = new CompletableFuture<>();

    private Step step = Step.GREETING;
    private @Nullable Answer answered;
    /** Set before the answer is complete, and published by it. */
    private @Nullable ConnectionKey key;

    /**
     * To be started.
     *
     * @param beforeOffer runs on the event loop just before the offer is sent
     * @param repeats whether another one has made the offer before: this one has a TCP connection of its own
     */
    OutgoingConnection(
            ClientServices services,
            Duration timeout,
            Target target,
            Offer offer,
            Runnable beforeOffer,
            boolean repeats) {
        super(services, timeout, target);
        this.repeats = repeats;
        this.offer = offer;
        this.beforeOffer = beforeOffer;
    }

    @Override
    ChannelUse use() {
        return repeats ? ChannelUse.REPEATED : ChannelUse.SHARED;
    }

    @Override
    void answered(HandshakeFrame frame) {
        switch (frame.message()) {
            case Answer received when step == Step.OFFERING && admit(frame) -> answered(received);
            case Ready ready
            when step == Step.READY && answered != null && admit(frame) -> established(answered, ready);
            case NotNow notNow -> fail(Kind.UNREACHABLE, "the listener cannot answer: " + notNow.reason());
            case Hello _,
                    Challenge _,
                    Offer _,
                    Answer _,
                    Ready _,
                    Alive _,
                    JobKey _,
                    Farewell _,
                    Filler _,
                    Closed _,
                    Reject _ -> unexpected(frame.message());
        }
    }

    @Override
    void greeted() {
        beforeOffer.run();
        step = Step.OFFERING;
        await("the answer to the offer");
        sendProven(offer, known());
        key = known().connectionKey();
    }

    private void answered(Answer received) {
        if (received.kind() != offer.kind()) {
            reject(Kind.PROTOCOL, "offered a link of kind " + offer.kind() + ", answered one of " + received.kind());
            return;
        }
        step = Step.ANSWERED;
        await("the own queue pair");
        answered = received;
        answer.complete(received);
    }

    @Override
    public CompletableFuture<Established> sendReady(int stripes) {
        Ready ready = new Ready(stripes);
        if (!answer.isDone()) {
            throw new IllegalStateException(describe() + ": there is no answer yet to be ready for");
        }
        onEventLoop(() -> {
            if (step == Step.ANSWERED && !isOver()) {
                step = Step.READY;
                await("the listener's confirmation");
                sendProven(ready, known());
            }
        });
        return result();
    }

    private void established(Answer received, Ready ready) {
        LOGGER.debug(
                "connected to {} from {} (connection {}, {}): own {}, peer {}",
                remote(),
                bound(),
                offer.connection(),
                offer.kind(),
                offer.endpoint(),
                received.endpoint());
        succeed(
                lifeline -> new Established(bound(), remote(), offer, received, ready.stripes(), lifeline),
                known(),
                target().isDirect() ? received.node() : "");
        beat(); // by which the listener knows that its confirmation has come
    }

    /** It is not needed any more; on the event loop. */
    void drop(String why) {
        fail(Kind.ABANDONED, why);
    }

    /** Returns whether the listener has proven itself: TCP knows by then how soon to send again what is lost. */
    boolean hasOffered() {
        return step != Step.GREETING && !isUnheardOnShared();
    }

    @Override
    public void abandon(String reason) {
        onEventLoop(() -> reject(Kind.ABANDONED, reason));
    }

    @Override
    protected void failed(HandshakeException cause) {
        cause.logTo(LOGGER);
        answer.completeExceptionally(cause);
    }

    @Override
    public CompletableFuture<Answer> answer() {
        return answer;
    }

    @Override
    public ConnectionKey key() {
        ConnectionKey mine = answer.isDone() ? key : null;
        if (mine == null) {
            throw new IllegalStateException(describe() + ": there is no answer yet, so no key");
        }
        return mine;
    }

    @Override
    protected String describe() {
        return describe("handshake", " (" + offer.kind() + ")");
    }
}
