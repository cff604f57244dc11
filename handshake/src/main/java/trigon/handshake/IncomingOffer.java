package trigon.handshake;

import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import trigon.handshake.message.HandshakeException;
import trigon.handshake.message.HandshakeMessage.Offer;
import trigon.verbs.ConnectionKey;

/**
 * One attempt of a peer to connect, as the listening side's {@link OfferHandler} gets it. Thread-safe.
 *
 * @param offer what the peer offers
 * @param key what both ends' queue pairs may prove to each other that they know; of this attempt alone
 * @param local the link address at which it came in
 * @param remote where it came from
 * @param result how it ended; {@code isDone} is cheap. Completes on the event loop, always, and at the latest at the
 *     deadline: with the established link once the peer is ready, else with a {@link HandshakeException}. Completing it
 *     from outside has no effect on the connection
 */
public record IncomingOffer(
        Offer offer,
        ConnectionKey key,
        InetSocketAddress local,
        InetSocketAddress remote,
        CompletableFuture<Established> result) {}
