package trigon.software.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** In a process of its own, which has little memory outside the heap. */
@Timeout(120)
class LackOfMemoryTest {

    private static final long PATIENCE_SECONDS = 100;

    @Test
    void failsWhoMeetsItAndNobodyElse() throws IOException, InterruptedException, ExecutionException, TimeoutException {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-Xmx64m",
                        "-XX:MaxDirectMemorySize=8m",
                        "--enable-native-access=ALL-UNNAMED",
                        "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
                        "-Dtrigon.lane.library=" + System.getProperty("trigon.lane.library", ""),
                        "-cp",
                        System.getProperty("jdk.module.path", "")
                                + System.getProperty("path.separator")
                                + System.getProperty("java.class.path"),
                        DirectMemoryUsedUp.class.getName())
                .redirectErrorStream(true)
                .start();
        try {
            String said = CompletableFuture.supplyAsync(() -> output(process)).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
            assertThat(said).contains(DirectMemoryUsedUp.PASSED);
            assertThat(process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).as(said).isZero();
        } finally {
            process.destroyForcibly();
        }
    }

    private static String output(Process process) {
        try {
            return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            return e.toString();
        }
    }
}
