package trigon.cluster.probe;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import trigon.cluster.facts.LinksJson;
import trigon.cluster.json.Json;
import trigon.cluster.machine.FirewallFacts;
import trigon.cluster.machine.Machine;
import trigon.cluster.machine.MachineLinks;
import trigon.cluster.machine.NicFacts;
import trigon.cluster.machine.Redaction;
import trigon.config.PluginConfig;
import trigon.config.Settings;
import trigon.config.UnknownVariable;
import trigon.config.cluster.NodeConfig;
import trigon.routing.KernelRouteLookup;
import trigon.routing.LocalLink;
import trigon.routing.RouteLookup;
import trigon.routing.SharedSubnets;
import trigon.routing.discovery.HostInterfaces;
import trigon.system.InterfaceAddress;

/** What a node says of itself: its links, and what besides them decides whether a job runs. No secrets. */
public final class OwnFacts {

    private static final String SCHEMA = "trigon.node/1";

    private static final Pattern LOCKED = Pattern.compile("(?m)^Max locked memory\\s+(\\S+)");
    private static final Pattern FILES = Pattern.compile("(?m)^Max open files\\s+(\\S+)");
    private static final Pattern SETTING = Pattern.compile("\\s*([A-Za-z_0-9]+)\\s*=\\s*(.*?)\\s*");

    /** Where Gloo and TensorPipe listen, which frameworks use beside NCCL. */
    private static final Set<String> OTHERS = Set.of("GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME");

    private OwnFacts() {}

    /** A file of NCCL's, with what it sets. */
    record NcclFile(String file, Map<String, String> settings) {}

    /** What a process may have. */
    private record Limits(
            String lockedBytes,
            String openFiles,
            Optional<String> memory,
            Optional<String> tasks,
            Optional<Long> sharedMemoryBytes) {

        static Limits of(Machine machine) {
            String limits = Machine.text(machine.file("proc/self/limits")).orElse("");
            return new Limits(
                    first(LOCKED, limits),
                    first(FILES, limits),
                    Machine.line(machine.file("sys/fs/cgroup/memory.max")),
                    Machine.line(machine.file("sys/fs/cgroup/pids.max")),
                    room(machine.file("dev/shm")));
        }
    }

    /** Files of verbs, by whether this user may open them. */
    private record RdmaDevices(List<String> usable, List<String> refused) {

        static RdmaDevices of(Machine machine) {
            List<Path> devices = Machine.entries(machine.file("dev/infiniband")).stream()
                    .filter(device -> device.getFileName().toString().startsWith("uverbs"))
                    .toList();
            return new RdmaDevices(names(devices, true), names(devices, false));
        }

        private static List<String> names(List<Path> devices, boolean usable) {
            return devices.stream()
                    .filter(device -> usable == (Files.isReadable(device) && Files.isWritable(device)))
                    .map(device -> device.getFileName().toString())
                    .toList();
        }
    }

    /** The system and what it allows. */
    private record Host(
            long clockMillis,
            Optional<String> machine,
            String kernel,
            String architecture,
            String gpuMemoryUse,
            Limits limits,
            RdmaDevices rdmaDevices) {

        static Host of(Machine machine, PluginConfig config) {
            return new Host(
                    System.currentTimeMillis(),
                    Machine.line(machine.file("sys/class/dmi/id/product_name")),
                    Machine.line(machine.file("proc/sys/kernel/osrelease")).orElse(""),
                    System.getProperty("os.arch"),
                    config.value(Settings.GPU_MEMORY).name().toLowerCase(Locale.ROOT),
                    Limits.of(machine),
                    RdmaDevices.of(machine));
        }
    }

