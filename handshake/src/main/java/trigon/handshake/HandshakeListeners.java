package trigon.handshake;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.List;
import trigon.config.HandshakeConfig;

/**
 * The listening sockets of a process: one on each link address, opened once, shared by all connections to come.
 *
 * <p>Thread-safe. A peer is heard only if it offers a registered connection in time; whatever else connects (a port
 * scan, a silent client) is closed and cannot disturb the others.
 */
@SuppressWarnings("DoNotCallSuggester")
public final class HandshakeListeners implements AutoCloseable {

    private final List<InetSocketAddress> addresses;

    private HandshakeListeners(List<InetSocketAddress> addresses) {
        this.addresses = List.copyOf(addresses);
    }

    /**
     * Opens a socket on each address. Waits for the local bind only; not to be called on the event loop.
     *
     * @param self who this process is, to be compared with who offers
     * @throws HandshakeException of kind LISTEN if one of them cannot be bound; then none is left open
     */
    public static HandshakeListeners open(
            HandshakeEventLoop loop, HandshakeConfig config, NodeIdentity self, Collection<InetAddress> addresses) {
        throw new UnsupportedOperationException("to come: " + loop.eventLoop() + config + self + addresses);
    }

    /** The addresses with the ports that they were bound to, in the order they were given. */
    public List<InetSocketAddress> addresses() {
        return addresses;
    }

    /**
     * The port on one of the addresses.
     *
     * @throws IllegalArgumentException if there is no listener on it
     */
    public int port(InetAddress address) {
        throw new UnsupportedOperationException("to come: " + address);
    }

    /**
     * From now on the handler hears of offers for that connection, until it is established or unregistered.
     *
     * @throws IllegalStateException if it is registered already, or the listeners are closed
     */
    public void register(ConnectionId connection, OfferHandler handler) {
        throw new UnsupportedOperationException("to come: " + connection + handler);
    }

    /** Forgets a connection; an attempt that is under way fails. Unknown ones are ignored. */
    public void unregister(ConnectionId connection) {
        throw new UnsupportedOperationException("to come: " + connection);
    }

    /** Closes the sockets and all that came in through them; attempts under way fail. Closing twice is allowed. */
    @Override
    public void close() {}
}
