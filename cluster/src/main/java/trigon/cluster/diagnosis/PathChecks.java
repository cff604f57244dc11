package trigon.cluster.diagnosis;

import static trigon.cluster.diagnosis.Finding.advice;
import static trigon.cluster.diagnosis.Finding.look;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiPredicate;
import trigon.cluster.facts.LinkFacts.Link;
import trigon.cluster.facts.NodeFacts;
import trigon.cluster.machine.Nic;
import trigon.cluster.probe.Observations;
import trigon.cluster.probe.Observations.Probe;

/**
 * Checks of what must not be passed over, whatever the others have found: links that fail, and pairs of nodes that
 * nothing joins. Nodes of which an error is known already have that as the reason. Pure.
 */
final class PathChecks {

    private final Observations seen;
    private final List<Finding> findings = new ArrayList<>();

    /** Findings about links: each is as bad as what it does to jobs. */
    private static final Set<String> OF_LINKS = Set.of(
            "address-at-wrong-port",
            "address-missing",
            "all-blocked",
            "cable-elsewhere",
            "interface-down",
            "interfaces-in-one-subnet",
            "link-fails",
            "no-answer",
            "no-carrier",
            "no-common-subnet",
            "no-neighbour",
            "prefix-differs",
            "reverse-path-filter",
            "route-elsewhere",
            "subnets-overlap",
            "tcp-blocked",
            "tcp-refused",
            "twins-in-one-subnet");

    /** Words of where the errors are. */
    private final Set<String> troubled = new HashSet<>();

    /** Nodes with an interface in the subnet of an error about several of a node's interfaces in one. */
    private final Set<String> sharing = new HashSet<>();

    private final Set<String> misled;

    private PathChecks(Observations seen, List<Finding> others, Set<String> misled) {
        this.seen = seen;
        this.misled = misled;
        others.stream()
                .filter(finding -> finding.weight() == Finding.Weight.ERROR)
                .forEach(finding -> troubled.addAll(List.of(finding.where().split("[ ,;]+"))));
        if (others.stream().anyMatch(finding -> finding.code().equals("interfaces-in-one-subnet"))) {
            seen.facts().forEach((node, facts) -> {
                if (facts.links().stream().anyMatch(this::isMisled)) {
                    sharing.add(node);
                }
            });
        }
    }

    /**
     * All of them.
     *
     * @param others findings of the other checks
     * @param misled addresses whose trouble is explained by one of them
     */
    static List<Finding> of(Observations seen, List<Finding> others, Set<String> misled) {
        PathChecks checks = new PathChecks(seen, others, misled);
        checks.links();
        checks.pairs();
        return checks.findings;
    }

    private boolean isMisled(Link link) {
        return misled.contains(link.host());
    }

    private boolean isExplained(String one, String other) {
        return sharing.containsAll(Set.of(one, other)) || troubled.contains(one) || troubled.contains(other);
    }

    /**
     * With findings about links as warnings while all nodes reach each other all the same: then jobs run, more slowly,
     * or not over what they were meant to. Of a node alone, while it has a link that is up.
     */
    static List<Finding> weighed(Observations seen, List<Finding> findings) {
        PathChecks checks = new PathChecks(seen, List.of(), Set.of());
        boolean runs = seen.facts().size() == 1
                ? seen.facts().values().stream().allMatch(PathChecks::hasLinkThatIsUp)
                : checks.areAllJoined();
        return findings.stream()
                .map(finding -> runs && OF_LINKS.contains(finding.code()) ? finding.asWarning() : finding)
                .toList();
    }

    private static boolean hasLinkThatIsUp(NodeFacts facts) {
        return facts.links().stream()
                .flatMap(link -> facts.interfaceNamed(link.nic()).stream())
                .anyMatch(nic -> !nic.lacksCarrier() && !nic.isDown());
    }

    private boolean areAllJoined() {
        return seen.facts().keySet().stream().allMatch(one -> {
            Map<String, Integer> links = linksTo(one, this::areJoined);
            return seen.facts().keySet().stream()
                    .filter(other -> one.compareTo(other) < 0)
                    .allMatch(links::containsKey);
        });
    }

    private void links() {
        for (Probe probe : seen.probes()) {
            String from = probe.fromAddress();
            String to = probe.toAddress();
            boolean explained = isExplained(probe.from(), probe.to())
                    || (!troubled.isEmpty() && (misled.contains(from) || misled.contains(to)));
            if (!probe.works() && !explained) {
                findings.add(Finding.error(
                        "link-fails",
                        probe.where(),
                        "this link does not work, for an unknown reason",
                        "TCP: %s; data: %s".formatted(probe.tcp(), probe.data()),
                        look(probe.from(), "ping -c 3 -I " + from + " " + to)));
            }
        }
    }

