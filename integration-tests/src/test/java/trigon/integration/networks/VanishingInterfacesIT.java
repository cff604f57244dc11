package trigon.integration.networks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import trigon.integration.testsupport.CableNamespaces;
import trigon.transport.testsupport.LaneVerbs;

/** Containers come and go on a node, and their interfaces with them, while the plugin looks for its cables. */
@Tag("long")
class VanishingInterfacesIT {

    private static final int LOOKS = 500;
    private static final int CONTAINERS = 40;

    @TempDir
    Path directory;

    @Test
    void hideNoCable() throws Exception {
        try (CableNamespaces network = CableNamespaces.open()) {
            network.node("a");
            network.node("b");
            network.cable("a", "cable0", "10.0.12.1/24", "b", "cable0", "10.0.12.2/24");
            Process coming = start(network, "sh", "-c", "while ip -batch " + comeAndGo() + "; do :; done");
            try {
                Process looking = start(
                        network,
                        ProcessHandle.current().info().command().orElseThrow(),
                        "--enable-native-access=ALL-UNNAMED",
                        LaneVerbs.LIBRARY_OPTION,
                        LaneVerbs.EXPORTS_OPTION,
                        "-cp",
                        System.getProperty("java.class.path"),
                        InterfaceSnapshots.class.getName(),
                        Integer.toString(LOOKS),
                        "cable0");
                String said = new String(looking.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

                assertThat(said).contains("0 of " + LOOKS + " without it").doesNotContain("WARN");
                assertThat(coming.isAlive()).isTrue();
            } finally {
                coming.destroyForcibly().waitFor();
            }
        }
    }

    /** All come, and then they go, one after the other. */
    private Path comeAndGo() throws IOException {
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < CONTAINERS; i++) {
            lines.add("link add c" + i + " type veth peer name d" + i);
            lines.add("addr add 172.17." + i + ".1/24 dev c" + i);
            lines.add("link set c" + i + " up");
        }
        for (int i = 0; i < CONTAINERS; i++) {
            lines.add("link del c" + i);
        }
        return Files.write(directory.resolve("containers"), lines);
    }

    private static Process start(CableNamespaces network, String... command) throws IOException {
        List<String> all = new ArrayList<>(network.by("a"));
        all.addAll(List.of(command));
        return new ProcessBuilder(all).redirectErrorStream(true).start();
    }
}
