package trigon.transport.connect;

import java.util.List;
import java.util.function.Supplier;
import trigon.handshake.connect.HandshakeClient;
import trigon.handshake.message.LinkAddress;
import trigon.handshake.message.ListenHandle;
import trigon.handshake.message.NodeIdentity;
import trigon.transport.path.Links;

/**
 * This process's part in each of its connections. Thread-safe.
 *
 * @param links whose devices are open
 * @param client makes offers, and asks whether peers live
 * @param factory makes queue pairs
 * @param self what peers are told of this process
 * @param addresses where it listens now
 * @param connectionLog says what is up
 */
public record LocalSide(
        Links links,
        HandshakeClient client,
        PathFactory factory,
        NodeIdentity self,
        Supplier<List<LinkAddress>> addresses,
        ConnectionLog connectionLog) {

    /** Returns where it listens now, as far as there is room for it in a message. */
    public List<LinkAddress> fittingAddresses() {
        return ListenHandle.fitting(addresses.get());
    }
}
