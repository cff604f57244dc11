package trigon.policy.host;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileWatchTest {

    private static final int DEADLINE_SECONDS = 30;

    @TempDir
    private Path folder;

    @Test
    void looksFirstAndAfterEachChange() throws Exception {
        Path file = folder.resolve("policy.o");
        LinkedBlockingQueue<String> looks = new LinkedBlockingQueue<>();
        Thread watch = Thread.ofPlatform()
                .daemon()
                .start(new FileWatch(
                        file, Duration.ofMillis(10), () -> looks.add(Files.exists(file) ? "there" : "none"), () -> {}));
        try {
            assertThat(looks.poll(DEADLINE_SECONDS, TimeUnit.SECONDS)).isEqualTo("none");
            Files.writeString(file, "a");
            assertThat(looks.poll(DEADLINE_SECONDS, TimeUnit.SECONDS)).isEqualTo("there");
            Files.writeString(file, "ab");
            assertThat(looks.poll(DEADLINE_SECONDS, TimeUnit.SECONDS)).isEqualTo("there");
            Files.delete(file);
            assertThat(looks.poll(DEADLINE_SECONDS, TimeUnit.SECONDS)).isEqualTo("none");
        } finally {
            watch.interrupt();
            watch.join();
        }
    }
}
