package trigon.tools.diagnosis;

import static trigon.tools.diagnosis.Finding.advice;
import static trigon.tools.diagnosis.Finding.look;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import trigon.tools.console.JsonObject;
import trigon.tools.machine.RdmaPortFacts;
import trigon.tools.probe.Observations;

/** Counters of RDMA ports, and of pauses, that have moved during the test. Pure. */
final class CounterChecks {

    private final String node;
    private final JsonObject facts;
    private final List<Finding> findings = new ArrayList<>();

    private CounterChecks(String node, JsonObject facts) {
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
                    .anyMatch(probe ->
                            probe.result().object("rdma").text("outcome").equals("no acknowledgement"));
            checks.ports(known);
            checks.interfaces();
            findings.addAll(checks.findings);
        });
        return findings;
    }

    private void ports(boolean sendingAgainIsKnown) {
        for (JsonObject port : facts.objects("rdmaPorts")) {
            String label = port.text("device") + (port.whole("port") > 1 ? ":" + port.whole("port") : "");
            facts.objects("rdmaPortsAfter").stream()
                    .filter(after -> after.text("device").equals(port.text("device"))
                            && after.whole("port") == port.whole("port")
                            && isUsed(port))
                    .forEach(after -> {
                        congested(label, port, after, port.texts("interfaces"));
                        List<String> again = moved(port, after, RdmaPortFacts.SENT_AGAIN::contains);
                        if (!again.isEmpty() && !sendingAgainIsKnown) {
                            findings.add(Finding.warning(
                                    "rdma-sent-again",
                                    node + " " + label,
                                    "RDMA packets were lost or reordered during the test",
                                    "counters increased: " + String.join(", ", again),
                                    look(
                                            node,
                                            "grep . /sys/class/infiniband/" + port.text("device") + "/ports/"
                                                    + port.whole("port") + "/hw_counters/*"),
                                    advice(
                                            node,
                                            "clean or replace the cable; through a switch, RoCE needs flow control"
                                                    + " (PFC) for its priority, the same everywhere")));
                        }
                    });
        }
    }

    private void interfaces() {
        for (JsonObject nic : facts.objects("interfaces")) {
            facts.objects("interfacesAfter").stream()
                    .filter(after -> after.text("name").equals(nic.text("name")))
                    .forEach(after -> congested(nic.text("name"), nic, after, List.of(nic.text("name"))));
        }
    }

    private void congested(String label, JsonObject before, JsonObject after, List<String> interfaces) {
        List<String> moved = moved(before, after, RdmaPortFacts::isOfCongestion);
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

    private boolean isUsed(JsonObject port) {
        return facts.objects("links").stream()
                .anyMatch(link -> link.text("device").equals(port.text("device"))
                        || port.texts("interfaces").contains(link.text("interface")));
    }

    private static List<String> moved(JsonObject before, JsonObject after, Predicate<String> which) {
        List<String> moved = new ArrayList<>();
        before.object("counters").values().keySet().stream()
                .filter(which)
                .sorted()
                .forEach(counter -> {
                    long more = after.object("counters").whole(counter)
                            - before.object("counters").whole(counter);
                    if (more > 0) {
                        moved.add(counter + " by " + more);
                    }
                });
        return moved;
    }
}
