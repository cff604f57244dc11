package trigon.handshake.connect;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import trigon.config.HandshakeConfig;
import trigon.handshake.lifeline.HandshakeEventLoop;
import trigon.handshake.message.HandshakeException;
import trigon.handshake.message.HandshakeException.Kind;
import trigon.handshake.message.HandshakeFrameDecoder.HandshakeFrame;
import trigon.handshake.message.HandshakeMessage.Challenge;
import trigon.handshake.message.HandshakeMessage.Reject;

/** Asks a listener whether it lives, and knows the connection: its challenge proves both. */
final class ProbeConnection extends ClientConnection implements Question {

    private final CompletableFuture<Void> answered = new CompletableFuture<>();

    /** Does nothing until it is started; after the timeout it fails. */
    ProbeConnection(HandshakeEventLoop loop, HandshakeConfig config, Duration timeout, Target target) {
        super(loop, config, timeout, target);
    }

    @Override
    public CompletableFuture<Void> answered() {
        return answered;
    }

    @Override
    protected void received(HandshakeFrame frame) {
        switch (frame.message()) {
            case Challenge _ when isProven(frame) -> challenged();
            case Reject reject -> fail(Kind.REJECTED, "the listener rejects it: " + reject.reason());
            default -> unexpected(frame.message());
        }
    }

    @Override
    void challenged() {
        answered.complete(null);
        fail(Kind.ABANDONED, "the peer is alive");
    }

    @Override
    protected void failed(HandshakeException cause) {
        answered.completeExceptionally(cause);
    }

    @Override
    protected String describe() {
        return describe("a question", "");
    }
}
