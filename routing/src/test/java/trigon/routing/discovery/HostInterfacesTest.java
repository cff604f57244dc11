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

    /** As the kernel has it: the interface's device is a service of the machine at the other end. */
    @ParameterizedTest
    @CsvSource({
        "20.0 Gb/s, 2, 40000",
        "10.0 Gb/s, 1, 10000",
        "20.0 Gb/s, 0, 0",
        "20.0 Gb/s, many, 0",
        "-1.0 Gb/s, 2, 0",
        "1e99 Gb/s, 2, 0"
    })
    void aUsb4CableTellsTheSpeedThatItsInterfaceDoesNot(String speed, String lanes, int expected) throws IOException {
        Path machine = Files.createDirectories(sysfs.resolve("devices/domain0/0-0/0-1"));
        Files.writeString(machine.resolve("rx_speed"), speed + "\n");
        Files.writeString(machine.resolve("rx_lanes"), lanes + "\n");
        Path nic = Files.createDirectories(machine.resolve("0-1.0/net/thunderbolt0"));
        Files.createSymbolicLink(nic.resolve("device"), machine.resolve("0-1.0"));
        Files.writeString(nic.resolve("speed"), "-1\n");
        Files.writeString(nic.resolve("operstate"), "up\n");

        assertThat(HostInterfaces.speedMbps(nic)).isEqualTo(expected);
    }
}
