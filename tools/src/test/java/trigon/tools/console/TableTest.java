package trigon.tools.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class TableTest {

    private static String printed(int width) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        PrintStream stream = new PrintStream(out, true, StandardCharsets.UTF_8);
        new Table("from", "to", "addresses")
                .row("spark-1a2b", "spark-3c4d", "fd00:77::1 - fd00:77::2")
                .print(new Console(stream, stream, false, false, width));
        return out.toString(StandardCharsets.UTF_8);
    }

    @Test
    void theLastColumnIsBesideTheOthersWhereThereIsRoom() {
        assertThat(printed(80)).isEqualTo("""
                from        to          addresses
                spark-1a2b  spark-3c4d  fd00:77::1 - fd00:77::2
                """);
    }

    @Test
    void theLastColumnIsBelowTheOthersInANarrowTerminal() {
        assertThat(printed(40)).isEqualTo("""
                from        to          addresses
                spark-1a2b  spark-3c4d
                    fd00:77::1 - fd00:77::2
                """);
    }
}
