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
    public record Probe(String from, String to, JsonObject result) {}

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

    /** A node's interface of that name. */
    public static Optional<JsonObject> interfaceNamed(JsonObject facts, String name) {
        return facts.objects("interfaces").stream()
                .filter(nic -> nic.text("name").equals(name))
                .findFirst();
    }
}
