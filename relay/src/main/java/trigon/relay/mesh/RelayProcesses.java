package trigon.relay.mesh;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import trigon.relay.topology.Route;
import trigon.stream.circuit.CircuitKeys;
import trigon.stream.circuit.CircuitRequest;
import trigon.stream.circuit.CircuitRoutes.CircuitRoute;
import trigon.system.InterfaceAddress;
import trigon.system.NanoClock;

/**
 * Shares the relays of routes of equal rank, and the processes that relay on one node, among the circuits to an end, in
 * turn: of twelve circuits over three, each has four. A process that was gone or full rests, and is taken before its
 * time only where all rest. Thread-safe.
 */
final class RelayProcesses {

    /** Length of a process's rest. A restarted one announces a port of its own within that time. */
    static final Duration REST = Duration.ofSeconds(5);

    /** Bound on those that rest, and on the ends whose turns are known; the oldest is forgotten. */
    private static final int MAX_REMEMBERED = 1024;

    /** Both ends of circuits that take turns. */
    private record Ends(InetAddress local, InetSocketAddress end) {}

    /** A process of a route's first relay. */
    private record First(InetSocketAddress process, Route route) {}

    private final NanoClock clock;
    private final Map<InetSocketAddress, Long> restingSince = remembered();
    private final Map<Ends, Integer> turns = remembered();
    private final int begin;

    /**
     * All of them are well.
     *
     * @param begin where to begin; other processes of this node begin elsewhere
     */
    RelayProcesses(int begin, NanoClock clock) {
        this.begin = begin;
        this.clock = clock;
    }

    private static <K, V> Map<K, V> remembered() {
        return new LinkedHashMap<>() {
            @Override
            protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
                return size() > MAX_REMEMBERED;
            }
        };
    }

    /**
     * The next circuit to an end, by one of its routes.
     *
     * @param routes of equal rank, from the same own address; at least one
     * @param zone index of the interface that leads to the first relay
     * @param end what the circuit is to
     * @param keys what proves that it may be
     */
    CircuitRoute circuit(List<Route> routes, int zone, InetSocketAddress end, CircuitKeys keys) {
        List<InetSocketAddress> hops = next(routes, end);
        InetSocketAddress relay = hops.removeFirst();
        hops.add(end);
        InetAddress address = InterfaceAddress.inZone(relay.getAddress(), zone);
        InetSocketAddress first = new InetSocketAddress(address, relay.getPort());
        return new CircuitRoute(first, new CircuitRequest(hops), keys, this::rest);
    }

    /** The processes of the relays that the next circuit goes through. */
    private synchronized List<InetSocketAddress> next(List<Route> routes, InetSocketAddress end) {
        long now = clock.nanoTime();
        restingSince.values().removeIf(since -> now - since > REST.toNanos());
        Ends ends = new Ends(routes.getFirst().local(), end);
        int turn = turns.getOrDefault(ends, begin + turns.size());
        turns.put(ends, turn + 1);
        List<First> firsts = firsts(routes);
        First first = inTurn(firsts, this::isWell, turn);
        List<InetSocketAddress> hops = new ArrayList<>(List.of(first.process()));
        int round = turn / firsts.size(); // so each of the first meets each of the second
        first.route().relays().stream()
                .skip(1)
                .map(relay -> inTurn(processes(relay), this::isWell, turn + round))
                .forEach(hops::add);
        return hops;
    }

    /** Processes of the first relays, those of one node apart. */
    private static List<First> firsts(List<Route> routes) {
        List<List<First>> ofRoutes = routes.stream()
                .map(route -> processes(route.relays().getFirst()).stream()
                        .map(process -> new First(process, route))
                        .toList())
                .toList();
        int most = ofRoutes.stream().mapToInt(List::size).max().orElse(0);
        return IntStream.range(0, most)
                .boxed()
                .flatMap(i -> ofRoutes.stream().filter(each -> i < each.size()).map(each -> each.get(i)))
                .toList();
    }

    private static List<InetSocketAddress> processes(Route.Relay relay) {
        return relay.ports().stream()
                .map(port -> new InetSocketAddress(relay.address(), port))
                .toList();
    }

    /** One whose turn it is among those that are well; if none is, among all. */
    private static <T> T inTurn(List<T> all, Predicate<T> isWell, int turn) {
        List<T> well = all.stream().filter(isWell).toList();
        List<T> of = well.isEmpty() ? all : well;
        return of.get(Math.floorMod(turn, of.size()));
    }

    private boolean isWell(InetSocketAddress process) {
        return !restingSince.containsKey(process);
    }

    private boolean isWell(First first) {
        return isWell(first.process())
                && first.route().relays().stream()
                        .skip(1)
                        .allMatch(relay -> processes(relay).stream().anyMatch(this::isWell));
    }

    /** Has one rest from now on. */
    synchronized void rest(InetSocketAddress process) {
        restingSince.remove(process); // an entry that is put again keeps its place
        restingSince.put(process, clock.nanoTime());
    }
}
