package trigon.cluster.facts;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import trigon.cluster.machine.Machine;
import trigon.cluster.machine.Redaction;

/**
 * What NCCL, and others beside it, are told on a node. No secrets.
 *
 * @param environment variables of NCCL, Trigon and others
 * @param ncclFiles that NCCL reads, the first one first
 * @param missingPlugins that NCCL is told to load, and that are not there
 */
public record NcclFacts(Map<String, String> environment, List<NcclFile> ncclFiles, List<String> missingPlugins) {

    private static final Pattern SETTING = Pattern.compile("\\s*([A-Za-z_0-9]+)\\s*=\\s*(.*?)\\s*");

    /** Variables for the interfaces of Gloo and TensorPipe, which frameworks use beside NCCL. */
    private static final Set<String> OTHERS = Set.of("GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME");

    /** A file of NCCL's, with what it sets. */
    public record NcclFile(String file, Map<String, String> settings) {}

    public NcclFacts {
        environment = new TreeMap<>(environment);
    }

    /** Reads those of this machine, now. */
    public static NcclFacts of(Machine machine) {
        List<NcclFile> files = files(machine);
        return new NcclFacts(variables(machine), files, NcclPlugins.missing(machine, files));
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
}
