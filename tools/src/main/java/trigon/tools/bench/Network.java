package trigon.tools.bench;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import trigon.cluster.json.Json;
import trigon.cluster.json.JsonObject;
import trigon.routing.LinkUse;
import trigon.routing.LocalLink;
import trigon.system.InterfaceAddress;

/**
 * A network that carried a measurement, as one end sees it.
 *
 * @param node the end; empty for this machine
 * @param link its link's RDMA device or interface
 * @param interfaceName the same for a TCP link
 * @param subnet of the link's address
 * @param carrier {@code RDMA} or {@code TCP}
 * @param bootstrap its interface is NCCL's bootstrap's, or the one to which the nodes' names lead
 * @param relays the relays and what carries their hops; empty without relays
 */
record Network(
        Optional<String> node,
        String link,
        String interfaceName,
        String subnet,
        String carrier,
        boolean bootstrap,
        Optional<String> relays) {

    private static final Pattern VIA =
            Pattern.compile("(?:via|goes on over|returns to) ((\\S+) (\\S+/\\d+) \\((TCP|RDMA)\\))"
                    + "(?:,?(?: [^:\\]]*,)? relayed by ([^:\\]]+? over (?:RDMA and TCP|RDMA|TCP)))?");

    /**
     * Networks of some paths.
     *
     * @param ways the plugin's lines about them
     * @param links of this machine
     * @param shared interfaces to which the nodes' names lead
     */
    static List<Network> of(Collection<String> ways, List<LocalLink> links, Set<String> shared) {
        List<Network> networks = new ArrayList<>();
        for (String way : ways) {
            Matcher via = VIA.matcher(way);
            while (via.find()) {
                String name = via.group(1);
                Optional<LocalLink> link = links.stream()
                        .filter(each -> each.toString().equals(name))
                        .findFirst();
                String on = link.map(LocalLink::interfaceName).orElse(via.group(2));
                networks.add(new Network(
                        Optional.empty(),
                        via.group(2),
                        on,
                        subnet(via.group(3)),
                        via.group(4),
                        shared.contains(on)
                                || link.filter(each -> each.use() == LinkUse.BOOTSTRAP)
                                        .isPresent(),
                        Optional.ofNullable(via.group(5))));
            }
        }
        return networks.stream().distinct().toList();
    }

    /** Names of links in these lines, as {@link LocalLink#toString} has them. */
    static List<String> links(Collection<String> ways) {
        return ways.stream()
                .flatMap(way -> VIA.matcher(way).results())
                .map(via -> via.group(1))
                .distinct()
                .toList();
    }

    /** Reads that of another node, as {@link #json} has it there. */
    static Network of(String node, JsonObject json) {
        return new Network(
                Optional.of(node),
                json.text("link"),
                json.text("interface"),
                json.text("subnet"),
                json.text("carrier"),
                json.isTrue("bootstrap"),
                json.find("relays"));
    }

    private static String subnet(String address) {
        try {
            return InterfaceAddress.parse(address).subnet();
        } catch (IllegalArgumentException _) {
            return address;
        }
    }

    Map<String, Object> json() {
        return Json.object(
                "node", node,
                "link", link,
                "interface", interfaceName,
                "subnet", subnet,
                "carrier", carrier,
                "bootstrap", bootstrap,
                "relays", relays);
    }

    /** For example {@code rocep1s0 (eth1) 10.0.12.0/24 RDMA} or {@code eth0 10.1.0.0/16 TCP, bootstrap}. */
    @Override
    public String toString() {
        return node.map(name -> name + ": ").orElse("") + link
                + (link.equals(interfaceName) ? "" : " (" + interfaceName + ")") + " " + subnet + " " + carrier
                + relays.map(over -> ", relayed by " + over).orElse("") + (bootstrap ? ", bootstrap" : "");
    }
}
