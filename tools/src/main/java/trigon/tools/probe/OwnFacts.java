package trigon.tools.probe;

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
import trigon.config.Settings;
import trigon.config.UnknownVariable;
import trigon.config.cluster.ClusterConfig;
import trigon.routing.discovery.HostInterfaces;
import trigon.system.InterfaceAddress;
import trigon.tools.console.Json;
import trigon.tools.links.LinksJson;
import trigon.tools.machine.Machine;
import trigon.tools.machine.MachineLinks;
import trigon.tools.machine.NicFacts;
import trigon.tools.machine.Redaction;

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

    private record Limits(
            String lockedBytes,
            String openFiles,
            Optional<String> memory,
            Optional<String> tasks,
            Optional<Long> sharedMemoryBytes) {}

    private record RdmaDevices(List<String> usable, List<String> refused) {}

    private record ClusterNode(String name, List<ClusterNic> nics) {}

    private record ClusterNic(Optional<String> device, Optional<String> address) {}

    /** Of that machine, now. */
    static Map<String, Object> of(Machine machine, MachineLinks links) {
        Map<String, Object> facts = LinksJson.of(machine, links);
        facts.put("schema", SCHEMA);
        facts.put("clockMillis", System.currentTimeMillis());
        facts.put(
                "kernel",
                Machine.line(machine.file("proc/sys/kernel/osrelease")).orElse(""));
        facts.put("architecture", System.getProperty("os.arch"));
        facts.put(
                "gpuMemoryUse", links.config().value(Settings.GPU_MEMORY).name().toLowerCase(Locale.ROOT));
        facts.put("limits", limits(machine));
        facts.put(
                "innerInterfaces",
                links.interfaces().inner().networks().stream().sorted().toList());
        facts.put("defaultRoutes", defaultRoutes(machine));
        String login = machine.environment().getOrDefault("SSH_CONNECTION", "");
        if (login.split(" ", -1).length == 4) {
            facts.put("loginAddress", login.split(" ", -1)[2]);
        }
        facts.put("rdmaDevices", rdmaDevices(machine));
        facts.putAll(settingsOfNccl(machine));
        facts.put("reversePathFilter", reversePathFilter(machine, links.nics()));
        facts.put(
                "settings",
                links.config().describe().stream()
                        .filter(line -> !line.startsWith("file:") && !line.startsWith("this node:"))
                        .toList());
        facts.put(
                "unknownVariables",
                links.config().unknownVariables().stream()
                        .map(UnknownVariable::toString)
                        .toList());
        facts.put("topologyPort", links.config().value(Settings.TOPOLOGY_PORT));
        links.config().file().ifPresent(file -> facts.put("clusterFile", file.toString()));
        facts.put("clusterFingerprint", "%08x".formatted(links.config().fingerprint()));
        links.config().thisNode().ifPresent(node -> facts.put("clusterNode", node.name()));
        links.config().cluster().ifPresent(cluster -> facts.put("cluster", cluster(cluster)));
        return facts;
    }

    /** What NCCL is told on that machine, now, and the interfaces that it may be told to use. */
    public static Map<String, Object> ofNccl(Machine machine) {
        Map<String, Object> facts = settingsOfNccl(machine);
        facts.put(
                "interfaces",
                HostInterfaces.snapshot().interfaces().stream()
                        .map(each -> Json.object(
                                "name",
                                each.name(),
                                "state",
                                each.up() ? "up" : "down",
                                "addresses",
                                each.addresses().stream()
                                        .map(InterfaceAddress::toString)
                                        .toList()))
                        .toList());
        return facts;
    }

    private static Map<String, Object> settingsOfNccl(Machine machine) {
        List<NcclFile> ncclFiles = ncclFiles(machine);
        return Json.object(
                "environment",
                environment(machine),
                "ncclFiles",
                ncclFiles,
                "missingPlugins",
                NcclPlugins.missing(machine, ncclFiles));
    }

    private static Limits limits(Machine machine) {
        String limits = Machine.text(machine.file("proc/self/limits")).orElse("");
        return new Limits(
                first(LOCKED, limits),
                first(FILES, limits),
                Machine.line(machine.file("sys/fs/cgroup/memory.max")),
                Machine.line(machine.file("sys/fs/cgroup/pids.max")),
                room(machine.file("dev/shm")));
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
    private static List<String> defaultRoutes(Machine machine) {
        return Machine.text(machine.file("proc/self/net/route")).stream()
                .flatMap(String::lines)
                .skip(1)
                .map(line -> line.split("\\s+"))
                .filter(cells -> cells.length > 7 && cells[1].equals("00000000") && cells[7].equals("00000000"))
                .map(cells -> cells[0])
                .distinct()
                .toList();
    }

    private static RdmaDevices rdmaDevices(Machine machine) {
        List<String> usable = new ArrayList<>();
        List<String> refused = new ArrayList<>();
        for (Path device : Machine.entries(machine.file("dev/infiniband"))) {
            if (device.getFileName().toString().startsWith("uverbs")) {
                (Files.isReadable(device) && Files.isWritable(device) ? usable : refused)
                        .add(device.getFileName().toString());
            }
        }
        return new RdmaDevices(usable, refused);
    }

    private static Map<String, Object> environment(Machine machine) {
        Map<String, Object> found = new TreeMap<>();
        machine.environment().forEach((name, value) -> {
            if (name.startsWith("NCCL_") || name.startsWith("TRIGON_") || OTHERS.contains(name)) {
                found.put(name, Redaction.isSecret(name) ? Redaction.HIDDEN : value);
            }
        });
        return found;
    }

    private static List<NcclFile> ncclFiles(Machine machine) {
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
    private static Map<String, Object> reversePathFilter(Machine machine, List<NicFacts> nics) {
        long all = Machine.number(machine.file("proc/sys/net/ipv4/conf/all/rp_filter"))
                .orElse(0L);
        Map<String, Object> filters = new TreeMap<>();
        for (NicFacts nic : nics) {
            Machine.number(machine.file("proc/sys/net/ipv4/conf")
                            .resolve(nic.name())
                            .resolve("rp_filter"))
                    .ifPresent(own -> filters.put(nic.name(), Math.max(all, own)));
        }
        return filters;
    }

    private static List<ClusterNode> cluster(ClusterConfig cluster) {
        return cluster.nodes().stream()
                .map(node -> new ClusterNode(
                        node.name(),
                        node.nics().stream()
                                .map(nic -> new ClusterNic(
                                        nic.device(), nic.address().map(InterfaceAddress::toString)))
                                .toList()))
                .toList();
    }
}
