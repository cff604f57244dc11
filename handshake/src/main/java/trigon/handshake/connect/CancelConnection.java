package trigon.handshake.connect;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import trigon.config.HandshakeConfig;
import trigon.handshake.lifeline.HandshakeEventLoop;
import trigon.handshake.message.EndFailure;
import trigon.handshake.message.HandshakeException;
import trigon.handshake.message.HandshakeException.Kind;
import trigon.handshake.message.HandshakeFrameDecoder.HandshakeFrame;
import trigon.handshake.message.HandshakeMessage.Challenge;
import trigon.handshake.message.HandshakeMessage.Farewell;
import trigon.handshake.message.HandshakeMessage.Reject;

/** Tells a listener that nobody will connect any more, and why. */
final class CancelConnection extends ClientConnection {

    private final EndFailure failure;
    private final CompletableFuture<Void> told = new CompletableFuture<>();
    private boolean farewellSent;
    private boolean acknowledged;

    /** Does nothing until it is started; after the timeout it fails. */
    CancelConnection(
            HandshakeEventLoop loop, HandshakeConfig config, Duration timeout, Target target, EndFailure failure) {
        super(loop, config, timeout, target);
        this.failure = failure;
    }

    /** Completes when the listener has acknowledged it; otherwise fails with a {@link HandshakeException}. */
    CompletableFuture<Void> told() {
        return told;
    }

    @Override
    protected void received(HandshakeFrame frame) {
        switch (frame.message()) {
            case Challenge _ when !farewellSent && isProven(frame) -> challenged();
            case Farewell _
            when farewellSent && isProven(frame) -> {
                acknowledged = true;
                fail(Kind.ABANDONED, "the listener has noted it");
            }
            case Reject reject -> fail(Kind.REJECTED, "the listener rejects it: " + reject.reason());
            default -> unexpected(frame.message());
        }
    }

    @Override
    void challenged() {
        farewellSent = true;
        await("the listener's acknowledgement");
        sendProven(new Farewell(Optional.of(failure)), known());
    }

    @Override
    protected void failed(HandshakeException cause) {
        if (acknowledged) {
            told.complete(null);
        } else {
            told.completeExceptionally(cause);
        }
    }

    @Override
    protected String describe() {
        return describe("the end", "");
    }
}
