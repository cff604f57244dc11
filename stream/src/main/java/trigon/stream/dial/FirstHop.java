package trigon.stream.dial;

import java.net.InetSocketAddress;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import trigon.stream.Conversation;
import trigon.stream.circuit.CircuitRoutes.CircuitRoute;

/** The beginning of a stream: its end itself, or the first relay of a circuit to it. */
public final class FirstHop {

    private final InetSocketAddress address;
    private final @Nullable CircuitRoute route;

    private FirstHop(InetSocketAddress address, @Nullable CircuitRoute route) {
        this.address = address;
        this.route = route;
    }

    static FirstHop toEnd(InetSocketAddress end) {
        return new FirstHop(end, null);
    }

    static FirstHop toRelay(CircuitRoute route) {
        return new FirstHop(route.first(), route);
    }

    /** The address to connect to. */
    public InetSocketAddress address() {
        return address;
    }

    /** The conversation there before the end is reached, from its beginning; empty if this is the end. */
    public Optional<Conversation> opening() {
        return Optional.ofNullable(route).map(CircuitRoute::opening);
    }
}
