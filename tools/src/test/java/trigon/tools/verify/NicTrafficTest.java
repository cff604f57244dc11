package trigon.tools.verify;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import trigon.cluster.machine.Machine;

class NicTrafficTest {

    private static final String HEADINGS = "Inter-|   Receive  |  Transmit\n face |bytes packets|bytes packets\n";

    @TempDir
    private Path folder = Path.of("/nonexistent"); // until JUnit has set it

    private void process(String pid, String namespace) throws Exception {
        Path links = Files.createDirectories(folder.resolve("proc/" + pid + "/ns"));
        Files.createSymbolicLink(links.resolve("net"), Path.of("net:[" + namespace + "]"));
        Files.createDirectories(folder.resolve("proc/" + pid + "/net"));
        counts(pid, 0, 0);
    }

    private void counts(String pid, long received, long sent) throws Exception {
        Files.writeString(
                folder.resolve("proc/" + pid + "/net/dev"),
                HEADINGS + "  eth0: %d 1 0 0 0 0 0 0 %d 1 0 0 0 0 0 0\n".formatted(1_000 + received, 500 + sent));
    }

    /** A second process of the namespace is at the same place; it has gone when the counters are read. */
    @Test
    void interfacesOfAnotherNamespaceAreCountedOnce() throws Exception {
        process("self", "1");
        process("10", "1");
        process("11", "2");
        process("12", "2");
        try (NicTraffic networks = new NicTraffic(new Machine(folder, Map.of(), "here", "1.2.3", Optional.empty()))) {
            assertThat(networks.place(10)).isEmpty();
            assertThat(networks.place(11)).isEqualTo(" of process 11");
            assertThat(networks.place(12)).isEqualTo(" of process 11");
            assertThat(networks.place(99)).as("not there").isEmpty();
            counts("10", 99, 99);
            counts("11", 2_000_000, 3_000_000);

            assertThat(networks.bytes()).isEqualTo(Map.of("eth0 of process 11", 5_000_000L));
        }
    }
}
