package trigon.handshake;

import java.net.InetSocketAddress;
import trigon.handshake.message.HandshakeMessage.Answer;
import trigon.handshake.message.HandshakeMessage.Offer;

/**
 * A finished handshake: both ends know that both queue pairs are up. A connection may need several.
 *
 * @param local this side's address of the TCP connection
 * @param remote the peer's
 * @param offer what the connecting side said
 * @param answer what the listening side said
 * @param stripes how many queue pairs the connection has, this one included
 * @param lifeline the TCP connection, to be released when the link is not in use any more
 */
public record Established(
        InetSocketAddress local,
        InetSocketAddress remote,
        Offer offer,
        Answer answer,
        int stripes,
        Lifeline lifeline) {}
