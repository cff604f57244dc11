package trigon.tools.up;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import trigon.cluster.facts.NodeFacts;
import trigon.cluster.probe.Observations;

/**
 * The name of a node that leads to its loopback, as Debian writes it into {@code /etc/hosts}. Gloo tells others to
 * connect to what a name leads to.
 *
 * @param name of the node
 * @param loopback address that it has
 * @param address that it is to have
 */
record OwnName(String name, String loopback, String address) {

    private static final String NAME = "[A-Za-z0-9][A-Za-z0-9.-]{0,254}";
    private static final String ADDRESS = "[0-9a-f.:]{2,39}";

    /** Those of all nodes that have one, by node. */
    static Map<String, OwnName> of(Observations seen, SharedNetwork shared) {
        Map<String, OwnName> names = new LinkedHashMap<>();
        seen.facts()
                .forEach((node, facts) ->
                        of(facts, shared.addresses().getOrDefault(node, "")).ifPresent(name -> names.put(node, name)));
        return names;
    }

    private static Optional<OwnName> of(NodeFacts facts, String address) {
        return facts.networks()
                .loopbackName()
                .filter(loopback -> loopback.matches(ADDRESS) && facts.host().matches(NAME) && address.matches(ADDRESS))
                .map(loopback -> new OwnName(facts.host(), loopback, address));
    }

    /** The step that changes it. */
    String script() {
        return "sed '/[[:space:]]%s\\([[:space:]]\\|$\\)/s/^%s\\([[:space:]]\\)/%s\\1/' /etc/hosts"
                        .formatted(name.replace(".", "\\."), loopback.replace(".", "\\."), address)
                + " | put \"$(stat -c %a /etc/hosts)\" root /etc/hosts\n";
    }

    /** The change, in words. */
    String text() {
        return "%s leads to %s instead of %s in /etc/hosts".formatted(name, address, loopback);
    }
}
