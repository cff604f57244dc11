package trigon.cluster.machine;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The kernel's bus has this machine's controllers, docks, other machines, and what these offer. */
class Usb4CableTest {

    @TempDir
    private Path sysfs;

    @Test
    void aMachineAtTheOtherEndIsACable() throws IOException {
        Path machine = device("0-1", "rx_speed", "20.0 Gb/s", "rx_lanes", "2", "device_name", "node-b");
        Files.createDirectories(machine.resolve("0-1.0/net/thunderbolt0"));
        device("0-3", "rx_speed", "20.0 Gb/s", "rx_lanes", "1");
        device("0-0", "authorized", "1", "rx_lanes", "2");
        device("domain0", "security", "user");

        assertThat(Usb4Cable.all(sysfs))
                .containsExactlyInAnyOrder(
                        new Usb4Cable("0-1", "node-b", 2, 40_000, Optional.of("thunderbolt0")),
                        new Usb4Cable("0-3", "", 1, 20_000, Optional.empty()));
    }

    @Test
    void aMachineWithoutTheBusHasNone() {
        assertThat(Usb4Cable.all(sysfs)).isEmpty();
    }

    private Path device(String name, String... files) throws IOException {
        Path device =
                Files.createDirectories(sysfs.resolve("bus/thunderbolt/devices").resolve(name));
        for (int i = 0; i < files.length; i += 2) {
            Files.writeString(device.resolve(files[i]), files[i + 1] + "\n");
        }
        return device;
    }
}
