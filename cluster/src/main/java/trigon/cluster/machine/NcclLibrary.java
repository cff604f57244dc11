package trigon.cluster.machine;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import trigon.system.file.OpenFile;

/** The version of a file that is NCCL, or RCCL, whose versions are NCCL's. */
public final class NcclLibrary {

    private static final Pattern VERSION = Pattern.compile("[NR]CCL version (?:: )?(\\d+\\.\\d+\\.\\d+[\\w.+-]*)");
    private static final Pattern NUMBERED = Pattern.compile("libnccl\\.so\\.(\\d+\\.\\d+\\.\\d+)( \\(deleted\\))?");
    private static final int PIECE_BYTES = 1 << 20;
    private static final int MAX_OF_A_VERSION = 64;
    private static final long MAX_OF_A_LIBRARY = 1L << 30;

    private NcclLibrary() {}

    /** The version from the library itself or else from its file name; empty if neither has it. */
    public static Optional<String> version(Machine machine, String library) {
        Optional<String> said = said(machine.file(library));
        if (said.isPresent()) {
            return said;
        }
        Matcher numbered = NUMBERED.matcher(library.substring(library.lastIndexOf('/') + 1));
        return numbered.matches() ? Optional.of(numbered.group(1)) : Optional.empty();
    }

    /** Reads in pieces: the library has hundreds of megabytes, and a stranger's file may be anything. */
    private static Optional<String> said(Path file) {
        try (OpenFile library = OpenFile.open(file)) {
            long end = Math.min(library.size(), MAX_OF_A_LIBRARY);
            for (long at = 0; at < end; at += PIECE_BYTES - MAX_OF_A_VERSION) {
                String piece = new String(library.read(at, PIECE_BYTES), StandardCharsets.ISO_8859_1);
                Matcher said = VERSION.matcher(piece);
                if (said.find()) {
                    return Optional.of(said.group(1));
                }
            }
        } catch (IOException _) {
            // not readable: by its name, then
        }
        return Optional.empty();
    }
}
