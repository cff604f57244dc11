package trigon.cluster.diagnosis;

import static trigon.cluster.diagnosis.Finding.change;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import trigon.cluster.diagnosis.Cluster.Place;
import trigon.cluster.machine.Nic;
import trigon.cluster.probe.Observations;

/** IPv6 that is switched off where a link-local address would be the only one to reach a peer by. Pure. */
final class Ipv6Checks {

    private Ipv6Checks() {}

    /** Text on the interfaces of one subnet that have no link-local address to distinguish them; empty without any. */
    static String withoutSubstitute(Observations seen, List<Place> places) {
        Set<String> off = places.stream()
                .filter(place -> isOff(seen, place.node(), place.name()))
                .map(Place::end)
                .collect(Collectors.toCollection(TreeSet::new));
        return off.isEmpty()
                ? ""
                : "; IPv6 is off on %s, so there are no link-local addresses to use instead"
                        .formatted(String.join(", ", off));
    }

    /**
     * Cables without any address, of nodes that have links and yet cannot reach others.
     *
     * @param others findings of the other checks
     */
    static List<Finding> of(Observations seen, List<Finding> others) {
        Set<String> cutOff = others.stream()
                .filter(finding -> finding.code().equals("no-path"))
                .flatMap(finding -> List.of(finding.where().split("[ ,;]+")).stream())
                .collect(Collectors.toSet());
        List<Finding> findings = new ArrayList<>();
        seen.facts().forEach((node, facts) -> {
            for (Nic nic : facts.interfaces()) {
                if (cutOff.contains(node)
                        && nic.hasCarrier()
                        && nic.addresses().isEmpty()
                        && !facts.networks().innerInterfaces().contains(nic.name())
                        && isOff(seen, node, nic.name())) {
                    findings.add(Finding.error(
                            "ipv6-off",
                            node + " " + nic.name(),
                            "%s has no address, and IPv6 is off there: not even a link-local address can be used"
                                    .formatted(nic.name()),
                            "net.ipv6.conf." + slashed(nic.name()) + ".disable_ipv6 is 1",
                            change(node, "sysctl -w net.ipv6.conf." + slashed(nic.name()) + ".disable_ipv6=0")));
                }
            }
        });
        return findings;
    }

    private static boolean isOff(Observations seen, String node, String nic) {
        return seen.node(node).networks().interfacesWithoutIpv6().contains(nic);
    }

    /** As sysctl takes a VLAN's name: a dot would begin the next part. */
    static String slashed(String name) {
        return name.replace('.', '/');
    }
}
