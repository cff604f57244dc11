package trigon.software;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LaneSettingsTest {

    private static final LaneSettings.Cut CUT = new LaneSettings.Cut(8_000, 32_000, 96_000, 12);

    @ParameterizedTest
    @CsvSource({
        // one queue pair sends: by length alone
        "8000, 1, 1",
        "63999, 1, 1",
        "64000, 1, 2",
        "287999, 1, 2",
        "288000, 1, 3",
        "1152000, 1, 12",
        "100000000, 1, 12",
        // several share what may be under way
        "100000000, 0, 12",
        "100000000, 2, 6",
        "100000000, 4, 3",
        "100000000, 5, 2",
        "100000000, 6, 2",
        "100000000, 1000, 2",
        "40000, 1000, 1",
    })
    void aMessageIsCut(int length, int senders, int pieces) {
        assertThat(CUT.pieces(length, senders)).isEqualTo(pieces);
    }

    @Test
    void noPieceIsEmpty() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new LaneSettings.Cut(1, 0, 1, 1))
                .withMessageContaining("pieces of 0 or 1 B");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new LaneSettings.Cut(1, 2, 1, 1))
                .withMessageContaining("pieces of 2 or 1 B");
    }

    @ParameterizedTest
    @CsvSource({"4, 1, 2", "7, 1, 2", "8, 3, 2", "9, 3, 2", "12, 4, 2", "15, 4, 2", "16, 4, 3", "1000, 4, 3"})
    void areForMachinesWithCoresToSpare(int cores, int workers, int lanes) {
        LaneSettings settings = LaneSettings.forCores(cores);
        assertThat(settings.first().count()).isEqualTo(workers);
        assertThat(settings.others().count()).isEqualTo(workers);
        assertThat(settings.perQueuePair()).isEqualTo(lanes);
        assertThat(workers * lanes).isLessThanOrEqualTo(cores * 3 / 4);
    }

    @Test
    void onlyLongMessagesGoOnThemWithFewCores() {
        assertThat(LaneSettings.forCores(7).cut().fromBytes())
                .isGreaterThan(LaneSettings.forCores(8).cut().fromBytes());
    }

    @Test
    void thereAreNoneWithFewerCoresStill() {
        assertThat(LaneSettings.forCores(3)).isEqualTo(LaneSettings.NONE);
        assertThat(LaneSettings.NONE.areUsed()).isFalse();
    }
}
