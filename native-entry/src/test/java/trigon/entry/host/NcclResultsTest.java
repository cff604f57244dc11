package trigon.entry.host;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import trigon.nccl.NcclResult;
import trigon.verbs.VerbsException;

class NcclResultsTest {

    @Test
    void mapsExceptionsToResults() {
        assertThat(NcclResults.of(new VerbsException("ibv_reg_mr", "mlx5_0", 12, "")))
                .isEqualTo(NcclResult.SYSTEM_ERROR);
        assertThat(NcclResults.of(new IllegalArgumentException("no device 9"))).isEqualTo(NcclResult.INVALID_ARGUMENT);
        assertThat(NcclResults.of(new InstallationException("no jars"))).isEqualTo(NcclResult.INVALID_USAGE);
        assertThat(NcclResults.of(new NullPointerException())).isEqualTo(NcclResult.INTERNAL_ERROR);
        assertThat(NcclResults.of(new StackOverflowError())).isEqualTo(NcclResult.INTERNAL_ERROR);
    }
}
