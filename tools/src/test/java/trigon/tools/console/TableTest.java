package trigon.tools.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class TableTest {

    private static String printed(int width) {
        return printed(
                new Table("from", "to", "addresses").row("spark-1a2b", "spark-3c4d", "fd00:77::1 - fd00:77::2"), width);
    }

    private static String printed(Table table, int width) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        PrintStream stream = new PrintStream(out, true, StandardCharsets.UTF_8);
        table.print(new Console(stream, stream, false, false, width));
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

    @Test
    void noLineIsLongerThanTheTerminalAndAddressesStayWhole() {
        Table table = new Table("name", "state", "speed", "PCIe", "addresses")
                .row(
                        "enP2p1s0f1np1\u001b[2J",
                        "no carrier",
                        "200 Gb/s",
                        "16 GT/s x4 of 32 GT/s x4",
                        "fe80::b49e:43ff:fe3a:1d2b/64 10.1.2.3/24")
                .row("a-very-long-name-of-an-interface-or-process", "up", "-", "-", "none");

        for (int width = 40; width <= 120; width++) {
            List<String> lines = printed(table, width).lines().toList();
            assertThat(lines).allSatisfy(line -> assertThat(line).doesNotContain("\u001b"));
            int columns = width;
            assertThat(lines).allMatch(line -> line.length() <= columns);
            assertThat(lines).anyMatch(line -> line.contains("fe80::b49e:43ff:fe3a:1d2b/64"));
        }
        assertThat(printed(table, 140).lines()).as("a line each").hasSize(3);
    }
}
