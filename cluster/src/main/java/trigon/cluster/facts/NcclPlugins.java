package trigon.cluster.facts;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import trigon.cluster.facts.NcclFacts.NcclFile;
import trigon.cluster.machine.Machine;

/** Whether there are libraries by the names that {@code NCCL_NET_PLUGIN} has, as NCCL and the loader look for them. */
final class NcclPlugins {

    private static final String VARIABLE = "NCCL_NET_PLUGIN";

    /** Where the loader looks besides its cache, see ld.so(8); of distributions with several architectures as well. */
    private static final List<String> FOLDERS = List.of(
            "/lib", "/usr/lib", "/lib64", "/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu");

    private NcclPlugins() {}

    /**
     * Values of which no part is a library. A part is a file, or a name as it stands or within {@code
     * libnccl-net-NAME.so}.
     *
     * @param ncclFiles the files that NCCL reads, with their settings
     */
    static List<String> missing(Machine machine, List<NcclFile> ncclFiles) {
        return Stream.concat(
                        Stream.of(machine.environment().getOrDefault(VARIABLE, "")),
                        ncclFiles.stream().map(file -> file.settings().getOrDefault(VARIABLE, "")))
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
