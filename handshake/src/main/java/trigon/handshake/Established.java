package trigon.handshake;

import java.net.InetSocketAddress;
import trigon.handshake.HandshakeMessage.Answer;
import trigon.handshake.HandshakeMessage.Offer;

/**
 * A finished handshake: both ends know that both queue pairs are up. The TCP connection is over.
 *
 * @param local this side's address of the TCP connection
 * @param remote the peer's
 * @param offer what the connecting side said
 * @param answer what the listening side said
 */
public record Established(InetSocketAddress local, InetSocketAddress remote, Offer offer, Answer answer) {}
