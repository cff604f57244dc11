package trigon.cluster.diagnosis;

import static trigon.cluster.diagnosis.Finding.advice;
import static trigon.cluster.diagnosis.Finding.change;
import static trigon.cluster.diagnosis.Finding.look;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import trigon.cluster.diagnosis.Cluster.Place;
import trigon.cluster.facts.NodeFacts;
import trigon.cluster.probe.Observations;
import trigon.cluster.probe.Observations.Clock;
import trigon.cluster.probe.ReachFailure;

/** Checks of the nodes together: who is silent, versions, settings, clocks, kinds of links. Pure. */
final class ClusterChecks {

    private static final long MAX_CLOCK_MILLIS = 2000;

    private final Observations seen;
    private final Cluster cluster;
    private final List<Finding> findings = new ArrayList<>();

    /** Nodes whose RDMA has a finding of its own. */
    private final Set<String> withoutRdma;

    ClusterChecks(Cluster cluster, Set<String> withoutRdma) {
        this.cluster = cluster;
        this.seen = cluster.seen();
        this.withoutRdma = Set.copyOf(withoutRdma);
    }

    List<Finding> find() {
        silent();
        differing(
                NodeFacts::version,
                "version-differs",
                "different versions of Trigon",
                "install the same one on all nodes");
        differing(
                facts -> facts.plugin().clusterFingerprint(),
                "cluster-file-differs",
                "the cluster file is not the same on all nodes",
                "copy one to all nodes; TRIGON_CONFIG names it");
        settings();
        clocks();
        names();
        kinds();
        return findings;
    }

    private void silent() {
        seen.silent()
                .forEach((node, why) -> findings.add(Finding.error(
                        "node-silent",
                        node,
                        node + " cannot be examined",
                        why,
                        look(node, "true"),
                        advice(node, ReachFailure.of(why).remedy(node)))));
    }

    private void differing(Function<NodeFacts, String> value, String code, String what, String remedy) {
        Map<String, List<String>> nodes = new TreeMap<>();
        seen.facts()
                .forEach((node, facts) -> nodes.computeIfAbsent(value.apply(facts), _ -> new ArrayList<>())
                        .add(node));
        if (nodes.size() > 1) {
            findings.add(Finding.error(
                    code,
                    String.join(", ", seen.facts().keySet()),
                    what,
                    nodes.entrySet().stream()
                            .map(each -> String.join(", ", each.getValue()) + ": "
                                    + (each.getKey().isEmpty() ? "none" : each.getKey()))
                            .collect(Collectors.joining("; ")),
                    advice("all", remedy)));
        }
    }

    private void settings() {
        Set<String> names = new TreeSet<>();
        seen.facts()
                .values()
                .forEach(facts -> names.addAll(facts.plugin().values().keySet()));
        for (String name : names) {
            if (!name.startsWith("nodes.") && !name.startsWith("peers.")) {
                differing(
                        facts -> facts.plugin().values().getOrDefault(name, ""),
                        "settings-differ",
                        "the setting " + name + " is not the same on all nodes",
                        "set it in the cluster file");
            }
        }
    }

    private void clocks() {
        for (Clock clock : seen.clocks()) {
            if (Math.abs(clock.aheadMillis()) > MAX_CLOCK_MILLIS + clock.uncertainMillis()) {
                findings.add(Finding.warning(
                        "clock",
                        clock.node(),
                        "the clock of %s is %d s %s"
                                .formatted(
                                        clock.node(),
                                        Math.abs(clock.aheadMillis()) / 1000,
                                        clock.aheadMillis() > 0 ? "ahead" : "behind"),
                        "its clock was compared with this machine's",
                        change(clock.node(), "timedatectl set-ntp true")));
            }
        }
    }

    /** Programs that listen at their host's name listen for this machine alone, and others wait for them. */
    private void names() {
        if (seen.facts().size() < 2) {
            return;
        }
        seen.facts().forEach((node, facts) -> {
            facts.networks()
                    .loopbackName()
                    .ifPresent(loopback -> findings.add(Finding.note(
                            "host-name-loopback",
                            node,
                            "the name %s is %s on this node: what listens there, such as torchrun's master, is not"
                                            .formatted(facts.host(), loopback)
                                    + " reached by others",
                            "/etc/hosts",
                            advice(
                                    node,
                                    "give launchers an address of this node instead of its name, or give the name that"
                                            + " address in /etc/hosts"))));
        });
    }

    /** One end of a link has RDMA and the other has not. */
    private void kinds() {
        Set<String> said = new TreeSet<>();
        for (Place one : cluster.places()) {
            for (Place other : cluster.places()) {
                boolean link = !one.node().equals(other.node())
                        && one.address().contains(other.address().address());
                if (link
                        && isRdma(one)
                        && !isRdma(other)
                        && !withoutRdma.contains(other.node())
                        && said.add(one.text() + other.text())) {
                    findings.add(Finding.warning(
                            "rdma-at-one-end",
                            one.text() + " and " + other.text(),
                            "only the first end has RDMA, so data goes over TCP",
                            "trigon links on both",
                            advice(other.node(), "see the RDMA ports in trigon links there")));
                }
                if (link
                        && speed(one) > 0
                        && speed(other) > 0
                        && speed(one) > speed(other)
                        && said.add("speed " + one.text() + other.text())) {
                    findings.add(Finding.warning(
                            "speed-differs",
                            one.text() + " and " + other.text(),
                            "one end has %d Mbit/s, the other %d".formatted(speed(one), speed(other)),
                            "/sys/class/net/*/speed",
                            change(other.node(), "ethtool -s " + other.nic().name() + " autoneg on")));
                }
            }
        }
    }

    private static int speed(Place place) {
        return place.nic().speedMbps();
    }

    private boolean isRdma(Place place) {
        return seen.node(place.node()).links().stream()
                .anyMatch(link -> link.isRdma() && link.nic().equals(place.name()));
    }
}
