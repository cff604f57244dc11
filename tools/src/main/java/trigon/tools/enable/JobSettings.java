package trigon.tools.enable;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import trigon.cluster.machine.Machine;
import trigon.cluster.machine.NcclFile;
import trigon.config.Settings;
import trigon.tools.console.CommandFailure;

/**
 * The variables with which NCCL loads Trigon, in the order of their lines. Immutable.
 *
 * @param variables names and values
 */
record JobSettings(Map<String, String> variables) {

    static final String PLUGIN = "NCCL_NET_PLUGIN";
    static final String NETWORK = "NCCL_NET";
    static final String TRIGON = "Trigon";

    /** Longest entry of a list of plugins: MAX_STR_LEN of NCCL's src/plugin/net.cc. */
    private static final int MAX_PLUGIN_BYTES = 254;

    /** Files of the cluster, which a setting names. */
    private static final Map<String, String> CLUSTER_FILES = Map.of(
            Settings.CLUSTER_KEY_FILE.variable().orElseThrow(), "etc/trigon/cluster.key",
            Settings.CONFIG.variable().orElseThrow(), "etc/trigon/cluster.yaml");

    /**
     * Those of a machine.
     *
     * @param home the distribution's folder
     * @param required true if NCCL must fail where it cannot load Trigon
     * @param bootstrap the interface for NCCL's bootstrap
     * @throws CommandFailure if NCCL cannot take a value from a file
     */
    static JobSettings of(Machine machine, Path home, boolean required, Bootstrap bootstrap) {
        Map<String, String> variables = new LinkedHashMap<>();
        variables.put(PLUGIN, home.resolve("lib/libnccl-net-trigon.so").toString());
        if (required) {
            variables.put(NETWORK, TRIGON);
        }
        variables.put("NCCL_NET_PLUGIN_REF_COUNT", "1");
        bootstrap.setting().ifPresent(value -> variables.put(Bootstrap.VARIABLE, value));
        clusterFiles(machine).forEach((name, file) -> variables.put(name, file.toString()));
        variables.forEach(JobSettings::check);
        return new JobSettings(variables);
    }

    /** Files of the cluster that this user may read, by the variables that name them. */
    static Map<String, Path> clusterFiles(Machine machine) {
        Map<String, Path> files = new LinkedHashMap<>();
        CLUSTER_FILES.entrySet().stream().sorted(Map.Entry.comparingByKey()).forEach(each -> {
            Path file = machine.file(each.getValue());
            if (Files.isReadable(file)) {
                files.put(each.getKey(), file);
            }
        });
        return files;
    }

    /** The folder of the distribution under the name that stays when a newer one is installed beside it. */
    static Path stable(Path home) {
        Path current = home.resolveSibling("current");
        try {
            return Files.isSymbolicLink(current) && Files.isSameFile(current, home) ? current : home;
        } catch (IOException _) { // it leads nowhere
            return home;
        }
    }

    private static void check(String name, String value) {
        int bytes = value.getBytes(StandardCharsets.UTF_8).length;
        boolean plugin = name.equals(PLUGIN);
        if (value.contains("\n")
                || (plugin && value.contains(","))
                || bytes > (plugin ? MAX_PLUGIN_BYTES : NcclFile.MAX_BYTES)) {
            throw new CommandFailure(
                    ("NCCL cannot take %s=%s from a file: the path must have no comma and no line break,"
                                    + " and at most %d bytes; move the folder")
                            .formatted(name, value, plugin ? MAX_PLUGIN_BYTES : NcclFile.MAX_BYTES));
        }
    }

    /** As lines of NCCL's files. */
    List<String> lines() {
        return variables.entrySet().stream()
                .map(each -> each.getKey() + "=" + each.getValue())
                .toList();
    }

    /** Tells whether a job with these variables loads this Trigon, and uses it. */
    boolean isUsedBy(Map<String, String> job) {
        return job.getOrDefault(PLUGIN, "").equals(variables.get(PLUGIN))
                && Stream.of("", TRIGON).anyMatch(job.getOrDefault(NETWORK, "")::equalsIgnoreCase);
    }
}
