package trigon.cluster.diagnosis;

import static trigon.cluster.diagnosis.Finding.advice;
import static trigon.cluster.diagnosis.Finding.change;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import trigon.cluster.facts.NcclFacts;
import trigon.cluster.facts.NcclFacts.NcclSettings;
import trigon.cluster.facts.NodeFacts;
import trigon.cluster.machine.Nic;
import trigon.cluster.probe.Observations;
import trigon.cluster.probe.Observations.Probe;
import trigon.system.InterfaceAddress;

/** Settings of NCCL that contradict Trigon, of the environment and of the files that NCCL reads. Pure. */
final class NcclChecks {

    /** Settings that an image or another cluster may have left, with their effects. */
    private static final Map<String, String> LEFTOVERS = Map.of(
            "NCCL_TUNER_PLUGIN", "a tuner other than Trigon's decides on algorithms and channels",
            "NCCL_PROFILER_PLUGIN", "a profiler other than Trigon's is loaded, so traces contain no collectives",
            "NCCL_GRAPH_FILE", "NCCL takes rings and trees from a file that may be for other machines",
            "NCCL_TOPO_FILE", "NCCL takes GPUs and NICs from a file that may be for another machine",
            "NCCL_HOSTID",
                    "NCCL identifies machines by this text: it takes machines with the same text for one, and jobs"
                            + " fail",
            "NCCL_ALGO", "the algorithm is forced for all sizes",
            "NCCL_PROTO", "the protocol is forced for all sizes");

    private static final Pattern OF_INTEREST = Pattern.compile("\\s*(NCCL|TRIGON)_\\w+\\s*");

    private static final Pattern QUOTED = Pattern.compile("\\s.*|.*\\s|\".*\"|'.*'");

    private static final String BOOTSTRAP = "NCCL_SOCKET_IFNAME";

    private final String node;
    private final NcclFacts facts;
    private final List<Nic> interfaces;
    private final List<Finding> findings = new ArrayList<>();

    private NcclChecks(String node, NcclFacts facts, List<Nic> interfaces) {
        this.node = node;
        this.facts = facts;
        this.interfaces = interfaces;
    }

    static List<Finding> of(String node, NcclFacts facts, List<Nic> interfaces) {
        NcclChecks checks = new NcclChecks(node, facts, interfaces);
        checks.among(facts.environment(), "the environment", name -> "unset " + name);
        facts.ncclFiles().stream()
                .collect(Collectors.partitioningBy(NcclSettings::isOfRccl))
                .values()
                .forEach(checks::ofFiles);
        return checks.findings;
    }

    /** Checks the files that one library reads: the first that sets a variable counts. */
    private void ofFiles(List<NcclSettings> files) {
        Set<String> decided = new HashSet<>(facts.environment().keySet());
        for (NcclSettings file : files) {
            String quoted = "'" + file.file().replace("'", "'\\''") + "'";
            Map<String, String> counting = new TreeMap<>(file.settings());
            counting.keySet().removeAll(decided);
            malformed(counting, file.file());
            among(
                    counting,
                    file.isOfAllVersions() ? file.file() : file.file() + ", which " + file.readers() + " reads",
                    name -> "sed -i '/^" + name + "=/d' " + quoted);
            if (file.isOfAllVersions() || file.isOfRccl()) {
                decided.addAll(counting.keySet());
            }
        }
    }

    private void among(Map<String, String> settings, String place, UnaryOperator<String> cure) {
        settings.forEach((name, value) -> one(name, value, place, change(node, cure.apply(name))));
    }

    /** NCCL takes a file's lines letter by letter: blanks and quotes belong to names and values. */
    private void malformed(Map<String, String> settings, String file) {
        settings.forEach((name, value) -> {
            boolean concerns = OF_INTEREST.matcher(name).matches();
            if (concerns && (!name.equals(name.strip()) || QUOTED.matcher(value).matches())) {
                findings.add(Finding.warning(
                        "nccl-file-line",
                        node,
                        "NCCL takes blanks and quotes of this line for a part of the name or the value",
                        name + "=" + value + " in " + file,
                        advice(node, "write NAME=VALUE, without blanks around it and without quotes")));
            }
        });
    }

