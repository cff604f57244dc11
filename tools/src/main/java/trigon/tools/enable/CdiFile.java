package trigon.tools.enable;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import trigon.cluster.json.Json;
import trigon.cluster.machine.Machine;

/**
 * The description of Trigon for container engines, {@code --device trigon.dev/net=all}. Pure.
 *
 * @see <a href="https://github.com/cncf-tags/container-device-interface/blob/main/SPEC.md">CDI</a>
 */
final class CdiFile {

    private static final String FIRST_LINE = "# Written by \"trigon enable --cdi\"; \"trigon disable\" removes it.\n";

    private static final List<String> OPTIONS = List.of("ro", "nosuid", "nodev", "bind");

    private CdiFile() {}

    /**
     * Its text: JSON, which is YAML, too.
     *
     * @param mounts files and folders, which containers have at the same places
     */
    static String text(Machine machine, List<Path> mounts) {
        Map<String, Object> edits = new LinkedHashMap<>();
        List<Map<String, Object>> devices = Machine.entries(machine.file("dev/infiniband")).stream()
                .filter(device -> !Files.isDirectory(device))
                .map(device -> Json.object("path", "/dev/infiniband/" + device.getFileName()))
                .toList();
        if (!devices.isEmpty()) {
            edits.put("deviceNodes", devices);
        }
        edits.put("mounts", mounts.stream().map(CdiFile::mount).toList());
        return FIRST_LINE
                + Json.text(Json.object(
                        "cdiVersion",
                        "0.3.0",
                        "kind",
                        "trigon.dev/net",
                        "devices",
                        List.of(Json.object("name", "all", "containerEdits", edits))));
    }

    private static Map<String, Object> mount(Path path) {
        return Json.object("hostPath", path.toString(), "containerPath", path.toString(), "options", OPTIONS);
    }

    /** Tells whether a text is of this class. */
    static boolean isOwn(String text) {
        return text.startsWith(FIRST_LINE);
    }
}
