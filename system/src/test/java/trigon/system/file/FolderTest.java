package trigon.system.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FolderTest {

    @TempDir
    Path folder;

    @Test
    void isListedByName() throws IOException {
        Files.createFile(folder.resolve("b"));
        Files.createDirectory(folder.resolve("a"));

        assertThat(Folder.entries(folder)).containsExactly(folder.resolve("a"), folder.resolve("b"));
    }

    @Test
    void whatIsNoFolderIsSaid() {
        assertThatIOException().isThrownBy(() -> Folder.entries(folder.resolve("absent")));
    }

    @Test
    void isDeletedWithWhatIsInItAndLinksAreNotFollowed(@TempDir Path other) throws IOException {
        Path kept = Files.createFile(other.resolve("kept"));
        Path deleted = Files.createDirectory(folder.resolve("deleted"));
        Files.createFile(Files.createDirectory(deleted.resolve("deeper")).resolve("file"));
        Files.createSymbolicLink(deleted.resolve("link"), other);

        Folder.delete(deleted);
        Folder.delete(deleted);

        assertThat(folder).isEmptyDirectory();
        assertThat(kept).exists();
    }
}
