package trigon.tools.enable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import trigon.tools.console.CommandFailure;

class OwnedFileTest {

    @TempDir
    private Path folder = Path.of("/nonexistent"); // until JUnit has set it

    private static String mode(Path file) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
    }

    @Test
    void keepsTheModeAndAnyBytes() throws IOException {
        byte[] bytes = {(byte) 0xff, 'A', '=', (byte) 0xc3, '\n'};
        Path file = Files.write(folder.resolve("f"), bytes);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
        OwnedFile owned = new OwnedFile(file);

        owned.write(owned.read().map(text -> text + OwnedFile.bytes("B=\u00fc\n")));

        assertThat(Files.readAllBytes(file)).startsWith(bytes).endsWith("B=\u00fc\n".getBytes(StandardCharsets.UTF_8));
        assertThat(mode(file)).isEqualTo("rw-r-----");
        assertThat(folder).isDirectoryNotContaining(each -> !each.equals(file));
    }

    @Test
    void aNewFileIsForEverybodyToRead() throws IOException {
        OwnedFile owned = new OwnedFile(folder.resolve("f"));
        assertThat(owned.read()).isEmpty();

        owned.write(Optional.of("A=1\n"));

        assertThat(mode(owned.path())).isEqualTo("rw-r--r--");
        owned.write(Optional.empty());
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void aSymbolicLinkStays() throws IOException {
        Path real = Files.createDirectory(folder.resolve("dotfiles")).resolve("real");
        Path link = Files.createSymbolicLink(folder.resolve("f"), Path.of("dotfiles/real"));
        OwnedFile owned = new OwnedFile(link);

        owned.write(Optional.of("A=1\n"));

        assertThat(link).isSymbolicLink();
        assertThat(real).hasContent("A=1\n");
        assertThat(owned.read()).contains("A=1\n");
        owned.write(Optional.empty());
        assertThat(link).isSymbolicLink();
        assertThat(real).doesNotExist();
    }

    @Test
    void whatIsNoFileIsRefused() throws IOException {
        Path circle = Files.createSymbolicLink(folder.resolve("circle"), Path.of("circle"));

        assertThatThrownBy(() -> new OwnedFile(circle).read())
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("circle");
        assertThatThrownBy(() -> new OwnedFile(folder).read())
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("not a regular file");
        assertThatThrownBy(() -> new OwnedFile(folder.resolve("none/f")).write(Optional.of("")))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("cannot write " + folder.resolve("none/f"));
    }
}
