package trigon.tools.probe;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import trigon.system.InterfaceAddress;
import trigon.tools.console.JsonObject;

/**
 * What an examination has found, before anybody thinks about it.
 *
 * @param facts of the nodes that answered, by name
 * @param silent why the others did not, by name
 * @param clocks of the nodes
 * @param heard who heard whom on which interfaces
 * @param probes of links, by direction
 * @param rate whether rates were measured
 */
public record Observations(
        Map<String, JsonObject> facts,
        Map<String, String> silent,
        List<Clock> clocks,
        List<Heard> heard,
        List<Probe> probes,
        boolean rate) {

    /**
     * A node's clock.
     *
     * @param aheadMillis of this machine's
     * @param uncertainMillis by how much that may be wrong
     */
    public record Clock(String node, long aheadMillis, long uncertainMillis) {}

    /** A node has heard another, on an interface of its own, from one of the other's. */
    public record Heard(String by, String on, String node, String from) {}

    /** A link was tried. */
    public record Probe(String from, String to, JsonObject result) {

        /** Whether data arrive as they were sent, by all that the two ends have. */
        public boolean works() {
            return result.text("tcp").equals("ok")
                    && result.text("data").equals("right")
                    && (!hasRdma() || rdma().equals("right"));
        }

        /** Whether a transfer by RDMA was tried, too. */
        public boolean hasRdma() {
            return !rdma().isEmpty() && !rdma().equals("not tried");
        }

        /** How that has ended; empty if there was none. */
        public String rdma() {
            return result.object("rdma").text("outcome");
        }
    }

    public Observations {
        facts = java.util.Collections.unmodifiableMap(new java.util.LinkedHashMap<>(facts));
        silent = Map.copyOf(silent);
        clocks = List.copyOf(clocks);
        heard = List.copyOf(heard);
        probes = List.copyOf(probes);
    }

    /** The interface of a node that has an address. */
    public static Optional<JsonObject> interfaceOf(JsonObject facts, InterfaceAddress address) {
        return facts.objects("interfaces").stream()
                .filter(nic -> nic.texts("addresses").stream()
                        .anyMatch(each -> InterfaceAddress.parse(each).address().equals(address.address())))
                .findFirst();
    }

    /**
     * Whether an interface leads to no other machine, as bridges of containers do, which are links where nothing else
     * is. What a file lists is what it is meant to be.
     */
    public static boolean isInner(JsonObject facts, String name) {
        return facts.find("clusterNode").isEmpty()
                && facts.texts("innerInterfaces").contains(name);
    }

    /** The addresses that somebody, or something, has given an interface, but for the loopback's. */
    public static List<InterfaceAddress> ownAddresses(JsonObject nic) {
        return nic.texts("addresses").stream()
                .map(InterfaceAddress::parse)
                .filter(each -> !each.isLinkLocal() && !each.address().isLoopbackAddress())
                .toList();
    }

    /** A node's interface of that name. */
    public static Optional<JsonObject> interfaceNamed(JsonObject facts, String name) {
        return facts.objects("interfaces").stream()
                .filter(nic -> nic.text("name").equals(name))
                .findFirst();
    }
}
