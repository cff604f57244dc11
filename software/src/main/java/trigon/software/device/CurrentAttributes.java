package trigon.software.device;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;
import trigon.software.connection.LocalDevice;
import trigon.software.connection.Peer;
import trigon.software.wire.ConnectionProofs;
import trigon.verbs.AddressVector;
import trigon.verbs.QueuePairAttribute;
import trigon.verbs.QueuePairAttributes;

/**
 * The attributes that a queue pair's changes of state have set: who its peer is, and what the peer may do. Changed and
 * used under the queue pair's lock where nothing else is said.
 */
final class CurrentAttributes {

    private int accessBits;
    private int minRnrTimer;
    private @Nullable Peer peer;
    private ConnectionProofs proofs = new ConnectionProofs(null);

    /** Takes what may be set on the way to any state. */
    void take(QueuePairAttributes attributes) {
        if (attributes.mask().contains(QueuePairAttribute.ACCESS_FLAGS)) {
            accessBits = attributes.accessFlags();
        }
        if (attributes.mask().contains(QueuePairAttribute.MIN_RNR_TIMER)) {
            minRnrTimer = attributes.minRnrTimer();
        }
    }

    /**
     * Takes what is set on the way to READY_TO_RECEIVE.
     *
     * @throws trigon.verbs.VerbsException if the device does not reach the peer; then nothing has changed
     */
    void takePeer(LocalDevice device, QueuePairAttributes attributes) {
        AddressVector vector = attributes.addressVector();
        InetAddress address = Reachability.resolve(device.settings(), device.dialer(), vector.destination());
        take(attributes);
        peer = new Peer(
                vector.destination(),
                attributes.destinationNumber(),
                new InetSocketAddress(address, vector.destinationLid()));
        proofs = new ConnectionProofs(attributes.connectionKey());
    }

    /** The peer's access to memory: bits of {@link trigon.verbs.AccessFlag}s. */
    int accessBits() {
        return accessBits;
    }

    int minRnrTimer() {
        return minRnrTimer;
    }

    /** The queue pair at the other end; null before READY_TO_RECEIVE. */
    @Nullable
    Peer peer() {
        return peer;
    }

    ConnectionProofs proofs() {
        return proofs;
    }
}
