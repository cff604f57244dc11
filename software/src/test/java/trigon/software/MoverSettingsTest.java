package trigon.software;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MoverSettingsTest {

    @ParameterizedTest
    @CsvSource({"1, 0", "2, 0", "3, 0", "4, 2", "7, 3", "8, 4", "16, 8", "128, 8"})
    void leavesProcessorsToOthers(int processors, int threads) {
        assertThat(MoverSettings.forProcessors(processors).threads()).isEqualTo(threads);
    }

    @Test
    void movesOnlyLongMessagesWhereThereAreFewProcessors() {
        assertThat(MoverSettings.forProcessors(7).fromBytes())
                .isGreaterThan(MoverSettings.forProcessors(8).fromBytes());
        assertThat(MoverSettings.forProcessors(3)).isEqualTo(MoverSettings.NONE);
    }

    @Test
    void refusesWhatCannotBe() {
        assertThatIllegalArgumentException().isThrownBy(() -> new MoverSettings(-1, 1));
        assertThatIllegalArgumentException().isThrownBy(() -> new MoverSettings(1, 0));
    }
}
