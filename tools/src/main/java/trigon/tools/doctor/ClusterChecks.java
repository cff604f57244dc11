package trigon.tools.doctor;

import static trigon.tools.doctor.Finding.advice;
import static trigon.tools.doctor.Finding.command;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import trigon.system.InterfaceAddress;
import trigon.tools.console.JsonObject;
import trigon.tools.probe.Observations;
import trigon.tools.probe.Observations.Clock;
import trigon.tools.probe.Observations.Heard;

/** What is wrong with the nodes together: addresses, cables, versions, settings, clocks. Pure. */
final class ClusterChecks {

    private static final long MOST_CLOCK_MILLIS = 2000;

    /** An address of a node's interface. */
    private record Place(String node, JsonObject nic, InterfaceAddress address) {
        String text() {
            return end() + " (" + address + ")";
        }

        String end() {
            return node + " " + nic.text("name");
        }
    }

    private final Observations seen;
    private final List<Place> places = new ArrayList<>();
    private final List<Finding> findings = new ArrayList<>();

    /** Addresses whose trouble is explained by what is found here. */
    private final Set<String> misled = new HashSet<>();

    ClusterChecks(Observations seen) {
        this.seen = seen;
        seen.facts()
                .forEach((node, facts) -> facts.objects("links").stream()
                        .map(link -> InterfaceAddress.parse(link.text("address")))
                        .distinct()
                        .filter(address -> !address.isLinkLocal()) // all of these are in one subnet
                        .forEach(address -> Observations.interfaceOf(facts, address)
                                .ifPresent(nic -> places.add(new Place(node, nic, address)))));
    }

    List<Finding> find() {
        silent();
        addresses();
        interfaces();
        cables();
        same("version-differs", "version", "different versions of Trigon", "install the same one on all nodes");
        same(
                "cluster-file-differs",
                "clusterFingerprint",
                "the cluster file is not the same on all nodes",
                "copy one to all nodes; TRIGON_CONFIG names it");
        settings();
        clocks();
        kinds();
        return findings;
    }

    Set<String> misled() {
        return misled;
    }

    private void silent() {
        seen.silent()
                .forEach((node, why) -> findings.add(Finding.error(
                        "node-silent",
                        node,
                        node + " cannot be examined",
                        why,
                        command("here", "ssh " + node + " true"),
                        advice(
                                node,
                                "the distribution has to be in the same folder there, or name it with --remote"))));
    }

    private void addresses() {
        Set<String> said = new TreeSet<>();
        for (Place one : places) {
            for (Place other : places) {
                if (one.node().compareTo(other.node()) >= 0) {
                    continue;
                }
                InterfaceAddress a = one.address();
                InterfaceAddress b = other.address();
                if (a.address().equals(b.address())) {
                    if (!a.address().isLoopbackAddress()) {
                        misled(a);
                        findings.add(Finding.error(
                                "address-twice",
                                one.text() + " and " + other.text(),
                                "two nodes have the same address",
                                "both say so",
                                command(
                                        other.node(),
                                        "ip addr del " + b + " dev "
                                                + other.nic().text("name"))));
                    }
                } else if ((a.contains(b.address()) || b.contains(a.address()))
                        && a.prefixLength() != b.prefixLength()
                        && said.add(one.text() + other.text())) {
                    misled(a);
                    misled(b);
                    if (leadElsewhere(one, other)) {
                        overlap(one, other);
                        continue;
                    }
                    findings.add(Finding.error(
                            "prefix-differs",
                            one.text() + " and " + other.text(),
                            "the two ends of a link have different prefixes",
                            "one of the two takes others for neighbours than the other does",
                            command(
                                    other.node(),
                                    "ip addr del %s dev %s && ip addr add %s/%d dev %s"
                                            .formatted(
                                                    b,
                                                    other.nic().text("name"),
                                                    InterfaceAddress.text(b.address()),
                                                    a.prefixLength(),
                                                    other.nic().text("name")))));
                }
            }
        }
    }

    /** Where an interface is down, or in one subnet with another of its node, the checks of nodes say what is wrong. */
    private void interfaces() {
        for (Place one : places) {
            if (one.nic().text("state").equals("down") || one.nic().isFalse("carrier")) {
                misled(one.address());
            }
            for (Place other : places) {
                if (one.node().equals(other.node())
                        && !one.end().equals(other.end())
                        && one.address().contains(other.address().address())) {
                    places.stream()
                            .filter(each ->
                                    one.address().contains(each.address().address()))
                            .forEach(each -> misled(each.address()));
                }
            }
        }
    }

    /** Whether it is known that there is no cable between the two, since both lead to others. */
    private boolean leadElsewhere(Place one, Place other) {
        Set<String> ofOne = heardBy(one);
        Set<String> ofOther = heardBy(other);
        return !ofOne.isEmpty() && !ofOther.isEmpty() && !ofOne.contains(other.end()) && !ofOther.contains(one.end());
    }

    private Set<String> heardBy(Place place) {
        return seen.heard().stream()
                .filter(each -> place.end().equals(each.by() + " " + each.on()))
                .map(each -> each.node() + " " + each.from())
                .collect(Collectors.toSet());
    }

    private void overlap(Place one, Place other) {
        findings.add(Finding.error(
                "subnets-overlap",
                one.text() + " and " + other.text(),
                "the subnets of two cables overlap: each node takes others for neighbours that it has no cable to",
                "their addresses and prefixes; the cables of the two lead elsewhere",
                advice(other.node(), "give each cable a subnet of its own; trigon plan finds some")));
    }