    private void pairs() {
        List<String> withoutAddresses = new ArrayList<>();
        List<String> withoutCable = new ArrayList<>();
        for (String one : seen.facts().keySet()) {
            Map<String, Integer> tested = linksTo(one, this::works);
            Map<String, Integer> all = linksTo(one, this::areJoined);
            for (String other : seen.facts().keySet()) {
                if (one.compareTo(other) >= 0) {
                    continue;
                }
                if (tested.containsKey(other)) {
                    overlay(one, other);
                    continue;
                }
                if (isExplained(one, other)) {
                    if (isWithoutCable(one, other)) {
                        withoutCable.add(one + " and " + other);
                    }
                    continue;
                }
                if (isCabledWithoutAddresses(one, other)) {
                    withoutAddresses.add(one + " and " + other);
                } else if (!all.containsKey(other)) {
                    findings.add(Finding.error(
                            "no-path",
                            one + " and " + other,
                            "no link, relay or route joins these two: jobs that use both fail",
                            "they share no working subnet, no chain of links joins them, and no answer came over"
                                    + " the kernel's routes",
                            advice("all", "plug in a cable, or assign addresses to the cables with trigon plan")));
                }
            }
        }
        if (!withoutCable.isEmpty()) {
            findings.add(Finding.note(
                    "no-cable",
                    String.join(", ", withoutCable),
                    "no cable joins these: relays on the nodes between them pass on what they send each other",
                    "neither received the other's multicast, though both received others'"));
        }
        if (!withoutAddresses.isEmpty()) {
            boolean routed = seen.facts().values().stream().allMatch(PathChecks::hasAddressOfItsOwn);
            findings.add(new Finding(
                    routed ? Finding.Weight.NOTE : Finding.Weight.WARNING,
                    "no-addresses",
                    String.join(", ", withoutAddresses),
                    "cables without addresses: jobs use IPv6 link-local addresses, over TCP; these were not tested",
                    "one received the other's multicast",
                    List.of(advice(
                            "all",
                            "give each cable a subnet: trigon doctor --cables cables.yaml writes the cables to a"
                                    + " file, from which trigon plan cables.yaml assigns addresses"))));
        }
    }

    /** A routing protocol reaches the node by an address on its loopback, and needs none on cables. */
    private static boolean hasAddressOfItsOwn(NodeFacts facts) {
        return facts.interfaceNamed("lo")
                .filter(lo -> !lo.ownAddresses().isEmpty())
                .isPresent();
    }

    private void overlay(String one, String other) {
        Set<String> tunnels = new TreeSet<>();
        List<Probe> between = seen.probes().stream()
                .filter(probe ->
                        probe.works() && Set.of(probe.from(), probe.to()).equals(Set.of(one, other)))
                .toList();
        boolean onlyTunnels = between.stream().allMatch(probe -> {
            Optional<Nic> nic = seen.nicOf(probe);
            nic.ifPresent(found -> tunnels.add(probe.from() + "'s " + found.name()));
            return nic.filter(Nic::isTunnel).isPresent();
        });
        if (onlyTunnels && !between.isEmpty()) {
            findings.add(Finding.note(
                    "overlay-path",
                    one + " and " + other,
                    "only an overlay joins these two, by %s: jobs run at its speed, over TCP"
                            .formatted(String.join(" and ", tunnels)),
                    "these interfaces are tunnels, and no other link works",
                    advice("all", "plug in a cable between these nodes for more speed")));
        }
    }

    /** The number of links to each node that one is joined to, directly or by relays. */
    private Map<String, Integer> linksTo(String node, BiPredicate<String, String> direct) {
        Map<String, Integer> links = new TreeMap<>(Map.of(node, 0));
        Deque<String> left = new ArrayDeque<>(Set.of(node));
        while (!left.isEmpty()) {
            String from = left.remove();
            int next = links.getOrDefault(from, 0) + 1;
            if (next == 1 || (relays(node) && relays(from))) {
                seen.facts().keySet().stream()
                        .filter(to -> direct.test(from, to) && direct.test(to, from) && (next == 1 || relays(to)))
                        .filter(to -> links.putIfAbsent(to, next) == null)
                        .forEach(left::add);
            }
        }
        return links;
    }

    /** By a link that works, or by a cable whose link-local addresses jobs use. */
    private boolean areJoined(String from, String to) {
        return works(from, to) || isCabledWithoutAddresses(from, to);
    }

    private boolean works(String from, String to) {
        return seen.probes().stream()
                .anyMatch(probe -> probe.from().equals(from) && probe.to().equals(to) && probe.works());
    }

    private boolean relays(String node) {
        return !seen.node(node).plugin().has("relay", "off");
    }

    /** Known only where link-local addresses distinguish cables of one subnet, and each node has heard somebody. */
    private boolean isWithoutCable(String one, String other) {
        return sharing.contains(one)
                && sharing.contains(other)
                && seen.heard().stream().anyMatch(each -> each.by().equals(one))
                && seen.heard().stream().anyMatch(each -> each.by().equals(other))
                && seen.heard().stream()
                        .noneMatch(each -> Set.of(each.by(), each.node()).equals(Set.of(one, other)));
    }

    private boolean isCabledWithoutAddresses(String one, String other) {
        return seen.heard().stream()
                .filter(each -> (each.by().equals(one) && each.node().equals(other))
                        || (each.by().equals(other) && each.node().equals(one)))
                .anyMatch(each -> hasOnlyLinkLocal(each.by(), each.on()) && hasOnlyLinkLocal(each.node(), each.from()));
    }

    private boolean hasOnlyLinkLocal(String node, String nic) {
        List<Link> links = seen.node(node).links().stream()
                .filter(link -> link.nic().equals(nic))
                .toList();
        return !links.isEmpty()
                && links.stream().allMatch(link -> link.address().isLinkLocal());
    }
}
