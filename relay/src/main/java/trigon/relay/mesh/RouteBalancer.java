package trigon.relay.mesh;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import trigon.routing.PeerLink;
import trigon.system.InterfaceAddress;

/**
 * Has the connections to a node share the routes of equal rank, by count: of eight over two relays, each relay has
 * four. A connection keeps its number, so that it finds the same route first when it looks again. Thread-safe.
 */
final class RouteBalancer {

    /**
     * Bound on the connections whose numbers are remembered, and on the peers; the one asked for longest ago is counted
     * anew.
     */
    private static final int MAX_REMEMBERED = 16_384;

    /** Bound on the routes of equal rank that are shared; the others follow in their order. */
    private static final int MAX_ROUTES = 64;

    private record Connection(List<InetAddress> peer, long number) {}

    private final int begin;
    private final Map<Connection, Integer> turns = remembered();
    private final Map<List<InetAddress>, Integer> next = remembered();

    /**
     * One that has seen no connection.
     *
     * @param begin where the first connection to each peer begins; other processes of the node begin elsewhere
     */
    RouteBalancer(int begin) {
        this.begin = begin;
    }

    private static <K> Map<K, Integer> remembered() {
        return new LinkedHashMap<>(16, 0.75f, true) {
            @Override
            protected boolean removeEldestEntry(Map.Entry<K, Integer> eldest) {
                return size() > MAX_REMEMBERED;
            }
        };
    }

    /**
     * The first place in the list of routes to a peer.
     *
     * @param own the first address of this node: of two nodes, one begins with the first route and the other with the
     *     second, so that the two directions do not share a relay
     * @param connection tells apart the connections to the peer
     */
    synchronized int turn(InterfaceAddress own, List<PeerLink> remotes, long connection) {
        List<InterfaceAddress> theirs =
                remotes.stream().map(PeerLink::interfaceAddress).sorted().toList();
        List<InetAddress> peer = theirs.stream().map(InterfaceAddress::address).toList();
        boolean second = !theirs.isEmpty() && own.compareTo(theirs.getFirst()) > 0;
        int turn = turns.computeIfAbsent(new Connection(peer, connection), _ -> next.merge(peer, 1, Integer::sum) - 1);
        return begin + turn + (second ? 1 : 0) & Integer.MAX_VALUE;
    }

    /**
     * Routes of equal rank, so that neighbours in the list have as little in common as can be, from the turn on.
     *
     * @param routes in an order that is the same at both ends, as far as they see the same
     * @param traits of a route, those first of which two routes should not share one
     */
    static <T> List<T> inTurn(List<T> routes, List<Function<T, Object>> traits, int turn) {
        List<T> listed = new ArrayList<>(apart(routes.subList(0, Math.min(routes.size(), MAX_ROUTES)), traits));
        if (!listed.isEmpty()) {
            Collections.rotate(listed, -(turn % listed.size()));
        }
        listed.addAll(routes.subList(listed.size(), routes.size()));
        return listed;
    }

    /** Each next one is the one whose traits have been taken least often. */
    private static <T> List<T> apart(List<T> routes, List<Function<T, Object>> traits) {
        List<Map<Object, Integer>> taken = new ArrayList<>();
        traits.forEach(_ -> taken.add(new HashMap<>()));
        Comparator<T> least = (_, _) -> 0;
        for (int i = 0; i < traits.size(); i++) {
            Function<T, Object> trait = traits.get(i);
            Map<Object, Integer> counts = taken.get(i);
            least = least.thenComparingInt(route -> counts.getOrDefault(trait.apply(route), 0));
        }
        List<T> left = new ArrayList<>(routes);
        List<T> listed = new ArrayList<>();
        while (!left.isEmpty()) {
            T next = Collections.min(left, least); // the first of equals
            left.remove(next);
            listed.add(next);
            for (int i = 0; i < traits.size(); i++) {
                taken.get(i).merge(traits.get(i).apply(next), 1, Integer::sum);
            }
        }
        return listed;
    }
}
