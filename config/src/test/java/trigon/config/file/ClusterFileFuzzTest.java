package trigon.config.file;

import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import trigon.config.setting.ConfigException;

/** Whatever is in the cluster's file, it is settings, or refused in one line that names the file. */
@Tag("fuzz")
class ClusterFileFuzzTest {

    private static final Path NAME = Path.of("/etc/trigon.yaml");

    @FuzzTest
    void filesAreReadOrRefused(byte[] data) {
        try {
            assertThat(SettingsDecoder.decode(ConfigFile.of(NAME, data)).settings())
                    .isNotNull();
        } catch (ConfigException e) {
            assertThat(e.getMessage()).startsWith(NAME.toString()).doesNotContainPattern("\\p{Cc}");
        }
    }
}
