package trigon.config.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import trigon.config.PluginConfig;
import trigon.config.Settings;
import trigon.config.file.ConfigLoader;
import trigon.config.file.TestFile;
import trigon.config.setting.ConfigException;
import trigon.config.setting.Source;

class ClusterKeyTest {

    private static final String KEY = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    private static final byte[] KEY_BYTES = KEY.getBytes(StandardCharsets.US_ASCII);

    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path directory;

    @Test
    void thereIsNoneByDefault() {
        PluginConfig config = ConfigLoader.load(Map.of(), "a");

        assertThat(config.handshake().clusterKey()).isEmpty();
        assertThat(config.describe()).contains("handshake.clusterKeyFile: none (default)");
    }

    @Test
    void theEnvironmentNamesItsFile() throws IOException {
        Path file = keyFile("rw-------", KEY + "\n");

        PluginConfig config = ofEnvironment(file.toString());

        assertThat(config.handshake().clusterKey().orElseThrow().bytes()).isEqualTo(KEY_BYTES);
        assertThat(config.sourceOf(Settings.CLUSTER_KEY_FILE))
                .isEqualTo(new Source.Environment("TRIGON_CLUSTER_KEY_FILE"));
    }

    @Test
    void theConfigurationNamesItsFile() throws IOException {
        Path file = keyFile("r--------", KEY);

        PluginConfig config = TestFile.of(
                        directory, "version: 1\nhandshake: {timeout: 2s, clusterKeyFile: %s}\n".formatted(file))
                .load();

        assertThat(config.handshake().clusterKey().orElseThrow().bytes()).isEqualTo(KEY_BYTES);
        assertThat(config.handshake().timeout()).hasSeconds(2);
        assertThat(config.describe())
                .anySatisfy(line -> assertThat(line)
                        .startsWith("handshake.clusterKeyFile: " + file + ", fingerprint ")
                        .endsWith("trigon.yaml:2)"));
    }

    @Test
    void theEnvironmentGoesBeforeTheConfiguration() throws IOException {
        Path file = keyFile("rw-------", KEY);
        TestFile yaml = TestFile.of(directory, "version: 1\nhandshake: {clusterKeyFile: /there/is/none}\n");

        PluginConfig config = ConfigLoader.load(
                Map.of("TRIGON_CONFIG", yaml.path().toString(), "TRIGON_CLUSTER_KEY_FILE", file.toString()), "a");

        assertThat(config.handshake().clusterKey()).contains(new ClusterKey(file, KEY_BYTES));
    }

    @ParameterizedTest
    @ValueSource(strings = {"rw-r-----", "rw-rw----", "rw----r--", "rw-----w-", "rw------x", "rwxrwxrwx", "rw--w----"})
    void othersMustNotReadIt(String permissions) throws IOException {
        Path file = keyFile(permissions, KEY);
        // a file of root's may be read by its group
        if (permissions.equals("rw-r-----")
                && Files.getAttribute(file, "unix:uid").equals(0)) {
            assertThat(ofEnvironment(file.toString()).handshake().clusterKey()).isPresent();
            return;
        }

        assertThatExceptionOfType(ConfigException.class)
                .isThrownBy(() -> ofEnvironment(file.toString()))
                .withMessageContaining(file.toString())
                .withMessageContaining("TRIGON_CLUSTER_KEY_FILE")
                .withMessageContaining("others than its owner can use it (" + permissions + ")")
                .withMessageContaining("chmod 600 " + file);
    }

    @Test
    void rootMayShareItsFileWithAGroup() throws IOException {
        Path file = keyFile("rw-r-----", KEY);
        boolean ofRoot = Files.getAttribute(file, "unix:uid").equals(0);

        if (ofRoot) {
            assertThat(ofEnvironment(file.toString()).handshake().clusterKey()).isPresent();
        } else {
            assertThatExceptionOfType(ConfigException.class).isThrownBy(() -> ofEnvironment(file.toString()));
        }
    }

    @Test
    void aShortKeyIsRefused() throws IOException {
        Path file = keyFile("rw-------", KEY.substring(0, 31) + " \n\n");

        assertThatExceptionOfType(ConfigException.class)
                .isThrownBy(() -> ofEnvironment(file.toString()))
                .withMessageContaining("its key has 31 bytes, fewer than the minimum of 32;")
                .withMessageContaining("openssl rand -hex 32")
                .withMessageNotContaining(KEY.substring(0, 31));
    }

    @Test
    void aLongFileIsRefused() throws IOException {
        Path file = keyFile("rw-------", "x".repeat(ClusterKey.MAX_BYTES + 1));

        assertThatExceptionOfType(ConfigException.class)
                .isThrownBy(() -> ofEnvironment(file.toString()))
                .withMessageContaining("longer than 4096 bytes");
    }

    @Test
    void aMissingFileIsNamed() {
        assertThatExceptionOfType(ConfigException.class)
                .isThrownBy(() -> ofEnvironment("/there/is/none"))
                .withMessageContaining("/there/is/none")
                .withMessageContaining("there is no such file");
    }

    @Test
    void aDirectoryIsNoKey() {
        assertThatExceptionOfType(ConfigException.class)
                .isThrownBy(() -> ofEnvironment(directory.toString()))
                .withMessageContaining("not a regular file");
    }

    @Test
    void thePathIsAbsolute() {
        assertThatExceptionOfType(ConfigException.class)
                .isThrownBy(() -> ofEnvironment("cluster.key"))
                .withMessageContaining("TRIGON_CLUSTER_KEY_FILE")
                .withMessageContaining("absolute path");
        assertThat(TestFile.of(directory, "version: 1\nhandshake: {clusterKeyFile: cluster.key}\n")
                        .error())
                .contains("trigon.yaml:2: handshake.clusterKeyFile is ")
                .contains("absolute path");
    }

    @Test
    void keysAreToldApartWithoutBeingShown() throws IOException {
        ClusterKey key = new ClusterKey(Path.of("/k"), KEY_BYTES);
        ClusterKey other = new ClusterKey(Path.of("/k"), KEY.replace('0', 'f').getBytes(StandardCharsets.US_ASCII));

        assertThat(key.fingerprint()).matches("[0-9a-f]{8}").isNotEqualTo(other.fingerprint());
        assertThat(key).isNotEqualTo(other).hasToString("/k, fingerprint " + key.fingerprint());
        Path file = keyFile("rw-------", KEY);
        assertThat(ofEnvironment(file.toString()).toString()).doesNotContain(KEY);
        assertThat(ofEnvironment(file.toString()).describe().toString()).doesNotContain(KEY);
    }

    private static PluginConfig ofEnvironment(String file) {
        return ConfigLoader.load(Map.of("TRIGON_CLUSTER_KEY_FILE", file), "a");
    }

    private Path keyFile(String permissions, String content) throws IOException {
        Path file = Files.writeString(directory.resolve("cluster.key"), content);
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
    }
}
