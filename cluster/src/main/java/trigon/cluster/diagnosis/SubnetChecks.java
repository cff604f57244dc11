package trigon.cluster.diagnosis;

import static trigon.cluster.diagnosis.Finding.advice;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import trigon.cluster.diagnosis.Cluster.Place;
import trigon.cluster.diagnosis.Finding.Remedy;
import trigon.cluster.diagnosis.Finding.Weight;
import trigon.cluster.facts.NodeFacts;
import trigon.system.InterfaceAddress;

/** Subnets that the kernel does not tell apart: of a node twice, of two ends unlike, of cables that overlap. Pure. */
final class SubnetChecks {

    private record Conflict(Place one, Place other) {
        boolean has(Object what) {
            return one.equals(what) || other.equals(what);
        }

        Place besides(Place what) {
            return one.equals(what) ? other : one;
        }
    }

    private final Cluster cluster;
    private final Addressing addressing;
    private final List<Finding> findings = new ArrayList<>();

    SubnetChecks(Cluster cluster, Addressing addressing) {
        this.cluster = cluster;
        this.addressing = addressing;
    }

    List<Finding> find() {
        oneSubnet();
        List<Conflict> prefixes = new ArrayList<>();
        List<Conflict> overlaps = new ArrayList<>();
        for (Place one : cluster.places()) {
            for (Place other : cluster.places()) {
                boolean sameNode = one.node().equals(other.node());
                if (one.end().compareTo(other.end()) < 0 && isConflict(one, other)) {
                    cluster.explain(one);
                    cluster.explain(other);
                    boolean apart = sameNode || cluster.areApart(one.end(), other.end());
                    (apart ? overlaps : prefixes).add(new Conflict(one, other));
                }
            }
        }
        overlap(overlaps);
        prefixes.removeIf(each -> isTheFiles(each.one()) || isTheFiles(each.other()));
        prefix(prefixes);
        return findings;
    }

    private boolean isConflict(Place one, Place other) {
        return one.address().prefixLength() != other.address().prefixLength()
                && one.overlaps(other)
                && !one.address().address().equals(other.address().address())
                && !isVirtual(one)
                && !isVirtual(other);
    }

    /** An address of a host, beside one of its interface's subnet: it may move to another machine. */
    private static boolean isVirtual(Place place) {
        int bits = place.address().address().getAddress().length * Byte.SIZE;
        return place.address().prefixLength() == bits
                && place.nic().ownAddresses().stream().anyMatch(other -> other.prefixLength() < bits);
    }

    /** The plugin takes the file's prefix for the interface's: that is a finding of its own. */
    private boolean isTheFiles(Place place) {
        NodeFacts facts = cluster.seen().node(place.node());
        return facts.local().leftOut().stream()
                .anyMatch(each -> each.isSuspect() && each.name().contains(place.host()));
    }

    /** The kernel answers for all of them on one. A finding for each subnet, whatever number of nodes has that. */
    private void oneSubnet() {
        Map<String, List<Place>> subnets = new TreeMap<>();
        cluster.places().stream()
                .filter(place -> !place.address().address().isLoopbackAddress())
                .forEach(place -> subnets.computeIfAbsent(place.address().subnet(), _ -> new ArrayList<>())
                        .add(place));
        subnets.forEach((subnet, places) -> {
            Map<String, Set<String>> several = new TreeMap<>();
            Set<String> mixed = new TreeSet<>();
            places.stream().filter(place -> !place.nic().isDown()).forEach(place -> {
                several.computeIfAbsent(place.node(), _ -> new TreeSet<>()).add(place.name());
                if (!isByItself(place)) {
                    mixed.add(place.node());
                }
            });
            several.entrySet().removeIf(each -> each.getValue().size() < 2 || !mixed.contains(each.getKey()));
            if (!several.isEmpty()) {
                places.forEach(cluster::explain);
                inOneSubnet(subnet, places, several);
            }
        });
    }

    /** Tells whether the kernel sends from this address over its own interface, by rules for each source address. */
    private boolean isByItself(Place place) {
        return cluster.seen()
                .node(place.node())
                .networks()
                .interfacesToNeighbours()
                .getOrDefault(place.address().toString(), "")
                .equals(place.name());
    }

