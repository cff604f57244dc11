package trigon.relay.mesh;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import trigon.circuit.CircuitKeys;
import trigon.circuit.CircuitRequest;
import trigon.circuit.Detours;
import trigon.routing.Bandwidth;
import trigon.routing.LocalLink;
import trigon.routing.Path;
import trigon.routing.PeerLink;
import trigon.routing.Reason;
import trigon.routing.RouteLookup;
import trigon.system.InterfaceAddress;
import trigon.topology.Node;
import trigon.topology.Nodes;
import trigon.topology.Route;
import trigon.topology.Routes;
import trigon.topology.Shape;
import trigon.verbs.LinkKind;

/** Ways through relays, for connections to come, and for the TCP connections that they are made of. Any thread. */
final class Ways implements Detours {

    /** That a message has in a row. */
    private static final int MOST_NAMES = 16;

    private record Way(PeerLink remote, Route route) {}

    private final List<LocalLink> links;
    private final RouteLookup kernel;
    private final CircuitKeys keys;
    private final Supplier<Nodes> nodes;

    Ways(List<LocalLink> links, RouteLookup kernel, CircuitKeys keys, Supplier<Nodes> nodes) {
        this.links = List.copyOf(links);
        this.kernel = kernel;
        this.keys = keys;
        this.nodes = nodes;
    }

    List<Path> pathsTo(String peer, List<PeerLink> remotes, long tie) {
        Nodes known = nodes.get();
        List<Way> found = new ArrayList<>();
        for (PeerLink remote : remotes) {
            if (remote.kinds().contains(LinkKind.SOFTWARE)) {
                Routes.to(known, remote.address(), tie).forEach(route -> found.add(new Way(remote, route)));
            }
        }
        found.sort(Comparator.comparing(Way::route, Routes.order(tie)));
        List<Path> paths = new ArrayList<>();
        for (Way way : found) {
            link(way.route().local())
                    .ifPresent(local -> paths.add(new Path(
                            peer,
                            local,
                            way.remote(),
                            LinkKind.SOFTWARE,
                            new Reason.Relayed(
                                    way.route().names(),
                                    Bandwidth.ofRelayed(
                                            way.route().speedMbps(),
                                            way.route().relays().size()),
                                    way.route().rdmaHops()))));
        }
        return paths.stream().distinct().toList();
    }

    private Optional<LocalLink> link(InetAddress address) {
        return links.stream()
                .filter(link -> link.address().address().equals(address))
                .findFirst();
    }

    @Override
    public Optional<Detour> from(InetAddress local, InetSocketAddress remote) {
        InetAddress to = remote.getAddress();
        Optional<LocalLink> link = link(local);
        if (link.isEmpty() || link.get().address().contains(to)) {
            return Optional.empty();
        }
        if (kernel.sourceFor(to).filter(local::equals).isPresent()) {
            return Optional.empty();
        }
        return Routes.to(nodes.get(), to, remote.getPort()).stream()
                .filter(route -> route.local().equals(local))
                .findFirst()
                .map(route -> detour(route, remote));
    }

    private Detour detour(Route route, InetSocketAddress end) {
        List<InetSocketAddress> hops = new ArrayList<>(route.relays());
        InetSocketAddress first = hops.removeFirst();
        hops.add(end);
        return new Detour(first, new CircuitRequest(hops), keys);
    }

    String report(List<PeerLink> remotes) {
        Nodes known = nodes.get();
        Optional<Node> peer = remotes.stream()
                .flatMap(remote -> known.at(remote.address()).stream())
                .findFirst();
        StringBuilder text = new StringBuilder("Seen by announcements: " + Shape.describe(known) + ".");
        if (peer.isEmpty()) {
            text.append(" No announcement mentions the peer");
            text.append(known.all().size() == 1 ? ": no announcement arrived (UDP, see topology.port)." : ".");
        } else {
            List<Node> own = part(known, known.own());
            boolean joined = own.contains(peer.get());
            List<String> idle = own.stream()
                    .filter(node -> !node.relays())
                    .map(Node::name)
                    .limit(MOST_NAMES)
                    .toList();
            text.append(
                    joined
                            ? " No way has at most %d relays%s."
                                    .formatted(
                                            Routes.MOST_RELAYS,
                                            idle.isEmpty()
                                                    ? ""
                                                    : ", and these nodes do not relay: " + String.join(", ", idle))
                            : " There is no route from here to the peer.");
        }
        text.append(" A cable would help: from ")
                .append(names(part(known, known.own())))
                .append(" to ")
                .append(peer.map(node -> names(part(known, node))).orElse("the peer"))
                .append(", or a process of the job on a node with links to both.");
        return text.toString();
    }

    private static List<Node> part(Nodes known, Node of) {
        return Shape.parts(known).stream()
                .filter(part -> part.contains(of))
                .findFirst()
                .orElse(List.of(of));
    }

    private static String names(List<Node> nodes) {
        List<String> names = nodes.stream().map(Node::name).distinct().sorted().toList();
        String listed = names.stream().limit(MOST_NAMES).collect(Collectors.joining(" or "));
        return names.size() > MOST_NAMES ? "one of %d nodes, such as %s".formatted(names.size(), listed) : listed;
    }

    /** For the log: from where. */
    @Override
    public String toString() {
        return links.stream()
                .map(link -> InterfaceAddress.text(link.address().address()))
                .collect(Collectors.joining(", "));
    }
}