    /** How the kernel treats the interfaces. */
    private record Networks(
            List<String> innerInterfaces,
            List<String> defaultRoutes,
            Optional<String> loginAddress,
            Map<String, Long> reversePathFilter,
            List<String> interfacesWithoutIpv6,
            Optional<String> loopbackName,
            Map<String, String> interfacesToNeighbours,
            FirewallFacts firewall) {

        static Networks of(Machine machine, MachineLinks links) {
            String[] login = machine.environment()
                    .getOrDefault("SSH_CONNECTION", "")
                    .split(" ", -1); // of ssh(1): the client's address and port, and the server's
            return new Networks(
                    links.interfaces().inner().networks().stream().sorted().toList(),
                    routes(machine),
                    login.length == 4 ? Optional.of(login[2]) : Optional.empty(),
                    filters(machine, links.nics()),
                    withoutIpv6(machine, links.nics()),
                    OwnFacts.loopbackName(machine),
                    interfacesToNeighbours(links),
                    FirewallFacts.of(machine));
        }

        private static Map<String, String> interfacesToNeighbours(MachineLinks links) {
            RouteLookup kernel = new KernelRouteLookup();
            Map<String, String> found = new TreeMap<>();
            for (LocalLink link : links.discovered().links()) {
                SharedSubnets.interfaceToNeighbours(link.address(), kernel).stream()
                        .boxed()
                        .flatMap(index -> links.interfaces().withIndex(index).stream())
                        .forEach(each -> found.put(link.address().toString(), each.name()));
            }
            return found;
        }
    }

    /** What NCCL is told. */
    private record NcclSettings(
            Map<String, String> environment, List<NcclFile> ncclFiles, List<String> missingPlugins) {

        static NcclSettings of(Machine machine) {
            List<NcclFile> files = files(machine);
            return new NcclSettings(variables(machine), files, NcclPlugins.missing(machine, files));
        }
    }

    /** An interface that NCCL may be told to use. */
    private record NcclInterface(String name, String state, List<String> addresses, List<String> otherNames) {}

    private record NcclInterfaces(List<NcclInterface> interfaces) {}

    /** What the plugin is told, a line each with its source. */
    private record PluginSettings(List<String> settings, List<String> unknownVariables, int topologyPort) {

        static PluginSettings of(PluginConfig config) {
            return new PluginSettings(
                    config.describe().stream()
                            .filter(line -> !line.startsWith("file:") && !line.startsWith("this node:"))
                            .toList(),
                    config.unknownVariables().stream()
                            .map(UnknownVariable::toString)
                            .toList(),
                    config.value(Settings.TOPOLOGY_PORT));
        }
    }

    /** The cluster's file, and who is in it. */
    private record ClusterFile(
            Optional<String> clusterFile,
            String clusterFingerprint,
            Optional<String> clusterNode,
            Optional<List<ClusterNode>> cluster) {

        static ClusterFile of(PluginConfig config) {
            return new ClusterFile(
                    config.file().map(Path::toString),
                    "%08x".formatted(config.fingerprint()),
                    config.thisNode().map(NodeConfig::name),
                    config.cluster()
                            .map(cluster -> cluster.nodes().stream()
                                    .map(ClusterNode::of)
                                    .toList()));
        }
    }

    private record ClusterNode(String name, List<ClusterNic> nics) {

        static ClusterNode of(NodeConfig node) {
            return new ClusterNode(
                    node.name(),
                    node.nics().stream()
                            .map(nic ->
                                    new ClusterNic(nic.device(), nic.address().map(InterfaceAddress::toString)))
                            .toList());
        }
    }

    private record ClusterNic(Optional<String> device, Optional<String> address) {}

    /** Of that machine, now. */
    static Map<String, Object> of(Machine machine, MachineLinks links) {
        Map<String, Object> facts = LinksJson.of(machine, links);
        facts.put("schema", SCHEMA);
        facts.putAll(Json.joined(
                Host.of(machine, links.config()),
                Networks.of(machine, links),
                NcclSettings.of(machine),
                PluginSettings.of(links.config()),
                ClusterFile.of(links.config())));
        return facts;
    }

    /** What NCCL is told on that machine, now, and the interfaces that it may be told to use. */
    public static Map<String, Object> ofNccl(Machine machine) {
        HostInterfaces all = HostInterfaces.snapshot();
        List<NcclInterface> interfaces = all.interfaces().stream()
                .map(each -> new NcclInterface(
                        each.name(),
                        each.up() ? "up" : "down",
                        each.addresses().stream()
                                .map(InterfaceAddress::toString)
                                .toList(),
                        all.otherNamesOf(each.name())))
                .toList();
        return Json.joined(NcclSettings.of(machine), new NcclInterfaces(interfaces));
    }

