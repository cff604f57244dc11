package trigon.handshake;

import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import trigon.handshake.message.HandshakeException;
import trigon.handshake.message.HandshakeMessage.Answer;
import trigon.verbs.ConnectionKey;

/**
 * One attempt to connect, as {@code HandshakeClient.connect} starts it. Thread-safe; nothing here blocks.
 *
 * <p>The futures complete on the event loop, always, and at the latest at the deadline; {@code isDone} is cheap.
 * Completing them from outside has no effect on the connection: use {@link #abandon}.
 */
public interface OutgoingOffer {

    InetSocketAddress remote();

    /** The listener's answer, or a {@link HandshakeException}: then this attempt is over. */
    CompletableFuture<Answer> answer();

    /**
     * The key that both ends' queue pairs may prove to know; of this attempt alone.
     *
     * @throws IllegalStateException if there is no answer yet
     */
    ConnectionKey key();

    /**
     * The attempt's end: the established link once {@link #sendReady} was called and the listener confirmed, else a
     * {@link HandshakeException}; if {@link #answer} failed, the same.
     */
    CompletableFuture<Established> result();

    /**
     * Says that the own queue pair is up. A second call changes nothing.
     *
     * @param stripes how many of the connection's queue pairs there are; each of their handshakes says the same
     * @return {@link #result}
     * @throws IllegalStateException if there is no answer yet
     */
    CompletableFuture<Established> sendReady(int stripes);

    /** Gives up, and tells the peer why if it can still be told. Does nothing once the result is there. */
    void abandon(String reason);
}
