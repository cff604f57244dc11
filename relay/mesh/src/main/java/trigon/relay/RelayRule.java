package trigon.relay;

import java.net.InetAddress;
import java.util.Optional;

/** What a relay asks of a circuit besides its proof. */
@FunctionalInterface
public interface RelayRule {

    /**
     * Why not; empty if it may be.
     *
     * @param from who asks: the end, or the relay before this one
     * @param to the next hop: the end, or the relay after this one
     */
    Optional<String> objection(InetAddress from, InetAddress to);
}
