package trigon.cluster.machine;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NcclLibraryTest {

    @TempDir
    private Path root;

    private Optional<String> version(String name, byte[] bytes) throws IOException {
        Files.write(root.resolve(name), bytes);
        return NcclLibrary.version(new Machine(root, Map.of(), "a", "1.2.3", Optional.empty()), "/" + name);
    }

    private static byte[] saying(String text, int before) {
        byte[] all = new byte[before + text.length() + 100];
        byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
        System.arraycopy(bytes, 0, all, before, bytes.length);
        return all;
    }

    /** Each has it in a text that it writes to its log, with words of its own before the number. */
    @Test
    void ncclAndRcclSayTheirVersions() throws IOException {
        assertThat(version("libnccl.so.2", saying("NCCL version 2.30.7+cuda13.0", 5000)))
                .contains("2.30.7+cuda13.0");
        assertThat(version("librccl.so.1", saying("RCCL version : 2.27.7-HEAD:1a2b3c", 5000)))
                .contains("2.27.7-HEAD");
        assertThat(version("librccl.so.1.0", saying("RCCL version 2.22.3+hip6.4", 5000)))
                .contains("2.22.3+hip6.4");
    }

    /** The text may lie on the border of two pieces. */
    @Test
    void aVersionIsFoundWhereverItLies() throws IOException {
        for (int at = (1 << 20) - 40; at < (1 << 20) + 4; at++) {
            assertThat(version("librccl.so.1", saying("RCCL version : 2.27.7", at)))
                    .as("at %d", at)
                    .contains("2.27.7");
        }
    }

    /** The number of RCCL's file is ROCm's, not NCCL's. */
    @Test
    void aSilentLibraryIsKnownByNcclsNameAlone() throws IOException {
        assertThat(version("libnccl.so.2.22.3", new byte[100])).contains("2.22.3");
        assertThat(version("librccl.so.1.0.70200", new byte[100])).isEmpty();
    }
}
