package trigon.cluster.probe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import trigon.cluster.diagnosis.Diagnosis;
import trigon.cluster.diagnosis.Finding;
import trigon.cluster.diagnosis.Finding.Kind;
import trigon.cluster.diagnosis.Finding.Remedy;
import trigon.cluster.json.Json;
import trigon.cluster.probe.LinkResult.Connection.Usual;
import trigon.system.InterfaceAddress;

/**
 * Does what the doctor says: types the commands of one finding after the other on the nodes, and looks again. After
 * each, that finding must be gone, and no other one be there; no interface may be without an address that had one, a
 * bridge keeps all of its own, and nodes that were joined by a link still are.
 */
final class AppliedRemedies {

    /** Of commands that cannot be tried here, why. */
    private static final Map<String, String> ELSEWHERE = Map.of(
            "clock", "the clock is this machine's",
            "half-duplex", "there is no NIC",
            "speed-differs", "there is no NIC",
            "memlock-low", "a new login would have the limit",
            "open-files-low", "a shell would have the limit",
            "rdma-no-acknowledgement", "the RDMA device is software, without a firewall",
            "rdma-not-up", "the RDMA device is software",
            "rdma-device-refused", "there is no device file",
            "rdma-library", "a package would be installed");

    private static final int MAX = 24;

    private final LinkNamespaces lab;
    private final int nodes;
    private final boolean rate;
    private final Set<String> usual;
    private final Set<String> lost = new TreeSet<>();
    private Optional<Observations> seen = Optional.empty();
    private boolean changed;

    AppliedRemedies(LinkNamespaces lab, int nodes, boolean rate, Set<String> usual) {
        this.lab = lab;
        this.nodes = nodes;
        this.rate = rate;
        this.usual = usual;
    }

    /** What the doctor finds now, but for the usual. */
    List<Finding> examine() {
        Observations now = PlantedFault.examined(lab, nodes, rate);
        seen = Optional.of(now);
        return Diagnosis.of(now).stream()
                .filter(finding -> !usual.contains(finding.code()))
                .toList();
    }

    /** Until no finding is left that has commands, and returns what is. */
    List<Finding> apply() throws IOException {
        List<Finding> findings = Diagnosis.of(seen.orElseThrow()).stream()
                .filter(finding -> !usual.contains(finding.code()))
                .toList();
        for (int i = 0; i < MAX; i++) {
            Optional<Finding> next = findings.stream()
                    .filter(finding -> !commands(finding).isEmpty())
                    .findFirst();
            if (next.isEmpty()) {
                return findings;
            }
            findings = applied(next.get(), findings);
        }
        throw new AssertionError("after the commands of " + MAX + " findings there still are " + findings);
    }

    boolean haveChangedSomething() {
        return changed;
    }

    /** Addresses that commands have taken away, each with its interface. */
    Set<String> lost() {
        return lost;
    }

    private static List<Remedy> commands(Finding finding) {
        return ELSEWHERE.containsKey(finding.code())
                ? List.of()
                : finding.remedies().stream()
                        .filter(remedy -> remedy.kind() == Kind.CHANGE)
                        .toList();
    }

    private List<Finding> applied(Finding finding, List<Finding> before) throws IOException {
        Observations then = seen.orElseThrow();
        changed = true;
        for (Remedy command : commands(finding)) {
            type(command);
        }
        lab.awaitCables();
        List<Finding> after = examine();
        String what = "after %s of %s: %s".formatted(commands(finding), finding, after);
        assertThat(after)
                .as(what)
                .noneMatch(each -> isTheSame(each, finding)
                        && each.what().equals(finding.what())
                        && each.evidence().equals(finding.evidence()));
        assertThat(after).as(what).allMatch(each -> before.stream().anyMatch(one -> isTheSame(each, one)));
        compare(then, seen.orElseThrow(), what);
        return after;
    }

    private static boolean isTheSame(Finding one, Finding other) {
        return one.code().equals(other.code()) && one.where().equals(other.where());
    }

    private void type(Remedy command) throws IOException {
        // these would change this machine's own firewall, whatever the namespace
        assumeFalse(command.text().matches("(ufw|firewall-cmd|nft) .*|.* save"), "this machine has a firewall");
        if (command.text().startsWith("unset ")) {
            NodeConnection node = lab.nodes().stream()
                    .filter(each -> each.name().equals(command.node()))
                    .findFirst()
                    .orElseThrow();
            var _ = node.ask(Json.object("do", "unset", "name", command.text().substring("unset ".length())));
            return;
        }
        var _ = Command.run(List.of("ip", "netns", "exec", command.node(), "sh", "-ec", command.text()));
    }

    private void compare(Observations then, Observations now, String what) {
        Map<String, Set<String>> had = addresses(then);
        Map<String, Set<String>> has = addresses(now);
        had.forEach((end, addresses) -> {
            Set<String> kept = has.getOrDefault(end, Set.of());
            assertThat(addresses.isEmpty() || !kept.isEmpty())
                    .as("%s has an address; %s", end, what)
                    .isTrue();
            Set<String> gone = new HashSet<>(addresses);
            gone.removeAll(kept);
            if (bridges(then).contains(end)) {
                assertThat(gone).as("%s is a bridge; %s", end, what).isEmpty();
            }
            gone.forEach(address -> lost.add(end.substring(end.indexOf(' ') + 1) + " " + address));
        });
        assertThat(joined(now)).as(what).containsAll(joined(then));
    }

    private static Map<String, Set<String>> addresses(Observations of) {
        Map<String, Set<String>> addresses = new TreeMap<>();
        of.facts()
                .forEach((node, facts) -> facts.interfaces()
                        .forEach(nic -> addresses.put(
                                node + " " + nic.name(),
                                nic.addresses().stream()
                                        .filter(each -> !each.isLinkLocal())
                                        .map(InterfaceAddress::toString)
                                        .collect(Collectors.toSet()))));
        return addresses;
    }

    private static Set<String> bridges(Observations of) {
        Set<String> bridges = new HashSet<>();
        of.facts()
                .forEach((node, facts) -> facts.interfaces().stream()
                        .filter(nic -> !nic.kind().isEmpty())
                        .map(nic -> node + " " + nic.name())
                        .forEach(bridges::add));
        return bridges;
    }

    /** Pairs of nodes, of which the first reaches the second by a link. */
    private static Set<String> joined(Observations of) {
        List<String> joined = new ArrayList<>();
        for (Observations.Probe probe : of.probes()) {
            if (probe.tcp() == Usual.OK && probe.data() == Usual.RIGHT) {
                joined.add(probe.from() + " " + probe.to());
            }
        }
        return new TreeSet<>(joined);
    }
}
