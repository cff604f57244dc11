package trigon.verbs.ffm;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Guards the generated bindings against edits by hand: they change through {@code src/jextract/regenerate.sh} only. */
class GeneratedBindingsTest {

    private static final Path BINDINGS = Path.of("src/generated/java");
    private static final Path CHECKSUMS = Path.of("src/jextract/generated.sha256");

    @Test
    void areAsGenerated() throws Exception {
        assertThat(checksumsOfFiles())
                .as("a generated file was edited, added or removed; run src/jextract/regenerate.sh instead")
                .isEqualTo(recordedChecksums())
                .isNotEmpty();
    }

    /** Lines of {@code sha256sum(1)}: checksum, two spaces, path. */
    private static Map<String, String> recordedChecksums() throws IOException {
        Map<String, String> checksums = new TreeMap<>();
        for (String line : Files.readAllLines(CHECKSUMS)) {
            int separator = line.indexOf("  ");
            checksums.put(line.substring(separator + 2), line.substring(0, separator));
        }
        return checksums;
    }

    private static Map<String, String> checksumsOfFiles() throws IOException, NoSuchAlgorithmException {
        Map<String, String> checksums = new TreeMap<>();
        try (Stream<Path> files = Files.walk(BINDINGS)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                byte[] digest = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file));
                checksums.put(
                        BINDINGS.relativize(file).toString(), HexFormat.of().formatHex(digest));
            }
        }
        return checksums;
    }
}
