package trigon.stream.circuit;

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
     * @param request what is to be asked for there
     * @param keys what proves that it may be
     */
    record Detour(InetSocketAddress first, CircuitRequest request, CircuitKeys keys) {

        /** What is to be said there first, for a circuit over TCP. */
        public CircuitOpening opening() {
            return new CircuitOpening(request, keys);
        }

        /** The same, for a circuit whose hops are upgraded behind what the ends say first. */
        public CircuitOpening opening(Prologue prologue) {
            return new CircuitOpening(request.withPrologue(prologue), keys);
        }
    }

    /**
     * The way from a link's own address to an end, if it is a detour; empty if the end is to be connected to.
     *
     * @param local the address to connect from
     * @param remote the end
     */
    Optional<Detour> from(InetAddress local, InetSocketAddress remote);
}
