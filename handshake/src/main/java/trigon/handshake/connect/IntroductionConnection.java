package trigon.handshake.connect;

import java.time.Duration;
import java.util.Optional;
import trigon.handshake.message.HandshakeException;
import trigon.handshake.message.HandshakeException.Kind;
import trigon.handshake.message.HandshakeFrameDecoder.HandshakeFrame;
import trigon.handshake.message.HandshakeMessage.JobKey;

/** Exchanges the key of the job with a listener, over a path that need not be the one for data. */
final class IntroductionConnection extends ClientConnection {

    /** Does nothing until it is started. */
    IntroductionConnection(ClientServices services, Duration timeout, Target target) {
        super(services, timeout, target);
    }

    @Override
    ChannelUse use() {
        return ChannelUse.SHARED;
    }

    @Override
    void greeted() {
        await("the listener's key of the job");
        sendKey(known());
    }

    @Override
    void answered(HandshakeFrame frame) {
        if (!(frame.message() instanceof JobKey told)) {
            unexpected(frame.message());
            return;
        }
        Optional<byte[]> key = known().reveal(told);
        if (admit(frame)) {
            key.ifPresent(loop()::learn);
            fail(Kind.ABANDONED, "both have one key of the job");
        }
    }

    @Override
    protected void failed(HandshakeException cause) {
        // nobody waits for it
    }

    @Override
    protected String describe() {
        return describe("an introduction", "");
    }
}