    private void inOneSubnet(String subnet, List<Place> all, Map<String, Set<String>> several) {
        List<Place> places = all.stream()
                .filter(place -> several.getOrDefault(place.node(), Set.of()).contains(place.name()))
                .toList();
        boolean twins = places.stream()
                .allMatch(one -> places.stream()
                        .allMatch(other -> !other.node().equals(one.node())
                                || other.end().equals(one.end())
                                || one.nic().sharesCable(other.nic())));
        findings.add(new Finding(
                Weight.ERROR,
                twins ? "twins-in-one-subnet" : "interfaces-in-one-subnet",
                several.entrySet().stream()
                        .map(node -> node.getKey() + " " + String.join(", ", node.getValue()))
                        .collect(Collectors.joining("; ")),
                "these interfaces of %s are in one subnet, %s%s: the kernel uses one interface for all of them"
                        .formatted(
                                several.size() == 1 ? "a node" : several.size() + " nodes",
                                subnet,
                                twins ? ", and are functions of one port" : ""),
                places.stream().map(Place::text).collect(Collectors.joining(", "))
                        + filters(places)
                        + Ipv6Checks.withoutSubstitute(cluster.seen(), places),
                or(addressing.allButOneLane(all), places)));
    }

    private static List<Remedy> or(Optional<List<Remedy>> commands, List<Place> places) {
        String nodes = places.stream().map(Place::node).distinct().collect(Collectors.joining(", "));
        return Stream.concat(
                        commands.orElse(List.of()).stream(),
                        commands.isPresent()
                                ? Stream.empty()
                                : Stream.of(advice(
                                        nodes,
                                        "give each cable, and each function of a port, a subnet of its own, at"
                                                + " both ends; trigon plan assigns them")))
                .toList();
    }

    private String filters(List<Place> places) {
        boolean strict = places.stream()
                .anyMatch(place -> cluster.seen().node(place.node()).reversePathFilter(place.name()) == 1);
        return strict ? "; their reverse-path filter is strict, and drops packets that arrive on the others" : "";
    }

    /** A finding for each subnet that others are in; that with the most is the one to change. */
    private void overlap(List<Conflict> conflicts) {
        List<Conflict> left = new ArrayList<>(conflicts);
        while (!left.isEmpty()) {
            Map<String, Set<String>> met = new TreeMap<>();
            for (Conflict each : left) {
                String one = each.one().address().subnet();
                String other = each.other().address().subnet();
                met.computeIfAbsent(one, _ -> new TreeSet<>()).add(other);
                met.computeIfAbsent(other, _ -> new TreeSet<>()).add(one);
            }
            String wide = met.keySet().stream()
                    .max(Comparator.comparingInt((String each) ->
                                    met.getOrDefault(each, Set.of()).size())
                            .thenComparingInt(
                                    each -> -InterfaceAddress.parse(each).prefixLength())
                            .thenComparing(Comparator.reverseOrder()))
                    .orElseThrow();
            List<Place> places = cluster.places().stream()
                    .filter(place -> place.address().subnet().equals(wide))
                    .toList();
            findings.add(new Finding(
                    Weight.ERROR,
                    "subnets-overlap",
                    places.stream().map(Place::text).collect(Collectors.joining(" and ")),
                    "this subnet overlaps with those of other cables, %s: nodes mistake others for neighbours"
                            .formatted(String.join(" and ", met.getOrDefault(wide, Set.of()))),
                    "from their addresses, prefixes and cables",
                    or(addressing.allLanes(places), places)));
            left.removeIf(each -> each.one().address().subnet().equals(wide)
                    || each.other().address().subnet().equals(wide));
        }
    }

