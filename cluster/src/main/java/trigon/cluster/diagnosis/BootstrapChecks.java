package trigon.cluster.diagnosis;

import static trigon.cluster.diagnosis.Finding.advice;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import trigon.cluster.facts.NcclFacts.NcclFile;
import trigon.cluster.facts.NodeFacts;
import trigon.cluster.machine.Nic;
import trigon.cluster.probe.Observations;
import trigon.cluster.probe.Observations.Probe;
import trigon.system.InterfaceAddress;

/** Check of NCCL's bootstrap, which Trigon does not route, for a setting to use a cable to some nodes alone. Pure. */
final class BootstrapChecks {

    private static final String VARIABLE = "NCCL_SOCKET_IFNAME";

    private BootstrapChecks() {}

    static List<Finding> of(Observations seen) {
        List<Finding> findings = new ArrayList<>();
        seen.facts()
                .forEach((node, facts) -> value(facts).ifPresent(value -> {
                    List<Nic> nics = value.startsWith("^")
                            ? List.of()
                            : NcclChecks.bootstrapInterfaces(facts.interfaces(), value);
                    Set<String> others = new TreeSet<>(seen.facts().keySet());
                    others.remove(node);
                    Set<String> reached = new TreeSet<>();
                    for (Nic nic : nics) {
                        reached.addAll(reachedBy(seen, node, nic));
                    }
                    Set<String> missed = new TreeSet<>(others);
                    missed.removeAll(reached);
                    if (!reached.isEmpty() && !missed.isEmpty()) {
                        findings.add(Finding.error(
                                "bootstrap-cable",
                                node,
                                "NCCL's bootstrap is set to use %s, a cable to %s: %s cannot reach this node there"
                                        .formatted(value, String.join(", ", reached), String.join(", ", missed)),
                                VARIABLE + "=" + value + ", and the subnets of "
                                        + nics.stream().map(nic -> nic.name()).collect(Collectors.joining(", ")),
                                advice(node, "name an interface that all nodes share: " + VARIABLE)));
                    }
                }));
        return findings;
    }

    /** The environment's, or else that of NCCL's files. */
    private static Optional<String> value(NodeFacts facts) {
        return Stream.concat(
                        Stream.of(facts.nccl().environment()),
                        facts.nccl().ncclFiles().stream().map(NcclFile::settings))
                .map(settings -> settings.getOrDefault(VARIABLE, ""))
                .filter(value -> !value.isEmpty())
                .findFirst();
    }

    /** The nodes in its subnets, and those with which it has exchanged data along routes. */
    private static Set<String> reachedBy(Observations seen, String node, Nic nic) {
        Set<String> reached = new TreeSet<>();
        for (InterfaceAddress own : nic.ownAddresses()) {
            for (Map.Entry<String, NodeFacts> other : seen.facts().entrySet()) {
                boolean near = other.getValue().interfaces().stream()
                        .flatMap(each -> each.ownAddresses().stream())
                        .anyMatch(each -> own.contains(each.address()) && each.contains(own.address()));
                if (near && !other.getKey().equals(node)) {
                    reached.add(other.getKey());
                }
            }
            String address = InterfaceAddress.text(own.address());
            seen.probes().stream().filter(Probe::works).forEach(probe -> {
                if (probe.from().equals(node) && probe.fromAddress().equals(address)) {
                    reached.add(probe.to());
                }
                if (probe.to().equals(node) && probe.toAddress().equals(address)) {
                    reached.add(probe.from());
                }
            });
        }
        return reached;
    }
}