    private static Optional<Long> room(Path folder) {
        try {
            return Optional.of(Files.getFileStore(folder).getTotalSpace());
        } catch (IOException _) {
            return Optional.empty();
        }
    }

    private static String first(Pattern pattern, String text) {
        Matcher matcher = pattern.matcher(text);
        return matcher.find() ? matcher.group(1) : "";
    }

    /** The interfaces of IPv4's default routes (proc_net: route, whose first line has the names of the columns). */
    private static List<String> routes(Machine machine) {
        return Machine.text(machine.file("proc/self/net/route")).stream()
                .flatMap(String::lines)
                .skip(1)
                .map(line -> line.split("\\s+"))
                .filter(cells -> cells.length > 7 && cells[1].equals("00000000") && cells[7].equals("00000000"))
                .map(cells -> cells[0])
                .distinct()
                .toList();
    }

    private static Map<String, String> variables(Machine machine) {
        Map<String, String> found = new TreeMap<>();
        machine.environment().forEach((name, value) -> {
            if (name.startsWith("NCCL_") || name.startsWith("TRIGON_") || OTHERS.contains(name)) {
                found.put(name, Redaction.isSecret(name) ? Redaction.HIDDEN : value);
            }
        });
        return found;
    }

    private static List<NcclFile> files(Machine machine) {
        List<Path> files = new ArrayList<>();
        String named = machine.environment().getOrDefault("NCCL_CONF_FILE", "");
        String home = machine.environment().getOrDefault("HOME", "");
        if (!named.isEmpty()) {
            files.add(Path.of(named));
        } else if (!home.isEmpty()) {
            files.add(Path.of(home, ".nccl.conf"));
        }
        files.add(machine.file("etc/nccl.conf"));
        List<NcclFile> found = new ArrayList<>();
        for (Path file : files) {
            Machine.text(file).ifPresent(text -> {
                Map<String, String> settings = new TreeMap<>();
                text.lines().filter(line -> !line.strip().startsWith("#")).forEach(line -> {
                    Matcher setting = SETTING.matcher(line);
                    if (setting.matches()) {
                        settings.put(setting.group(1), setting.group(2));
                    }
                });
                found.add(new NcclFile(file.toString(), settings));
            });
        }
        return found;
    }

    /** The stricter of an interface's own and the one for all, as the kernel takes it. */
    private static Map<String, Long> filters(Machine machine, List<NicFacts> nics) {
        long all = Machine.number(machine.file("proc/sys/net/ipv4/conf/all/rp_filter"))
                .orElse(0L);
        Map<String, Long> filters = new TreeMap<>();
        for (NicFacts nic : nics) {
            Machine.number(machine.file("proc/sys/net/ipv4/conf")
                            .resolve(nic.name())
                            .resolve("rp_filter"))
                    .ifPresent(own -> filters.put(nic.name(), Math.max(all, own)));
        }
        return filters;
    }

    private static List<String> withoutIpv6(Machine machine, List<NicFacts> nics) {
        return nics.stream()
                .map(NicFacts::name)
                .filter(name -> Machine.number(machine.file("proc/sys/net/ipv6/conf")
                                .resolve(name)
                                .resolve("disable_ipv6"))
                        .filter(off -> off == 1)
                        .isPresent())
                .toList();
    }

    /**
     * By the file alone (hosts(5)): a name server may take its time. A host without another name than localhost is not
     * meant to be reached by it.
     */
    private static Optional<String> loopbackName(Machine machine) {
        if (machine.hostName().equals("localhost")) {
            return Optional.empty();
        }
        return Machine.text(machine.file("etc/hosts")).stream()
                .flatMap(String::lines)
                .map(line -> List.of(line.replaceFirst("#.*", "").strip().split("\\s+")))
                .filter(words -> words.indexOf(machine.hostName()) > 0)
                .findFirst()
                .map(List::getFirst)
                .filter(address -> address.startsWith("127.") || address.equals("::1"));
    }
}