    /** A finding for each end that differs; that which differs from the most others is the one to change. */
    private void prefix(List<Conflict> conflicts) {
        List<Conflict> left = new ArrayList<>(conflicts);
        while (!left.isEmpty()) {
            List<Conflict> now = List.copyOf(left);
            Place wrong = now.stream()
                    .flatMap(each -> Stream.of(each.other(), each.one()))
                    .max(Comparator.comparingLong((Place place) ->
                                    now.stream().filter(each -> each.has(place)).count())
                            .thenComparing(place -> !place.isFixed())
                            .thenComparing(Place::end))
                    .orElseThrow();
            List<Place> others = now.stream()
                    .filter(each -> each.has(wrong))
                    .map(each -> each.besides(wrong))
                    .distinct()
                    .toList();
            int prefix = others.getFirst().address().prefixLength();
            InterfaceAddress right = new InterfaceAddress(wrong.address().address(), prefix);
            findings.add(Finding.error(
                    "prefix-differs",
                    others.stream().map(Place::text).collect(Collectors.joining(" and ")) + " and " + wrong.text(),
                    "the ends of a link have different prefixes",
                    "each sees different nodes as neighbours",
                    wrong.isFixed()
                            ? advice(wrong.node(), "give all ends the same prefix")
                            : Addressing.replace(wrong, right)));
            left.removeIf(each -> each.has(wrong));
        }
    }

    /** Two nodes with one address: all but one get another. */
    List<Finding> twice() {
        Map<InterfaceAddress, List<Place>> places =
                new TreeMap<>(Comparator.comparing((InterfaceAddress each) -> InterfaceAddress.text(each.address())));
        cluster.places().stream()
                .filter(place -> !place.address().address().isLoopbackAddress())
                .forEach(place -> places.computeIfAbsent(place.address(), _ -> new ArrayList<>())
                        .add(place));
        List<Finding> twice = new ArrayList<>();
        places.values().forEach(all -> {
            Set<String> nodes = new HashSet<>();
            all.forEach(place -> nodes.add(place.node()));
            if (nodes.size() > 1) {
                all.forEach(cluster::explain);
                twice.add(areOfContainers(all) ? containers(all) : sharedAddress(all));
            }
        });
        return twice;
    }

    /** The only way out is by a virtual interface, and none of the ends hears another: each node has that network. */
    private boolean areOfContainers(List<Place> all) {
        return all.stream()
                .allMatch(place -> place.nic().isVirtual()
                        && !place.isFixed()
                        && cluster.seen()
                                .node(place.node())
                                .networks()
                                .defaultRoutes()
                                .contains(place.name())
                        && all.stream()
                                .noneMatch(other -> cluster.heardBy(place.end()).contains(other.end())));
    }

    private static Finding containers(List<Place> all) {
        List<String> nodes = all.stream().map(Place::node).distinct().toList();
        return Finding.error(
                "container-network",
                all.stream().map(Place::text).collect(Collectors.joining(" and ")),
                "%d nodes have the same address, each in a container network of its own: they cannot reach each other"
                        .formatted(nodes.size()),
                "a virtual interface that is the only way out, and no cable between these",
                advice(
                        String.join(", ", nodes),
                        "give the containers the hosts' network: --network=host with Docker and Podman, hostNetwork:"
                                + " true in Kubernetes"));
    }

    private Finding sharedAddress(List<Place> all) {
        Place owner = all.stream()
                .filter(place -> !addressing.mayGo(place))
                .findFirst()
                .orElse(all.getFirst());
        List<Remedy> remedies = new ArrayList<>();
        for (Place place : all) {
            if (place.equals(owner) || place.node().equals(owner.node())) {
                continue;
            }
            Optional<InterfaceAddress> other =
                    addressing.mayGo(place) && place.shares(owner) && !cluster.areApart(place.end(), owner.end())
                            ? addressing.beside(place.address())
                            : Optional.empty();
            remedies.add(other.map(address -> Addressing.replace(place, address))
                    .orElseGet(() -> advice(
                            place.node(),
                            "give " + place.name()
                                    + " an address in a subnet of its own cable; trigon plan assigns them")));
        }
        return new Finding(
                Weight.ERROR,
                "address-twice",
                all.stream().map(Place::text).collect(Collectors.joining(" and ")),
                "%d nodes have the same address".formatted(all.size()),
                "reported by each node",
                remedies);
    }
}
