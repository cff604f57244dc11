package trigon.system.kernel;

import java.net.InetSocketAddress;

/**
 * Both ends of a TCP connection.
 *
 * @param local this machine's
 * @param remote the other one
 */
public record TcpEnds(InetSocketAddress local, InetSocketAddress remote) {}
