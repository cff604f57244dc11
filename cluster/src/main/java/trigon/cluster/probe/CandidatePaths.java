package trigon.cluster.probe;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;
import trigon.cluster.facts.NodeFacts;
import trigon.cluster.json.Json;
import trigon.cluster.json.JsonObject;
import trigon.cluster.machine.MachineLinks;
import trigon.config.cluster.ClusterConfig;
import trigon.routing.KernelRouteLookup;
import trigon.routing.Path;
import trigon.routing.PeerDescription;
import trigon.routing.PeerLink;
import trigon.routing.Reason;
import trigon.routing.table.NoPathException;
import trigon.routing.table.RoutingTable;
import trigon.system.InterfaceAddress;
import trigon.verbs.LinkKind;

/** The paths that the plugin would try from this node to another one, by the plugin's own routing table. */
final class CandidatePaths {

    private CandidatePaths() {}

    /**
     * The question for a node.
     *
     * @param peer the other node
     * @param opened addresses of that node that are listened on, with their ports
     */
    static Map<String, Object> question(NodeFacts peer, List<JsonObject> opened) {
        Map<String, Set<LinkKind>> kinds = new TreeMap<>();
        peer.links()
                .forEach(link -> kinds.computeIfAbsent(link.address().toString(), _ -> EnumSet.noneOf(LinkKind.class))
                        .add(link.isRdma() ? LinkKind.RDMA : LinkKind.SOFTWARE));
        List<Map<String, Object>> links = new ArrayList<>();
        kinds.forEach((address, served) -> opened.stream()
                .filter(each -> each.find("error").isEmpty() && address.startsWith(each.text("address") + "/"))
                .map(each -> Json.object("address", address, "tcp", each.whole("tcp"), "kinds", names(served)))
                .forEach(links::add));
        return Json.object("do", "paths", "node", peer.plugin().clusterNode().orElse(""), "links", links);
    }

    private static List<String> names(Set<LinkKind> kinds) {
        return kinds.stream().map(LinkKind::name).toList();
    }

    /** The answer to it: both ends of each path, and whether only the kernel's routes lead there. */
    static List<Map<String, Object>> of(MachineLinks own, JsonObject question) {
        List<PeerLink> links = question.objects("links").stream()
                .map(link -> {
                    InterfaceAddress address = InterfaceAddress.parse(link.text("address"));
                    Set<LinkKind> kinds = EnumSet.noneOf(LinkKind.class);
                    link.texts("kinds").forEach(kind -> kinds.add(LinkKind.valueOf(kind)));
                    return new PeerLink(address.address(), address.prefixLength(), (int) link.whole("tcp"), kinds);
                })
                .toList();
        RoutingTable table = RoutingTable.of(own.config(), own.discovered(), new KernelRouteLookup());
        try {
            return table.pathsTo(new PeerDescription(indexOf(question.text("node"), own), links)).stream()
                    .filter(path -> !path.local()
                            .address()
                            .address()
                            .equals(path.remote().address()))
                    .map(CandidatePaths::described)
                    .distinct()
                    .toList();
        } catch (NoPathException _) {
            return List.of();
        }
    }

    private static OptionalInt indexOf(String node, MachineLinks own) {
        List<String> names = own.config().cluster().map(ClusterConfig::nodes).orElse(List.of()).stream()
                .map(each -> each.name())
                .toList();
        return IntStream.range(0, names.size())
                .filter(index -> names.get(index).equals(node))
                .findFirst();
    }

    private static Map<String, Object> described(Path path) {
        return Json.object(
                "from", InterfaceAddress.text(path.local().address().address()),
                "to", InterfaceAddress.text(path.remote().address()),
                "routed", isRouted(path.reason()));
    }

    private static boolean isRouted(Reason reason) {
        return switch (reason) {
            case Reason.KernelRoute _ -> true;
            case Reason.Prescribed prescribed -> isRouted(prescribed.because());
            case Reason.SameSubnet _, Reason.LinkLocal _, Reason.Relayed _ -> false;
        };
    }
}
