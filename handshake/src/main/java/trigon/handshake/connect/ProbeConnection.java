package trigon.handshake.connect;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import trigon.handshake.message.HandshakeException;
import trigon.handshake.message.HandshakeException.Kind;
import trigon.handshake.message.HandshakeFrameDecoder.HandshakeFrame;

/** Asks a listener whether it lives, knows the connection, and gets frames of the full size: its proofs say so. */
final class ProbeConnection extends ClientConnection implements Question {

    private final CompletableFuture<Void> answered = new CompletableFuture<>();
    private final ChannelUse use;

    /** One by a TCP connection of its own. Does nothing until it is started; after the timeout it fails. */
    ProbeConnection(ClientServices services, Duration timeout, Target target) {
        this(services, timeout, target, ChannelUse.ALONE);
    }

    private ProbeConnection(ClientServices services, Duration timeout, Target target, ChannelUse use) {
        super(services, timeout, target);
        this.use = use;
    }

    /** One beside which the same is asked over the TCP connection that there is, if there is one, from now on. */
    static ProbeConnection greeting(ClientServices services, Duration timeout, Target target) {
        ProbeConnection asking = new ProbeConnection(services, timeout, target);
        asking.onEventLoop(() -> {
            if (services.channelTo(target) != null) {
                ProbeConnection beside = new ProbeConnection(services, timeout, target, ChannelUse.GREETING);
                var _ = beside.answered.thenRun(() -> asking.answered.complete(null));
                beside.start();
            }
        });
        return asking;
    }

    @Override
    ChannelUse use() {
        return use;
    }

    @Override
    public CompletableFuture<Void> answered() {
        return answered;
    }

    @Override
    void answered(HandshakeFrame frame) {
        unexpected(frame.message());
    }

    @Override
    void greeted() {
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
