package trigon.entry.host;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import trigon.nccl.NcclResult;
import trigon.verbs.VerbsException;

class CallFailuresTest {

    @Test
    void mapsExceptionsToResults() {
        assertThat(CallFailures.result(new VerbsException("ibv_reg_mr", "mlx5_0", 12, "")))
                .isEqualTo(NcclResult.SYSTEM_ERROR);
        assertThat(CallFailures.result(new IllegalArgumentException("no device 9")))
                .isEqualTo(NcclResult.INVALID_ARGUMENT);
        assertThat(CallFailures.result(new InstallationException("no jars"))).isEqualTo(NcclResult.INVALID_USAGE);
        assertThat(CallFailures.result(new NullPointerException())).isEqualTo(NcclResult.INTERNAL_ERROR);
        assertThat(CallFailures.result(new StackOverflowError())).isEqualTo(NcclResult.INTERNAL_ERROR);
    }
}
