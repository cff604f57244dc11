package trigon.circuit;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Optional;

/** Says which TCP connections have to go through relays. Thread-safe; does not block. */
public interface Detours {

    /** Every end can be connected to without a relay. */
    Detours NONE = (_, _) -> Optional.empty();

    /**
     * A way through relays.
     *
     * @param first the relay to connect to, instead of the end
     * @param opening what is to be said there first
     */
    record Detour(InetSocketAddress first, CircuitOpening opening) {}

    /**
     * The way from a link's own address to an end, if it is a detour; empty if the end is to be connected to.
     *
     * @param local the address to connect from
     * @param remote the end
     */
    Optional<Detour> from(InetAddress local, InetSocketAddress remote);
}
