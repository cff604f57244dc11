package trigon.cluster.machine;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RdmaPortTest {

    private static final String EMPTY = "0000:0000:0000:0000:0000:0000:0000:0000";
    private static final String LINK_LOCAL = "fe80:0000:0000:0000:a4ed:ccff:fe8b:1994";
    private static final String MAPPED = "0000:0000:0000:0000:0000:ffff:0a98:000c";

    @TempDir
    private Path sysfs;

    private void write(String file, String text) throws IOException {
        Path path = sysfs.resolve("class/infiniband/mlx5_0/ports/1").resolve(file);
        Files.createDirectories(path.resolveSibling(""));
        Files.writeString(path, text + "\n");
    }

    /** Case 14 of {@code integration-tests/field-cases.md}: the first four are empty. */
    @Test
    void aTableWithHolesIsReadToItsEnd() throws IOException {
        write("state", "4: ACTIVE");
        write("rate", "200 Gb/sec (2X NDR)");
        write("link_layer", "Ethernet");
        List<String> gids = List.of(EMPTY, EMPTY, EMPTY, EMPTY, LINK_LOCAL, LINK_LOCAL, MAPPED, MAPPED, EMPTY, EMPTY);
        for (int i = 0; i < gids.size(); i++) {
            write("gids/" + i, gids.get(i));
            if (!gids.get(i).equals(EMPTY)) {
                write("gid_attrs/types/" + i, i % 2 == 0 ? "IB/RoCE v1" : "RoCE v2");
                write("gid_attrs/ndevs/" + i, "net1");
            }
        }

        assertThat(RdmaPort.all(sysfs)).singleElement().satisfies(port -> {
            assertThat(port.interfaces()).containsExactly("net1");
            assertThat(port.gids()).extracting(RdmaPort.GidEntry::index).containsExactly(4, 5, 6, 7);
            assertThat(port.gids().getLast())
                    .isEqualTo(new RdmaPort.GidEntry(7, MAPPED, "RoCE v2", Optional.of("net1")));
        });
    }
}
