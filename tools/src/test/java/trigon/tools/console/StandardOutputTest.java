package trigon.tools.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class StandardOutputTest {

    @Test
    void aFullFileSystemIsALoss() throws IOException {
        try (FileOutputStream full = new FileOutputStream("/dev/full")) {
            StandardOutput output = new StandardOutput(full);
            new PrintStream(output, true, StandardCharsets.UTF_8).println("a result");

            assertThat(output.loss()).contains("no space left on device");
        }
    }
}
