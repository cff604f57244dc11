package trigon.cluster.facts;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import trigon.cluster.machine.Machine;
import trigon.cluster.machine.Redaction;

/**
 * Settings of NCCL, and of libraries beside it, on a node. No secrets.
 *
 * @param environment variables of NCCL, Trigon and others
 * @param ncclFiles that NCCL reads, the first one first
 * @param missingPlugins that NCCL is told to load, and that are not there
 */
public record NcclFacts(Map<String, String> environment, List<NcclFile> ncclFiles, List<String> missingPlugins) {

    private static final Pattern SETTING = Pattern.compile("\\s*([A-Za-z_0-9]+)\\s*=\\s*(.*?)\\s*");

    /** Variables for the interfaces of Gloo and TensorPipe, which frameworks use beside NCCL. */
    private static final Set<String> OTHERS = Set.of("GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME");

    private static final String PLUGIN = "NCCL_NET_PLUGIN";

    /** Folders that the loader searches besides its cache, see ld.so(8), with those of Debian's multiarch. */
    private static final List<String> FOLDERS = List.of(
            "/lib", "/usr/lib", "/lib64", "/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu");

    /** A file of NCCL's, with what it sets. */
    public record NcclFile(String file, Map<String, String> settings) {}

    public NcclFacts {
        environment = new TreeMap<>(environment);
    }

    /** Reads those of this machine, now. */
    public static NcclFacts of(Machine machine) {
        List<NcclFile> files = files(machine);
        return new NcclFacts(variables(machine), files, missingPlugins(machine, files));
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

    /**
     * Values of which no part is a library. A part is a file, or a name as it stands or within {@code
     * libnccl-net-NAME.so}.
     *
     * @param ncclFiles the files that NCCL reads, with their settings
     */
    private static List<String> missingPlugins(Machine machine, List<NcclFile> ncclFiles) {
        return Stream.concat(
                        Stream.of(machine.environment().getOrDefault(PLUGIN, "")),
                        ncclFiles.stream().map(file -> file.settings().getOrDefault(PLUGIN, "")))
                .filter(value -> !value.isBlank())
                .distinct()
                .filter(value -> Stream.of(value.split(",", -1)).noneMatch(part -> isThere(machine, part.strip())))
                .toList();
    }

    private static boolean isThere(Machine machine, String part) {
        if (part.isEmpty()) {
            return false;
        }
        if (part.equals("none") || "STATIC_PLUGIN".startsWith(part)) {
            return true; // NCCL's own words
        }
        if (part.contains("/")) {
            return !part.startsWith("/") || Files.isRegularFile(machine.file(part)); // relative to who knows what
        }
        return isLibrary(machine, part) || isLibrary(machine, "libnccl-net-" + part + ".so");
    }

    private static boolean isLibrary(Machine machine, String name) {
        List<String> folders = new ArrayList<>(FOLDERS);
        for (String folder :
                machine.environment().getOrDefault("LD_LIBRARY_PATH", "").split("[:;]", -1)) {
            if (folder.startsWith("/")) {
                folders.add(folder);
            }
        }
        return folders.stream()
                        .map(folder -> machine.file(folder).resolve(name))
                        .anyMatch(Files::isRegularFile)
                || isInCache(machine.file("etc/ld.so.cache"), name);
    }

    /** The cache has paths as text, each with a zero at its end. */
    private static boolean isInCache(Path cache, String name) {
        try {
            return new String(Files.readAllBytes(cache), StandardCharsets.ISO_8859_1).contains("/" + name + "\0");
        } catch (IOException _) {
            return false;
        }
    }
}
