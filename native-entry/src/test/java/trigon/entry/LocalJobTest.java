package trigon.entry;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class LocalJobTest {

    @Test
    void isCertainWhereTheLauncherSaysThatAllRanksAreHere() {
        assertThat(LocalJob.isCertain(Map.of("LOCAL_WORLD_SIZE", "2", "WORLD_SIZE", "2")))
                .isTrue();
        assertThat(LocalJob.isCertain(Map.of("OMPI_COMM_WORLD_LOCAL_SIZE", "8", "OMPI_COMM_WORLD_SIZE", "8")))
                .isTrue();
        assertThat(LocalJob.isCertain(Map.of("SLURM_NNODES", "1"))).isTrue();
        assertThat(LocalJob.isCertain(Map.of("SLURM_NNODES", "4", "SLURM_STEP_NUM_NODES", "1")))
                .isTrue();
    }

    @Test
    void knowsTheProcesssNumberHere() {
        assertThat(LocalJob.localRank(Map.of("LOCAL_RANK", "3", "SLURM_LOCALID", "5")))
                .isEqualTo(3);
        assertThat(LocalJob.localRank(Map.of("SLURM_LOCALID", " 5 "))).isEqualTo(5);
        assertThat(LocalJob.localRank(Map.of("LOCAL_RANK", "-1", "MPI_LOCALRANKID", "2")))
                .isEqualTo(2);
        assertThat(LocalJob.localRank(Map.of())).isZero();
    }

    @Test
    void isNotWhereOthersAreElsewhereOrNobodySays() {
        assertThat(LocalJob.isCertain(Map.of("LOCAL_WORLD_SIZE", "2", "WORLD_SIZE", "4")))
                .isFalse();
        assertThat(LocalJob.isCertain(Map.of("LOCAL_WORLD_SIZE", "2"))).isFalse();
        assertThat(LocalJob.isCertain(Map.of("SLURM_NNODES", "2"))).isFalse();
        assertThat(LocalJob.isCertain(Map.of())).isFalse();
    }
}
