package trigon.routing;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BandwidthTest {

    @ParameterizedTest
    @CsvSource({"0, 0", "1, 1", "2, 2", "100, 2", "1000, 9", "2500, 11", "10000, 15", "100000, 22", "10000000, 30"})
    void stepsAreWhatPeersAreTold(int mbps, int step) {
        assertThat(Bandwidth.of(mbps)).isEqualTo(new Bandwidth(step));
    }

    @ParameterizedTest
    @CsvSource({"1000, 2500", "2500, 5000", "5000, 10000", "10000, 25000", "25000, 40000", "50000, 100000"})
    void usualSpeedsAreApart(int slower, int faster) {
        assertThat(Bandwidth.of(faster).exceeds(Bandwidth.of(slower))).isTrue();
    }

    @Test
    void whatADriverTakesAwayDoesNotCount() {
        assertThat(Bandwidth.of(9_850)).isEqualTo(Bandwidth.of(10_000));
    }

    @Test
    void aRelayPassesOnByOneLinkWhatComesByAnother() {
        assertThat(Bandwidth.ofRelayed(10_000, 1)).isEqualTo(Bandwidth.of(5_000));
        assertThat(Bandwidth.ofRelayed(1, 1)).isEqualTo(Bandwidth.of(1));
        assertThat(Bandwidth.ofRelayed(0, 3)).isEqualTo(Bandwidth.of(0));
        assertThat(Bandwidth.ofRelayed(2, 3).exceeds(Bandwidth.of(1))).isTrue();
    }

    @Test
    void saysWhatItIs() {
        assertThat(Bandwidth.of(0)).hasToString("last resort");
        assertThat(Bandwidth.of(1)).hasToString("unknown");
        assertThat(Bandwidth.of(100)).hasToString("100 Mb/s");
        assertThat(Bandwidth.NOT_TOLD).hasToString("not told");
    }
}
