package trigon.tools.demo;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;

/**
 * The settings of all nodes of a demo.
 *
 * @param links the setting of that name
 * @param handshake the settings of the handshake; empty for the usual ones
 * @param nics by the node's name
 */
record ClusterFile(String links, String handshake, SortedMap<Character, List<Nic>> nics) {

    private static final int FIRST_PORT = 20_000;
    private static final int PORTS = 10_000;

    /** Writes the file, for the variable {@code TRIGON_CONFIG}. */
    void write(Path file) throws IOException {
        Files.writeString(file, """
                version: 1
                links: %s
                handshake: {%s}
                topology: {port: %d}
                nodes:
                %s
                """.formatted(
                links, handshake, FIRST_PORT + ThreadLocalRandom.current().nextInt(PORTS), nodes()));
    }

    /** The entry of each node. */
    String nodes() {
        return nics.entrySet().stream().map(ClusterFile::node).collect(Collectors.joining("\n"));
    }

    /** In one line if it has room, or else each NIC in a line of its own. */
    private static String node(Map.Entry<Character, List<Nic>> node) {
        String before = "  " + node.getKey() + ": {nics: [";
        List<String> nics = node.getValue().stream().map(Nic::toString).toList();
        String line = before + String.join(", ", nics) + "]}";
        return line.length() <= Report.COLUMNS
                ? line
                : before + String.join(",\n" + " ".repeat(before.length()), nics) + "]}";
    }
}
