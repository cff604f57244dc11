package trigon.cluster.facts;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import trigon.cluster.facts.LinkFacts.Link;
import trigon.cluster.json.Json;
import trigon.cluster.json.JsonObject;
import trigon.cluster.machine.Machine;
import trigon.cluster.machine.MachineLinks;
import trigon.cluster.machine.NcclLibrary;
import trigon.system.file.OpenFile;

/**
 * What the table was made for that this node's policy is: {@code trigon tune} has written it into the object.
 *
 * @param file of the policy
 * @param nccl version of NCCL then; empty if it was not known
 * @param ncclNow version of the same library now; empty likewise
 * @param links of this node then, a kind and a speed each; empty if they were not known
 * @param linksNow those of now
 */
public record TunedTable(String file, String nccl, String ncclNow, List<String> links, List<String> linksNow) {

    /** Begins the table's data in {@code policy/examples/tuning.c}; a zero follows. */
    public static final String MARK = "trigon-tuning/1";

    /** Bytes from the mark to the text, behind the rows. */
    public static final int TEXT_OFFSET = 16 + 8 + 128 * 40;

    /** Bytes of the text and the zero behind it. */
    public static final int MAX_TEXT = 8192;

    private static final int MAX_OBJECT = 4 << 20;

    private static final String SHORT_NAME = "libnccl.so.2";

    /** Place of the mark in an object; below 0: it has none. */
    public static int markIn(byte[] object) {
        int at = new String(object, StandardCharsets.ISO_8859_1).indexOf(MARK + "\0");
        return at + TEXT_OFFSET + MAX_TEXT <= object.length ? at : -1;
    }

    /**
     * The text for a new table.
     *
     * @param library the file of NCCL; empty if it is not known
     * @param links of each node, by its host name
     */
    public static String text(String library, String nccl, Map<String, List<String>> links) {
        return Json.text(Json.object("library", library, "nccl", nccl, "links", links));
    }

    /** The links of this machine, in an order that is always the same. */
    public static List<String> linksOf(MachineLinks links) {
        return links.discovered().links().stream()
                .map(link -> Link.of(link))
                .map(link -> link.kind() + " " + link.speedMbps())
                .sorted()
                .toList();
    }

    /** Reads what a policy's file says; empty if it has no such table. */
    static Optional<TunedTable> of(Machine machine, Path file, MachineLinks links) {
        try (OpenFile object = OpenFile.open(machine.file(file.toString()))) {
            byte[] bytes = object.read((int) Math.min(object.size(), MAX_OBJECT));
            int mark = markIn(bytes);
            if (mark < 0) {
                return Optional.empty();
            }
            int start = mark + TEXT_OFFSET;
            int length = 0;
            while (length < MAX_TEXT && bytes[start + length] != 0) {
                length++;
            }
            byte[] text = Arrays.copyOfRange(bytes, start, start + length);
            JsonObject said = JsonObject.parse(new String(text, StandardCharsets.UTF_8).strip());
            return Optional.of(new TunedTable(
                    file.toString(),
                    said.text("nccl"),
                    versionNow(machine, said.text("library")),
                    said.object("links").texts(machine.hostName()),
                    linksOf(links)));
        } catch (IOException | IllegalArgumentException _) {
            return Optional.empty(); // a policy of another kind, or none; a job says what is wrong with it
        }
    }

    /** An update may have given the file another name, to which the short one leads. */
    private static String versionNow(Machine machine, String library) {
        if (!library.startsWith("/")) {
            return "";
        }
        String there = Files.exists(machine.file(library)) ? library : library.replaceFirst("[^/]*$", SHORT_NAME);
        return Files.exists(machine.file(there))
                ? NcclLibrary.version(machine, there).orElse("")
                : "";
    }

    /** Tells whether NCCL is another version now. */
    public boolean hasOtherNccl() {
        return !nccl.isEmpty() && !ncclNow.isEmpty() && !nccl.equals(ncclNow);
    }

    /** Tells whether the links have another number, kind or speed now. */
    public boolean hasOtherLinks() {
        return !links.isEmpty() && !links.equals(linksNow);
    }
}
