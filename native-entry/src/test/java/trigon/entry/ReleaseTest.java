package trigon.entry;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReleaseTest {

    @TempDir
    private Path directory;

    @Test
    void isWhatTheInstallationsFileSays() throws IOException {
        Files.writeString(directory.resolve("release"), "TRIGON_VERSION=\"1.2.3\"\nARCH=\"x86_64\"\n");

        assertThat(Release.of(directory).version()).isEqualTo("1.2.3");
        assertThat(Release.of(directory)).asString().startsWith("Trigon 1.2.3 in " + directory + ", Java 25.");
    }

    @Test
    void isUnknownWithoutThatFile() {
        assertThat(Release.of(directory).version()).isEqualTo("of unknown version");
    }
}
