package trigon.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AnnouncementsTest {

    @TempDir
    Path directory;

    @Test
    void plotsTheRings() throws IOException {
        Path file = Files.write(
                directory.resolve("announcements.tsv"),
                List.of(
                        "head",
                        "ring\t3\t280\t1840\t364\t4079\t1\t2\t3\t3",
                        "switch\t64\t250\t558\t111\t69584\t1\t2\t3\t64"));

        Announcements.main(new String[] {file.toString(), directory.toString()});

        assertThat(Files.readString(directory.resolve("announcements.svg")))
                .contains("3 nodes", "4079")
                .doesNotContain("64 nodes");
    }

    @Test
    void saysWhichRowIsNone() throws IOException {
        Path file = Files.write(directory.resolve("announcements.tsv"), List.of("head", "ring\t3"));

        assertThatThrownBy(() -> Announcements.main(new String[] {file.toString(), directory.toString()}))
                .hasMessageContaining("10 columns")
                .hasMessageContaining("ring\t3");
    }
}
