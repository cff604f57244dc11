package trigon.routing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the kernel says an interface is, and what its speed counts by that. */
class LinkUseTest {

    @TempDir
    @SuppressWarnings("NullAway.Init")
    private Path sysfs;

    @ParameterizedTest
    @ValueSource(strings = {"wireless", "phy80211"})
    void wirelessInterfacesAreALastResort(String directory) throws IOException {
        Files.createDirectories(sysfs.resolve("wlp1s0").resolve(directory));

        assertThat(LinkUse.of(sysfs.resolve("wlp1s0"))).isEqualTo(LinkUse.LAST_RESORT);
    }

    @ParameterizedTest
    @CsvSource({"wlan, LAST_RESORT", "wwan, LAST_RESORT", "gadget, LAST_RESORT", "vlan, DATA", "bridge, DATA"})
    void theKernelsTypeDecides(String type, LinkUse expected) throws IOException {
        Path directory = Files.createDirectory(sysfs.resolve("net0"));
        Files.writeString(directory.resolve("uevent"), "DEVTYPE=" + type + "\nINTERFACE=net0\nIFINDEX=3\n");

        assertThat(LinkUse.of(directory)).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({"usb0, LAST_RESORT", "wwan1, LAST_RESORT", "enp2s0, DATA", "usbridge, DATA", "wlp1s0, DATA"})
    void whereTheKernelSaysNothingItsNameDoes(String name, LinkUse expected) {
        assertThat(LinkUse.of(sysfs.resolve(name))).isEqualTo(expected);
    }

    @Test
    void whatIsNotKnownCountsLessThanAnythingKnownAndMoreThanALastResort() {
        assertThat(LinkUse.LAST_RESORT.countedMbps(100_000)).isZero();
        assertThat(LinkUse.DATA.countedMbps(0)).isEqualTo(1);
        assertThat(LinkUse.BOOTSTRAP.countedMbps(0)).isEqualTo(1);
        assertThat(LinkUse.BOOTSTRAP.countedMbps(10)).isEqualTo(2);
        assertThat(LinkUse.BOOTSTRAP.countedMbps(10_000)).isEqualTo(1000);
        assertThat(LinkUse.DATA.countedMbps(10_000)).isEqualTo(10_000);
    }
}
