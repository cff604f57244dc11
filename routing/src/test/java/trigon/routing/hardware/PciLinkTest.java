package trigon.routing.hardware;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import trigon.routing.hardware.NicHardware.PciLink;

class PciLinkTest {

    @ParameterizedTest
    @CsvSource({
        "2.5 GT/s PCIe, 1, 1802",
        "5.0 GT/s PCIe, 8, 28845",
        "8.0 GT/s PCIe, 8, 56802",
        "16.0 GT/s PCIe, 16, 227210",
        "32.0 GT/s PCIe, 4, 113605",
        "32 GT/s, 16, 454420",
        "64.0 GT/s PCIe, 4, 212732"
    })
    void carriesWhatItsLanesDoLessEncodingAndHeaders(String speed, String width, int mbps) {
        assertThat(PciLink.carriesMbps(speed + "\n", width + "\n")).isEqualTo(mbps);
    }

    @ParameterizedTest
    @CsvSource({"Unknown, 4", "32.0 GT/s PCIe, Unknown", "'', 4"})
    void saysSoWhereTheKernelDoesNotKnow(String speed, String width) {
        assertThatThrownBy(() -> PciLink.carriesMbps(speed, width)).isInstanceOf(NumberFormatException.class);
    }
}
