package trigon.stream.dial;

import java.net.InetSocketAddress;
import java.util.Optional;
import trigon.stream.Conversation;
import trigon.stream.RefusalCause;
import trigon.stream.circuit.CircuitRoutes.CircuitRoute;

/**
 * The beginning of a stream.
 *
 * @param address the address to connect to: the stream's end, or the first relay of a circuit to it
 * @param route the circuit's route; empty if this is the end
 * @param segmentBytes the most bytes of a TCP segment that get there, without headers; 0: what the interface takes
 */
public record FirstHop(InetSocketAddress address, Optional<CircuitRoute> route, int segmentBytes) {

    /** The same in segments of so many bytes at most. */
    public FirstHop inSegmentsOf(int bytes) {
        return new FirstHop(address, route, bytes);
    }

    /** The conversation there before the end is reached, from its beginning; empty if this is the end. */
    public Optional<Conversation> opening() {
        return route.map(CircuitRoute::opening);
    }

    /** Takes note that no TCP connection came up there. */
    public void onUnreachable() {
        route.ifPresent(CircuitRoute::onUnreachable);
    }

    /** Takes note that the relay there has not opened the circuit. */
    public void onRefused(RefusalCause cause) {
        route.ifPresent(through -> through.onRefused(cause));
    }
}
