package trigon.relay.mesh;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import trigon.relay.topology.Route;
import trigon.stream.circuit.CircuitKeys;
import trigon.stream.circuit.CircuitRequest;
import trigon.stream.circuit.CircuitRoutes.CircuitRoute;
import trigon.system.InterfaceAddress;
import trigon.system.NanoClock;

/**
 * Shares the processes that relay on one node among circuits, in turn: of twelve circuits over three, each has four.
 * One that was gone or full rests, and is taken before its time only where all of its node rest. Thread-safe.
 */
final class RelayProcesses {

    /** Length of a process's rest. A restarted one announces a port of its own within that time. */
    static final Duration REST = Duration.ofSeconds(5);

    /** Bound on those that rest; the one that has rested longest is forgotten. */
    private static final int MAX_RESTING = 1024;

    private final NanoClock clock;
    private final Map<InetSocketAddress, Long> restingSince = new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<InetSocketAddress, Long> eldest) {
            return size() > MAX_RESTING;
        }
    };
    private int turn;

    /**
     * All of them are well.
     *
     * @param begin where to begin; other processes of this node begin elsewhere
     */
    RelayProcesses(int begin, NanoClock clock) {
        turn = begin;
        this.clock = clock;
    }

    /**
     * The next circuit of a route.
     *
     * @param zone index of the interface that leads to the first relay
     * @param end what the circuit is to
     * @param keys what proves that it may be
     */
    CircuitRoute circuit(Route route, int zone, InetSocketAddress end, CircuitKeys keys) {
        List<InetSocketAddress> hops =
                new ArrayList<>(route.relays().stream().map(this::next).toList());
        InetSocketAddress relay = hops.removeFirst();
        hops.add(end);
        InetAddress address = InterfaceAddress.inZone(relay.getAddress(), zone);
        InetSocketAddress first = new InetSocketAddress(address, relay.getPort());
        return new CircuitRoute(first, new CircuitRequest(hops), keys, this::rest);
    }

    /** The process of a node that the next circuit goes through. */
    synchronized InetSocketAddress next(Route.Relay relay) {
        long now = clock.nanoTime();
        restingSince.values().removeIf(since -> now - since > REST.toNanos());
        List<InetSocketAddress> all = relay.ports().stream()
                .map(port -> new InetSocketAddress(relay.address(), port))
                .toList();
        List<InetSocketAddress> well =
                all.stream().filter(each -> !restingSince.containsKey(each)).toList();
        List<InetSocketAddress> of = well.isEmpty() ? all : well;
        return of.get(Math.floorMod(turn++, of.size()));
    }

    /** Has one rest from now on. */
    synchronized void rest(InetSocketAddress process) {
        restingSince.remove(process); // an entry that is put again keeps its place
        restingSince.put(process, clock.nanoTime());
    }
}