    private void one(String name, String value, String place, Finding.Remedy remedy) {
        String word = value.toLowerCase(Locale.ROOT);
        String evidence = name + "=" + value + " in " + place;
        switch (name) {
            case "NCCL_NET" -> {
                if (!word.isEmpty() && !word.equals("trigon")) {
                    findings.add(Finding.error(
                            "nccl-net-other", node, "NCCL uses the network " + value + " alone", evidence, remedy));
                }
            }
            case "NCCL_NET_PLUGIN" -> {
                if (facts.missingPlugins().contains(value)) {
                    findings.add(Finding.error(
                            "nccl-plugin-missing",
                            node,
                            "NCCL is set to load " + value + ", but there is no such library",
                            evidence + "; neither it nor libnccl-net-NAME.so is a file, or on the loader's path",
                            advice(node, "run trigon enable there, which sets the full path")));
                } else if (!word.isEmpty() && !word.contains("trigon")) {
                    findings.add(Finding.error(
                            "nccl-plugin-other",
                            node,
                            word.equals("none") ? "NCCL loads no plugin" : "NCCL loads another plugin, " + value,
                            evidence,
                            remedy));
                }
            }
            case "NCCL_IB_DISABLE" -> {
                if (!word.equals("0")) {
                    findings.add(Finding.note(
                            "nccl-ib-disable",
                            node,
                            "this disables RDMA in NCCL's own network, not in Trigon",
                            evidence,
                            advice(node, "to use TCP only, set TRIGON_LINKS=software"),
                            remedy));
                }
            }
            case BOOTSTRAP -> bootstrap(value, evidence, remedy);
            case "GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME" -> sockets(name, value, evidence, remedy);
            default -> {
                String leftover = LEFTOVERS.get(name);
                if (leftover != null && !word.isEmpty() && !word.contains("trigon")) {
                    findings.add(Finding.warning("nccl-leftover", node, leftover, evidence, remedy));
                }
                if (name.startsWith("NCCL_IB_")) {
                    findings.add(Finding.note(
                            "nccl-ib-setting",
                            node,
                            "this affects NCCL's own network only, not Trigon",
                            evidence,
                            remedy));
                }
            }
        }
    }

    /** Gloo and TensorPipe take whole names, separated by commas. */
    private void sockets(String name, String value, String evidence, Finding.Remedy remedy) {
        List<String> wanted = List.of(value.split(",", -1));
        if (!value.isEmpty() && usable(interfaces).noneMatch(nic -> wanted.contains(nic.name()))) {
            findings.add(Finding.error(
                    "socket-interface",
                    node,
                    "%s is set to use %s, but no such interface is up with an address%s"
                            .formatted(
                                    name.startsWith("GLOO") ? "Gloo" : "TensorPipe",
                                    value,
                                    otherNames(wanted::contains)),
                    evidence,
                    advice(node, "name an interface that all nodes share: " + name),
                    remedy));
        }
    }

    /** Interfaces that have one of these as an alternative name: sysfs and getifaddrs(3) do not know such names. */
    private String otherNames(Predicate<String> isWanted) {
        return interfaces.stream()
                .flatMap(nic -> nic.otherNames().stream()
                        .filter(isWanted)
                        .map(other -> "; %s is another name of %s, which only ip(8) and Trigon know: name %s instead"
                                .formatted(other, nic.name(), nic.name())))
                .collect(Collectors.joining());
    }

    private static Stream<Nic> usable(List<Nic> interfaces) {
        return interfaces.stream()
                .filter(nic -> !nic.isDown() && !nic.addresses().isEmpty());
    }

    /**
     * The interfaces that NCCL's bootstrap may use by that value of {@code NCCL_SOCKET_IFNAME}: prefixes separated by
     * commas; = for whole names.
     */
    static List<Nic> bootstrapInterfaces(List<Nic> interfaces, String value) {
        Predicate<String> isWanted = names(value);
        return usable(interfaces).filter(nic -> isWanted.test(nic.name())).toList();
    }

    private static Predicate<String> names(String value) {
        boolean whole = value.startsWith("=");
        List<String> wanted = List.of((whole ? value.substring(1) : value).split(",", -1));
        return name -> wanted.stream().anyMatch(each -> whole ? name.equals(each) : name.startsWith(each));
    }

    /** As NCCL reads it; ^ is for those that are excluded. */
    private void bootstrap(String value, String evidence, Finding.Remedy remedy) {
        if (value.startsWith("^") || value.isEmpty()) {
            return;
        }
        if (bootstrapInterfaces(interfaces, value).isEmpty()) {
            findings.add(Finding.error(
                    "bootstrap-interface",
                    node,
                    "NCCL's bootstrap is set to use " + value + ", but no such interface is up with an address"
                            + otherNames(names(value)),
                    evidence,
                    advice(node, "name an interface that all nodes share: NCCL_SOCKET_IFNAME"),
                    remedy));
        }
    }

    /** Checks that NCCL's bootstrap, which Trigon does not route, is not set to use a cable to some nodes alone. */
    static List<Finding> ofBootstrap(Observations seen) {
        List<Finding> findings = new ArrayList<>();
        seen.facts()
                .forEach((node, facts) -> bootstrapSetting(facts).ifPresent(value -> {
                    List<Nic> nics = bootstrapInterfaces(facts.interfaces(), value);
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
                                BOOTSTRAP + "=" + value + ", and the subnets of "
                                        + nics.stream().map(nic -> nic.name()).collect(Collectors.joining(", ")),
                                advice(node, "name an interface that all nodes share: " + BOOTSTRAP)));
                    }
                }));
        return findings;
    }

    /** The environment's, or else that of NCCL's files. */
    private static Optional<String> bootstrapSetting(NodeFacts facts) {
        return Stream.concat(
                        Stream.of(facts.nccl().environment()),
                        facts.nccl().ncclFiles().stream().map(NcclSettings::settings))
                .map(settings -> settings.getOrDefault(BOOTSTRAP, ""))
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
