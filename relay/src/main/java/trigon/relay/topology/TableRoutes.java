package trigon.relay.topology;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import trigon.relay.table.NetworkMap;
import trigon.relay.table.RouteTable;

/** The routes to peers by the table of what is known now. Computes it when the map has changed. Thread-safe. */
public final class TableRoutes {

    /** Bound on the tables that are kept: without a key, each peer has a map of its own. */
    private static final int MAX_TABLES = 64;

    /**
     * The routes to a peer.
     *
     * @param table those of the table, in its order
     * @param others that begin or end elsewhere, for when these fail
     */
    private record Found(List<Route> table, List<Route> others) {}

    private static final Found NOTHING = new Found(List.of(), List.of());

    private final Supplier<Nodes> nodes;
    private final Map<NetworkMap, RouteTable> tables = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<NetworkMap, RouteTable> eldest) {
            return size() > MAX_TABLES;
        }
    };

    /** Routes to peers among the nodes that were known then: when a cable goes, hundreds of connections ask. */
    private final Map<Node, Found> found = new LinkedHashMap<>();

    private @Nullable Nodes then;

    /** Routes between the nodes that are known whenever it is asked. */
    public TableRoutes(Supplier<Nodes> nodes) {
        this.nodes = nodes;
    }

    private synchronized RouteTable table(NetworkMap map) {
        return tables.computeIfAbsent(map, _ -> RouteTable.of(map, new BitSet()));
    }

    /**
     * The routes to a peer: first those of the table, in its order, then others that begin or end elsewhere, for when
     * these fail.
     *
     * @param turn with which of the table's routes to begin
     */
    public List<Route> to(Node peer, int turn) {
        Found all = found(nodes.get(), peer);
        List<Route> routes = new ArrayList<>(all.table);
        Collections.rotate(routes, routes.isEmpty() ? 0 : -(turn % routes.size()));
        routes.addAll(all.others);
        return routes;
    }

    private synchronized Found found(Nodes now, Node peer) {
        if (now != then || found.size() >= MAX_TABLES) {
            found.clear();
            then = now;
        }
        return found.computeIfAbsent(
                peer,
                _ -> CableMap.of(now, peer)
                        .map(map -> find(map, now.own(), peer))
                        .orElse(NOTHING));
    }

    private Found find(CableMap map, Node here, Node peer) {
        RouteTable table = table(map.map());
        Set<InetAddress> there = addresses(peer);
        List<Route> routes = units(table, map).stream()
                .filter(route -> there.contains(route.remote()))
                .toList();
        List<Route> others = new ArrayList<>();
        for (InetAddress own : addresses(here)) {
            if (Stream.concat(routes.stream(), others.stream())
                    .noneMatch(route -> route.local().equals(own))) {
                between(table, map, Set.of(own), there).forEach(others::add);
            }
        }
        for (InetAddress end : there) {
            if (Stream.concat(routes.stream(), others.stream())
                    .noneMatch(route -> route.remote().equals(end))) {
                between(table, map, addresses(here), Set.of(end)).forEach(others::add);
            }
        }
        return new Found(routes, others);
    }

    /** The routes between two addresses: those of the table; where it has none, the best one. */
    public List<Route> between(InetAddress local, Node peer, InetAddress remote) {
        Optional<CableMap> known = CableMap.of(nodes.get(), peer);
        if (known.isEmpty()) {
            return List.of();
        }
        CableMap map = known.get();
        RouteTable table = table(map.map());
        List<Route> found = units(table, map).stream()
                .filter(route -> route.local().equals(local) && route.remote().equals(remote))
                .distinct()
                .toList();
        return found.isEmpty()
                ? between(table, map, Set.of(local), Set.of(remote)).toList()
                : found;
    }

    private static List<Route> units(RouteTable table, CableMap map) {
        return table.units(map.own(), map.peer()).stream().flatMap(map::route).toList();
    }

    /** The best route that begins and ends at one of these addresses. */
    private static Stream<Route> between(
            RouteTable table, CableMap map, Set<InetAddress> locals, Set<InetAddress> remotes) {
        BitSet without = map.direct();
        without.or(map.besides(map.own(), locals));
        without.or(map.besides(map.peer(), remotes));
        return table.without(map.own(), map.peer(), without).stream().flatMap(map::route);
    }

    private static Set<InetAddress> addresses(Node node) {
        return node.links().stream()
                .map(link -> link.address().address())
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }
}
