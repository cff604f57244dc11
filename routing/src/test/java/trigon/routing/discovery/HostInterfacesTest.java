package trigon.routing.discovery;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The speed of an interface, by what the kernel says of it. */
class HostInterfacesTest {

    @TempDir
    @SuppressWarnings("NullAway.Init")
    private Path sysfs;

    @ParameterizedTest
    @CsvSource({"10000, up, 10000", "-1, up, 0", "-1, unknown, 0", "-1, down, 10000", "-1, lowerlayerdown, 10000"})
    void withoutCarrierTheUsualSpeedIsAssumed(String speed, String state, int expected) throws IOException {
        Path directory = Files.createDirectory(sysfs.resolve("net0"));
        Files.writeString(directory.resolve("speed"), speed + "\n");
        Files.writeString(directory.resolve("operstate"), state + "\n");

        assertThat(HostInterfaces.speedMbps(directory)).isEqualTo(expected);
    }

    @Test
    void aSpeedThatCannotBeReadIsNotKnown() {
        assertThat(HostInterfaces.speedMbps(sysfs.resolve("missing"))).isZero();
    }
}
