package trigon.handshake.connect;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import trigon.handshake.message.EndFailure;
import trigon.handshake.message.HandshakeException;
import trigon.handshake.message.HandshakeException.Kind;
import trigon.handshake.message.HandshakeFrameDecoder.HandshakeFrame;
import trigon.handshake.message.HandshakeMessage.Farewell;

/** Tells a listener that nobody will connect any more, and why. */
final class CancelConnection extends ClientConnection {

    private final EndFailure failure;
    private final CompletableFuture<Void> told = new CompletableFuture<>();
    private boolean acknowledged;

    /** Does nothing until it is started; after the timeout it fails. */
    CancelConnection(ClientServices services, Duration timeout, Target target, EndFailure failure) {
        super(services, timeout, target);
        this.failure = failure;
    }

    /** Completes when the listener has acknowledged it; otherwise fails with a {@link HandshakeException}. */
    CompletableFuture<Void> told() {
        return told;
    }

    @Override
    void answered(HandshakeFrame frame) {
        switch (frame.message()) {
            case Farewell _
            when admit(frame) -> {
                acknowledged = true;
                fail(Kind.ABANDONED, "the listener has noted it");
            }
            default -> unexpected(frame.message());
        }
    }

    @Override
    void greeted() {
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
