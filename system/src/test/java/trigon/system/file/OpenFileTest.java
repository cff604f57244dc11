package trigon.system.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class OpenFileTest {

    @TempDir
    Path folder;

    @Test
    void isNotTheFileThatHasItsNameLater() throws Exception {
        Path path = Files.writeString(folder.resolve("file"), "first");
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-rw-r--"));
        try (OpenFile open = OpenFile.open(path);
                OpenFile same = OpenFile.open(path)) {
            Files.writeString(Files.createFile(folder.resolve("other")), "second");
            Files.move(folder.resolve("other"), path, StandardCopyOption.REPLACE_EXISTING);

            assertThat(new String(open.read(100), StandardCharsets.UTF_8)).isEqualTo("first");
            assertThat(open.isWritableByOthers()).isTrue();
            assertThat(open.owner()).isEqualTo(ProcessUsers.own()).isEqualTo(same.owner());
            assertThat(open.key()).isEqualTo(same.key());
            try (OpenFile other = OpenFile.open(path)) {
                assertThat(other.key()).isNotEqualTo(open.key());
            }
        }
    }

    @Test
    void isMadeForItsOwnerAloneAndOthersSeeWhatIsWritten() throws Exception {
        Path path = folder.resolve("page");
        try (OpenFile made = OpenFile.openOrMake(path);
                OpenFile same = OpenFile.openOrMake(path);
                Arena arena = Arena.ofConfined()) {
            made.map(16, arena).set(ValueLayout.JAVA_LONG, 8, 7);

            assertThat(same.map(16, arena).get(ValueLayout.JAVA_LONG, 8)).isEqualTo(7);
            assertThat(same.size()).isEqualTo(16);
            assertThat(Files.getPosixFilePermissions(path)).isEqualTo(PosixFilePermissions.fromString("rw-------"));
        }
    }

    /** Whoever may write into the folder could have it lead to another file of this user. */
    @Test
    void aLinkIsNotWrittenThrough() throws Exception {
        Path target = Files.writeString(folder.resolve("target"), "untouched");
        Path link = Files.createSymbolicLink(folder.resolve("link"), target);

        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> OpenFile.openOrMake(link))
                .withMessageContaining(link.toString());
        assertThat(target).hasContent("untouched");
    }

    @Test
    void takesNoMoreThanIsAllowed() throws Exception {
        Path path = Files.writeString(folder.resolve("file"), "0123456789");
        try (OpenFile open = OpenFile.open(path)) {
            assertThat(open.read(4)).containsExactly('0', '1', '2', '3');
            assertThat(open.read(Integer.MAX_VALUE)).hasSize(10);
        }
    }

    /** Nobody writes into it, so whoever opens it as a file waits for ever. */
    @Test
    void aPipeIsRefusedAtOnce() throws Exception {
        Path pipe = folder.resolve("pipe");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();

        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> OpenFile.open(pipe))
                .withMessageContaining(pipe + " is not a regular file");
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> OpenFile.open(folder))
                .withMessageContaining("is not a regular file");
        assertThatExceptionOfType(NoSuchFileException.class).isThrownBy(() -> OpenFile.open(folder.resolve("missing")));
    }
}
