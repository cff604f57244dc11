package trigon.cluster.diagnosis;

import static trigon.cluster.diagnosis.Finding.advice;
import static trigon.cluster.diagnosis.Finding.look;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import trigon.cluster.facts.NodeFacts;
import trigon.cluster.machine.Nic;
import trigon.cluster.machine.RdmaPort;
import trigon.cluster.probe.Observations;
import trigon.cluster.rdma.Transfer;

/** Checks of counters that have moved during the test: of errors, of packets sent again, and of pauses. Pure. */
final class CounterChecks {

    private final String node;
    private final NodeFacts facts;
    private final List<Finding> findings = new ArrayList<>();

    private CounterChecks(String node, NodeFacts facts) {
        this.node = node;
        this.facts = facts;
    }

    static List<Finding> of(Observations seen) {
        List<Finding> findings = new ArrayList<>();
        seen.facts().forEach((node, facts) -> {
            CounterChecks checks = new CounterChecks(node, facts);
            // what is not acknowledged is sent again, too, and has a finding of its own
            boolean known = seen.probes().stream()
                    .filter(probe -> probe.from().equals(node) || probe.to().equals(node))
                    .flatMap(probe -> probe.result().rdma().stream())
                    .anyMatch(Transfer.NoAcknowledgement.class::isInstance);
            checks.ports(known);
            checks.interfaces();
            findings.addAll(checks.findings);
        });
        return findings;
    }

    private void ports(boolean sendingAgainIsKnown) {
        for (RdmaPort port : facts.rdmaPorts()) {
            String label = port.label();
            facts.rdmaPortsAfter().stream()
                    .filter(after ->
                            after.device().equals(port.device()) && after.port() == port.port() && isUsed(port))
                    .forEach(after -> {
                        congested(label, port.counters(), after.counters(), port.interfaces());
                        List<String> again = moved(port.counters(), after.counters(), RdmaPort.SENT_AGAIN::contains);
                        if (!again.isEmpty() && !sendingAgainIsKnown) {
                            findings.add(Finding.warning(
                                    "rdma-sent-again",
                                    node + " " + label,
                                    "RDMA packets were lost or reordered during the test",
                                    "counters increased: " + String.join(", ", again),
                                    look(
                                            node,
                                            "grep . /sys/class/infiniband/" + port.device() + "/ports/" + port.port()
                                                    + "/hw_counters/*"),
                                    advice(
                                            node,
                                            "clean or replace the cable; through a switch, RoCE needs flow control"
                                                    + " (PFC) for its priority, the same everywhere")));
                        }
                    });
        }
    }

    private void interfaces() {
        for (Nic nic : facts.interfaces()) {
            facts.interfacesAfter().stream()
                    .filter(after -> after.name().equals(nic.name()))
                    .forEach(after -> {
                        congested(nic.name(), nic.counters(), after.counters(), List.of(nic.name()));
                        damaged(nic, after);
                    });
        }
    }

    private void damaged(Nic nic, Nic after) {
        List<String> moved = moved(
                nic.counters(),
                after.counters(),
                counter -> counter.endsWith("errors") || counter.equals("collisions"));
        boolean isUsed = facts.links().stream().anyMatch(link -> link.nic().equals(nic.name()));
        if (isUsed && !moved.isEmpty() && !facts.networks().innerInterfaces().contains(nic.name())) {
            findings.add(Finding.warning(
                    "errors-counted",
                    node + " " + nic.name(),
                    "packets were damaged or lost at " + nic.name() + " during the test",
                    "counters increased: " + String.join(", ", moved),
                    advice(node, "clean or replace the cable; see ethtool -S " + nic.name())));
        }
    }

    private void congested(String label, Map<String, Long> before, Map<String, Long> after, List<String> interfaces) {
        List<String> moved = moved(before, after, RdmaPort::isOfCongestion);
        if (!moved.isEmpty()) {
            String name = interfaces.isEmpty() ? label : interfaces.getFirst();
            findings.add(Finding.note(
                    "congestion",
                    node + " " + label,
                    "the network sent pause frames during the test: the links are in use, or slower further on",
                    "counters increased: " + String.join(", ", moved),
                    look(node, "ethtool -I -a " + name + "; ethtool -S " + name + " | grep -i pause"),
                    advice(node, "repeat the test when no job runs")));
        }
    }

    private boolean isUsed(RdmaPort port) {
        return facts.links().stream()
                .anyMatch(link ->
                        link.device().equals(port.device()) || port.interfaces().contains(link.nic()));
    }

    private static List<String> moved(Map<String, Long> before, Map<String, Long> after, Predicate<String> which) {
        List<String> moved = new ArrayList<>();
        new TreeMap<>(before).forEach((counter, count) -> {
            long more = after.getOrDefault(counter, 0L) - count;
            if (more > 0 && which.test(counter)) {
                moved.add(counter + " by " + more);
            }
        });
        return moved;
    }
}
