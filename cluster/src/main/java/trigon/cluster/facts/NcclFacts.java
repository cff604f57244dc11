package trigon.cluster.facts;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import trigon.cluster.machine.Machine;
import trigon.cluster.machine.NcclFile;
import trigon.cluster.machine.Redaction;

/**
 * Settings of NCCL, and of libraries beside it, on a node. No secrets.
 *
 * @param environment variables of NCCL, Trigon and others
 * @param ncclFiles that NCCL reads, the first one first, then those that RCCL reads
 * @param missingPlugins that NCCL is told to load, and that are not there
 */
public record NcclFacts(Map<String, String> environment, List<NcclSettings> ncclFiles, List<String> missingPlugins) {

    /** Variables for the interfaces of Gloo and TensorPipe, which frameworks use beside NCCL. */
    private static final Set<String> OTHERS = Set.of("GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME");

    private static final String PLUGIN = "NCCL_NET_PLUGIN";

    /** Folders that the loader searches besides its cache, see ld.so(8), with those of Debian's multiarch. */
    private static final List<String> FOLDERS = List.of(
            "/lib", "/usr/lib", "/lib64", "/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu");

    /**
     * A file of NCCL's, with what it sets.
     *
     * @param readers the versions of NCCL, or of RCCL, that read it; empty for all of NCCL
     */
    public record NcclSettings(
            String file, @JsonInclude(Include.NON_EMPTY) String readers, Map<String, String> settings) {

        /** Tells whether every NCCL reads it. */
        public boolean isOfAllVersions() {
            return readers.isEmpty();
        }

        /** Tells whether RCCL reads it, and NCCL does not. */
        public boolean isOfRccl() {
            return NcclFile.isOfRccl(readers);
        }
    }

    public NcclFacts {
        environment = new TreeMap<>(environment);
    }

    /** Reads those of this machine, now. */
    public static NcclFacts of(Machine machine) {
        List<NcclSettings> files = files(machine);
        return new NcclFacts(variables(machine), files, missingPlugins(machine, files));
    }

    private static Map<String, String> variables(Machine machine) {
        Map<String, String> found = new TreeMap<>();
        machine.environment().forEach((name, value) -> {
            if (name.startsWith("NCCL_") || name.startsWith("TRIGON_") || OTHERS.contains(name)) {
                found.put(name, shown(name, value));
            }
        });
        return found;
    }

    private static List<NcclSettings> files(Machine machine) {
        return Stream.concat(NcclFile.of(machine).stream(), NcclFile.ofRccl(machine).stream())
                .map(file -> {
                    Map<String, String> settings = new TreeMap<>();
                    file.lines().forEach(line -> settings.putIfAbsent(line.name(), shown(line.name(), line.value())));
                    return new NcclSettings(file.path().toString(), file.readers(), settings);
                })
                .toList();
    }

    private static String shown(String name, String value) {
        return Redaction.isSecret(name) ? Redaction.HIDDEN : value;
    }

    /**
     * Values of which no part is a library. A part is a file, or a name as it stands or within {@code
     * libnccl-net-NAME.so}, for RCCL {@code librccl-net-NAME.so}.
     *
     * @param ncclFiles the files that NCCL reads, with their settings
     */
    private static List<String> missingPlugins(Machine machine, List<NcclSettings> ncclFiles) {
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
        return Stream.of(part, "libnccl-net-" + part + ".so", "librccl-net-" + part + ".so")
                .anyMatch(name -> isLibrary(machine, name));
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
