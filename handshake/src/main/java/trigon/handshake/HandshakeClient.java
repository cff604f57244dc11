package trigon.handshake;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import trigon.config.HandshakeConfig;
import trigon.handshake.HandshakeMessage.Offer;

/** Connects to listeners. Thread-safe; holds nothing but its event loop. */
@SuppressWarnings("DoNotCallSuggester")
public final class HandshakeClient {

    private final HandshakeEventLoop loop;
    private final HandshakeConfig config;

    public HandshakeClient(HandshakeEventLoop loop, HandshakeConfig config) {
        this.loop = loop;
        this.config = config;
    }

    /**
     * Starts one attempt over one candidate path; returns at once. The connection is bound to the path's own local
     * address, so that it goes where the data would go. The deadline of the settings is for the whole attempt.
     *
     * @param local the candidate's own address
     * @param remote the listener's, from its handle
     */
    public OutgoingOffer connect(InetAddress local, InetSocketAddress remote, Offer offer) {
        throw new UnsupportedOperationException("to come: " + loop.eventLoop() + config + local + remote + offer);
    }
}
