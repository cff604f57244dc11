package trigon.stream.circuit;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.function.Consumer;
import trigon.stream.RefusalCause;

/** Routes of circuits: says which TCP connections have to go through relays. Thread-safe; does not block. */
public interface CircuitRoutes {

    /** Every end can be connected to without a relay. */
    CircuitRoutes NONE = (_, _) -> Optional.empty();

    /** A port for questions about an address. */
    int ANY_PORT = 9;

    /**
     * A route through relays.
     *
     * @param first the relay to connect to, instead of the end
     * @param request what is to be asked for there
     * @param keys what proves that it may be
     * @param avoid told of a relay that opens no circuit: routes to come use another process of its node for a while
     */
    record CircuitRoute(
            InetSocketAddress first, CircuitRequest request, CircuitKeys keys, Consumer<InetSocketAddress> avoid) {

        /** One whose relays are the only ones. */
        public CircuitRoute(InetSocketAddress first, CircuitRequest request, CircuitKeys keys) {
            this(first, request, keys, _ -> {});
        }

        /** Takes note that the first relay cannot be connected to. */
        public void onUnreachable() {
            avoid.accept(first);
        }

        /** Takes note that the first relay has not opened the circuit. */
        public void onRefused(RefusalCause cause) {
            switch (cause) {
                case FULL -> avoid.accept(first);
                case NEXT_RELAY ->
                    request.hops().subList(0, request.hops().size() - 1).forEach(avoid);
                case END_REFUSED, END_UNREACHABLE, DENIED -> {}
            }
        }

        /** The opening to be said there first, for a circuit over TCP. */
        public CircuitOpening opening() {
            return new CircuitOpening(request, keys);
        }

        /** The same, for a circuit whose hops are upgraded behind what the ends say first. */
        public CircuitOpening opening(Prologue prologue) {
            return new CircuitOpening(request.withPrologue(prologue), keys);
        }
    }

    /**
     * The route of the next circuit from a link's own address to an end, if it has relays; empty if the end is to be
     * connected to. Circuits take relays in turn.
     *
     * @param local the address to connect from
     * @param remote the end
     */
    Optional<CircuitRoute> from(InetAddress local, InetSocketAddress remote);

    /** The keys by which relays know this process. */
    default CircuitKeys keys() {
        return new CircuitKeys(Optional.empty());
    }

    /** Returns whether there is one, without a circuit. */
    default boolean leadTo(InetAddress local, InetAddress remote) {
        return from(local, new InetSocketAddress(remote, ANY_PORT)).isPresent();
    }
}
