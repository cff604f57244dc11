package trigon.relay.mesh;

import java.net.InetAddress;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import trigon.routing.PeerLink;
import trigon.system.InterfaceAddress;

/**
 * Has the connections to a node take its routes in turn: of eight over two relays, each relay has four. A connection
 * keeps its number, so that it finds the same route first when it looks again. Thread-safe.
 */
final class Turns {

    /**
     * Bound on the connections whose numbers are remembered, and on the peers; the one asked for longest ago is counted
     * anew.
     */
    private static final int MAX_REMEMBERED = 16_384;

    private record Connection(List<InetAddress> peer, long number) {}

    private final int begin;
    private final Map<Connection, Integer> turns = remembered();
    private final Map<List<InetAddress>, Integer> next = remembered();

    /**
     * No connection has been seen.
     *
     * @param begin where the first connection to each peer begins; other processes of the node begin elsewhere
     */
    Turns(int begin) {
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
}
