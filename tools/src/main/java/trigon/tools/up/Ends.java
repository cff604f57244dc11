package trigon.tools.up;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import trigon.cluster.diagnosis.Cluster;
import trigon.cluster.facts.NodeFacts;
import trigon.cluster.machine.Nic;
import trigon.cluster.probe.Observations;
import trigon.system.InterfaceAddress;

/**
 * The interfaces of all nodes, by what they are for. Pure.
 *
 * @param all by node and name, such as {@code a eth1}
 */
record Ends(Map<String, End> all) {

    /** Use of an interface. The first whose evidence there is. */
    enum Use {
        /** Leads to the rest of the network: never changed. */
        MANAGEMENT,
        /** Hears one other end. */
        CABLE,
        /** Hears several, or knows strangers: keeps its addresses. */
        SWITCH,
        /** Hears nobody. */
        NOWHERE
    }

    /**
     * An interface.
     *
     * @param login true if it carries the login, so that its address stays
     * @param why evidence in words
     */
    record End(Use use, boolean login, String why) {}

    /** The driver of the network over USB4, whose software links need no address but the kernel's. */
    private static final String USB4 = "thunderbolt-net";

    /** Of nodes that have examined each other. */
    static Ends of(Observations seen, Map<String, Survey> surveys) {
        Cluster cluster = new Cluster(seen);
        Set<String> own = new TreeSet<>();
        seen.facts().values().forEach(node -> node.interfaces().forEach(nic -> own.add(nic.mac())));
        Map<String, End> all = new LinkedHashMap<>();
        seen.facts().forEach((node, facts) -> {
            Survey survey = surveys.getOrDefault(node, Survey.read(""));
            for (Nic nic : facts.interfaces()) {
                Optional.ofNullable(survey.nics().get(nic.name()))
                        .filter(link -> !link.use().equals("virtual") && !nic.isTunnel() && !facts.isInner(nic.name()))
                        .ifPresent(_ -> all.put(
                                node + " " + nic.name(),
                                end(node + " " + nic.name(), nic, facts, survey, cluster, own)));
            }
        });
        return new Ends(all);
    }

    private static End end(
            String end, Nic nic, NodeFacts facts, Survey survey, Cluster cluster, Collection<String> own) {
        boolean login = nic.addresses().stream()
                .anyMatch(each ->
                        facts.networks().loginAddress().equals(Optional.of(InterfaceAddress.text(each.address()))));
        Optional<String> management = management(nic, facts, survey);
        if (management.isPresent()) {
            return new End(Use.MANAGEMENT, login, management.get());
        }
        Set<String> heard = cluster.heardBy(end);
        boolean strangers =
                survey.neighbours().getOrDefault(nic.name(), Set.of()).stream().anyMatch(mac -> !own.contains(mac));
        if (nic.driver().equals(USB4)) {
            return new End(Use.NOWHERE, login, "USB4, which needs no address: its link-local one is used");
        }
        if (heard.isEmpty()) {
            String why = nic.hasCarrier() ? "it hears no other node" : "no cable, or nothing at its other end";
            return new End(strangers ? Use.SWITCH : Use.NOWHERE, login, strangers ? "strangers answer there" : why);
        }
        return cluster.isCable(end) && !strangers
                ? new End(Use.CABLE, login, "it hears " + String.join(", ", heard) + " alone")
                : new End(Use.SWITCH, login, strangers ? "strangers answer there" : "it hears several ends");
    }

    private static Optional<String> management(Nic nic, NodeFacts facts, Survey survey) {
        if (facts.networks().defaultRoutes().contains(nic.name())) {
            return Optional.of("it has the default route");
        }
        if (nic.ownAddresses().stream().anyMatch(each -> survey.leased().contains(each.toString()))) {
            return Optional.of("its address is leased");
        }
        String use = Optional.ofNullable(survey.nics().get(nic.name()))
                .map(Survey.Link::use)
                .orElse("");
        return switch (use) {
            case "wireless" -> Optional.of("it is wireless");
            case "port" -> Optional.of("it is a port of a bridge or a bond");
            default -> nic.kind().equals("bridge") ? Optional.of("it is a bridge") : Optional.empty();
        };
    }

    End of(String node, String nic) {
        return all.getOrDefault(node + " " + nic, new End(Use.NOWHERE, false, "it is not known"));
    }

    /** Those of that use, by node and name. */
    List<String> of(Use use) {
        return all.entrySet().stream()
                .filter(each -> each.getValue().use() == use)
                .map(Map.Entry::getKey)
                .toList();
    }
}
