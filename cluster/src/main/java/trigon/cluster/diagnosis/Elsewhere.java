package trigon.cluster.diagnosis;

import static trigon.cluster.diagnosis.Finding.advice;
import static trigon.cluster.diagnosis.Finding.change;
import static trigon.cluster.diagnosis.Finding.look;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import trigon.cluster.diagnosis.Finding.Remedy;
import trigon.cluster.diagnosis.Finding.Weight;
import trigon.cluster.facts.NodeFacts;
import trigon.cluster.machine.Nic;
import trigon.cluster.probe.LinkResult;
import trigon.cluster.probe.Observations.Probe;
import trigon.system.InterfaceAddress;

/** The finding that the kernel sends packets for a link by another interface. Pure. */
final class Elsewhere {

    private static final Pattern RULE = Pattern.compile("table \\S+, by rule (\\d+)");

    private Elsewhere() {}

    static Finding found(Probe probe, NodeFacts facts) {
        String from = probe.fromAddress();
        String to = probe.toAddress();
        List<Remedy> remedies = new ArrayList<>(List.of(look(
                probe.from(),
                "ip route get " + to + (probe.result().ends().leavesBy().isEmpty() ? "" : " from " + from))));
        remedies.addAll(remedies(probe, facts));
        return new Finding(
                Weight.ERROR,
                "route-elsewhere",
                probe.where(),
                what(probe, facts),
                probe.result().ends().route().isEmpty()
                        ? "from its routing table"
                        : "the kernel's route is in " + probe.result().ends().route(),
                remedies);
    }

    private static String what(Probe probe, NodeFacts facts) {
        String to = probe.toAddress();
        if (!probe.result().ends().leavesBy().isEmpty()) {
            return "the kernel of %s sends to %s from %s through %s, not through %s"
                    .formatted(
                            probe.from(),
                            to,
                            probe.fromAddress(),
                            probe.result().ends().leavesBy(),
                            nic(probe, facts).name());
        }
        return probe.result().ends().source().equals(LinkResult.NO_SOURCE)
                ? "the kernel of " + probe.from() + " has no route to " + to
                : "the kernel of %s sends to %s from %s, through another interface"
                        .formatted(probe.from(), to, probe.result().ends().source());
    }

    private static Nic nic(Probe probe, NodeFacts facts) {
        return facts.interfaceAt(probe.fromAddress()).orElse(Nic.NONE);
    }

    /** A rule that goes before the main table is answered by one before it, for this subnet alone. */
    private static List<Remedy> remedies(Probe probe, NodeFacts facts) {
        String node = probe.from();
        Matcher rule = RULE.matcher(probe.result().ends().route());
        if (!rule.matches()) {
            return List.of(advice(node, "remove the more specific route, or the duplicate address"));
        }
        long preference = Long.parseLong(rule.group(1));
        List<Remedy> remedies = new ArrayList<>();
        nic(probe, facts).ownAddresses().stream()
                .filter(own -> own.contains(InterfaceAddress.parseAddress(probe.toAddress())))
                .findFirst()
                .ifPresent(own -> remedies.add(change(
                        node,
                        "ip %srule add pref %d to %s lookup main"
                                .formatted(
                                        probe.toAddress().contains(":") ? "-6 " : "",
                                        Math.max(1, preference - 1),
                                        own.subnet()))));
        remedies.add(advice(
                node,
                probe.result().ends().leavesBy().startsWith("tailscale")
                        ? "to keep it, do not accept the route: tailscale set --accept-routes=false, or withdraw the"
                                + " subnet route where it is advertised"
                        : "to keep it, have the program behind %s leave this subnet out of %s"
                                .formatted(
                                        probe.result().ends().leavesBy(),
                                        probe.result().ends().route().replaceFirst(",.*", ""))));
        return remedies;
    }
}
