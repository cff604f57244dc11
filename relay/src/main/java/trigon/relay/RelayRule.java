package trigon.relay;

import java.net.InetAddress;
import java.util.Optional;

/** A relay's condition for a circuit besides its proof, and its knowledge of its links. */
@FunctionalInterface
public interface RelayRule {

    /**
     * Why not; empty if it may be.
     *
     * @param from who asks: the end, or the relay before this one
     * @param to the next hop: the end, or the relay after this one
     */
    Optional<String> objection(InetAddress from, InetAddress to);

    /** Index of the interface that has an own address; 0 if it is not known. */
    default int interfaceOf(InetAddress own) {
        return 0;
    }

    /** Returns whether a neighbour has been heard on the link of an own link-local address. */
    default boolean isHeard(InetAddress own, InetAddress neighbour) {
        return false;
    }
}