    private boolean isMisled(Place place) {
        return misled.contains(InterfaceAddress.text(place.address().address()));
    }

    private void misled(InterfaceAddress address) {
        misled.add(InterfaceAddress.text(address.address()));
    }

    /** Where cables go, by who heard whom, against where addresses say that they go. */
    private void cables() {
        Map<String, Set<String>> heard = new TreeMap<>();
        for (Heard each : seen.heard()) {
            heard.computeIfAbsent(each.by() + " " + each.on(), _ -> new TreeSet<>())
                    .add(each.node() + " " + each.from());
        }
        Set<String> doubtful = Set.copyOf(misled);
        Set<String> said = new TreeSet<>();
        for (Place place : places) {
            if (doubtful.contains(InterfaceAddress.text(place.address().address()))) {
                continue; // what is wrong with its address is said already
            }
            String end = place.end();
            List<Place> meant = places.stream()
                    .filter(other -> !other.node().equals(place.node())
                            && (place.address().contains(other.address().address())
                                    || other.address().contains(place.address().address())))
                    .toList();
            Set<String> actual = heard.getOrDefault(end, Set.of());
            boolean asMeant = meant.stream().anyMatch(other -> actual.contains(other.end()));
            if (actual.isEmpty() || asMeant || !said.add(end)) {
                continue;
            }
            String there = String.join(", ", actual);
            if (meant.isEmpty()) {
                noCommonSubnet(place, actual, said);
            } else {
                misled(place.address());
                meant.forEach(other -> misled(other.address()));
                findings.add(Finding.error(
                        "cable-elsewhere",
                        end,
                        "the cable of %s leads to %s, and its address says %s"
                                .formatted(
                                        end,
                                        there,
                                        meant.stream().map(Place::text).collect(Collectors.joining(" or "))),
                        "a hello by multicast came from there",
                        advice(
                                place.node(),
                                "plug the cable into the other port, or give the two ends addresses in one"
                                        + " subnet")));
            }
        }
    }

    private Set<InetAddress> taken() {
        return places.stream().map(place -> place.address().address()).collect(Collectors.toSet());
    }

    private void noCommonSubnet(Place place, Set<String> actual, Set<String> said) {
        for (Place other : places) {
            String end = other.end();
            if (actual.contains(end) && !isMisled(place) && !isMisled(other) && said.add(end)) {
                findings.add(Finding.error(
                        "no-common-subnet",
                        place.text() + " and " + other.text(),
                        "a cable joins these two, and their addresses are in different subnets: it is not used",
                        "each hears the hello of the other",
                        command(
                                other.node(),
                                "ip addr add %s dev %s && ip addr del %s dev %s"
                                        .formatted(
                                                FreeAddress.beside(place.address(), taken()),
                                                other.nic().text("name"),
                                                other.address(),
                                                other.nic().text("name")))));
            }
        }
    }

    private void same(String code, String key, String what, String remedy) {
        differing(facts -> facts.text(key), code, what, remedy);
    }

    private void differing(Function<JsonObject, String> value, String code, String what, String remedy) {
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
        seen.facts().values().forEach(facts -> facts.texts("settings").forEach(line -> names.add(name(line))));
        for (String name : names) {
            if (!name.startsWith("nodes.") && !name.startsWith("peers.")) {
                differing(
                        facts -> facts.texts("settings").stream()
                                .filter(line -> name(line).equals(name))
                                .map(line -> line.substring(name.length() + 2).replaceFirst(" \\([^()]*\\)$", ""))
                                .findFirst()
                                .orElse(""),
                        "settings-differ",
                        "the setting " + name + " is not the same on all nodes",
                        "set it in the cluster file, which is the same on all nodes");
            }
        }
    }

    private static String name(String line) {
        int colon = line.indexOf(": ");
        return colon < 0 ? line : line.substring(0, colon);
    }

    private void clocks() {
        for (Clock clock : seen.clocks()) {
            if (Math.abs(clock.aheadMillis()) > MOST_CLOCK_MILLIS + clock.uncertainMillis()) {
                findings.add(Finding.warning(
                        "clock",
                        clock.node(),
                        "the clock of %s is %d s %s"
                                .formatted(
                                        clock.node(),
                                        Math.abs(clock.aheadMillis()) / 1000,
                                        clock.aheadMillis() > 0 ? "ahead" : "behind"),
                        "it was asked for its time",
                        command(clock.node(), "timedatectl set-ntp true")));
            }
        }
    }

    /** One end of a link has RDMA and the other has not. */
    private void kinds() {
        Set<String> said = new TreeSet<>();
        for (Place one : places) {
            for (Place other : places) {
                boolean link = !one.node().equals(other.node())
                        && one.address().contains(other.address().address());
                if (link && isRdma(one) && !isRdma(other) && said.add(one.text() + other.text())) {
                    findings.add(Finding.warning(
                            "rdma-at-one-end",
                            one.text() + " and " + other.text(),
                            "RDMA is there at the first end only, so that data go over TCP",
                            "trigon links on both",
                            advice(other.node(), "see what trigon links says of RDMA ports there")));
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
                            command(other.node(), "ethtool -s " + other.nic().text("name") + " autoneg on")));
                }
            }
        }
    }

    private static long speed(Place place) {
        return place.nic().whole("speedMbps");
    }

    private boolean isRdma(Place place) {
        JsonObject facts = seen.facts().get(place.node());
        return facts != null
                && facts.objects("links").stream()
                        .anyMatch(link -> link.text("kind").equals("rdma")
                                && link.text("interface").equals(place.nic().text("name")));
    }
}
