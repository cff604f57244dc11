package trigon.integration;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A cable is cut under a running all-reduce, as the command shows it: in network namespaces, or else without. */
@Timeout(300)
class CutDemoIT {

    @Test
    void theJobGoesOnAndReturns() throws Exception {
        String command = HostProgram.distribution().resolve("bin/trigon").toString();
        Process demo = new ProcessBuilder(command, "demo", "--cut", "--away", "1")
                .redirectErrorStream(true)
                .start();
        String output = new String(demo.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertThat(demo.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(demo.exitValue()).as(output).isZero();
        assertThat(output)
                .contains("a: the connection to b goes on over")
                .contains("Every element was right on every rank")
                .doesNotContain(" 1 wrong");
        if (output.contains("in network namespaces")) {
            assertThat(output).contains("a: the connection to b returns to");
        }
    }
}
