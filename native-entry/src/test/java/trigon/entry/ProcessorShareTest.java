package trigon.entry;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ProcessorShareTest {

    @ParameterizedTest
    @CsvSource({"1, 16", "2, 8", "4, 4", "5, 3", "64, 1"})
    void dividesAmongTheProcessesOfTheMachine(String processes, int share) {
        assertThat(ProcessorShare.of(Map.of("LOCAL_WORLD_SIZE", processes), 16, 16))
                .isEqualTo(share);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "SLURM_NTASKS_PER_NODE", "MPI_LOCALNRANKS"})
    void readsWhatEachLauncherSays(String variable) {
        assertThat(ProcessorShare.of(Map.of(variable, " 4 "), 16, 16)).isEqualTo(4);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0", "-2", "four", "4(x2)", "99999999999"})
    void takesWhatIsNoNumberOfProcessesForNothing(String text) {
        assertThat(ProcessorShare.of(Map.of("LOCAL_WORLD_SIZE", text, "MPI_LOCALNRANKS", "2"), 16, 16))
                .isEqualTo(8);
    }

    @Test
    void doesNotDivideWhatTheLauncherHasBound() {
        assertThat(ProcessorShare.of(Map.of("LOCAL_WORLD_SIZE", "4"), 16, 64)).isEqualTo(16);
        assertThat(ProcessorShare.of(Map.of("LOCAL_WORLD_SIZE", "4"), 17, 64)).isEqualTo(4);
    }

    @Test
    void hasAllWhereNobodySaysHowManyThereAre() {
        assertThat(ProcessorShare.of(Map.of(), 16, 16)).isEqualTo(16);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {"0|1", "0-15|16", "0-3,8|5", "0,2,4-5|4"})
    void countsTheKernelsList(String list, int processors) {
        assertThat(ProcessorShare.count(list + "\n")).isEqualTo(processors);
    }
}
