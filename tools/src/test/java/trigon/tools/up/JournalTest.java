package trigon.tools.up;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The steps and their undoing, by this machine's shell in a folder. */
class JournalTest {

    @TempDir
    private Path root = Path.of("/nonexistent"); // until JUnit has set it

    private Path journal = root;

    @BeforeEach
    void begin() throws IOException {
        journal = Files.createDirectory(root.resolve("journal"));
        Files.createFile(journal.resolve("journal"));
        Files.writeString(journal.resolve("undo.sh"), resource("undo.sh"));
    }

    private static String resource(String name) throws IOException {
        try (InputStream in = Objects.requireNonNull(Journal.class.getResourceAsStream(name))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static String run(String... command) throws Exception {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getOutputStream().close();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(out).isZero();
        return out;
    }

    private void step(String script) throws Exception {
        String steps =
                resource("steps.sh").replace("@FOLDER@", journal.toString()).replace("@SECONDS@", "90");
        var _ = run("sh", "-c", steps + "group=$(id -gn)\n" + script.replace("ROOT", root.toString()));
    }

    private String undo(String... mode) throws Exception {
        return mode.length > 0
                ? run("sh", journal.resolve("undo.sh").toString(), mode[0])
                : run("sh", journal.resolve("undo.sh").toString());
    }

    @Test
    void filesAndFoldersAreAsBeforeByteForByte() throws Exception {
        Path old = Files.writeString(root.resolve("old"), "as before");
        Files.setPosixFilePermissions(old, PosixFilePermissions.fromString("rw-r-----"));
        var before = Files.getLastModifiedTime(old);

        step("""
                put 600 $group ROOT/new/folder/file <<'EOF'
                one
                EOF
                put 644 $group ROOT/old <<'EOF'
                two
                EOF
                link ROOT/old ROOT/link
                """);
        assertThat(root.resolve("new/folder/file")).hasContent("one\n");
        assertThat(old).hasContent("two\n");
        assertThat(root.resolve("link")).isSymbolicLink();

        assertThat(undo()).isEmpty();
        assertThat(old).hasContent("as before");
        assertThat(Files.getPosixFilePermissions(old)).isEqualTo(PosixFilePermissions.fromString("rw-r-----"));
        assertThat(Files.getLastModifiedTime(old)).isEqualTo(before);
        try (var left = Files.list(root)) {
            assertThat(left).containsExactly(old);
        }
    }

    @Test
    void aFileThatWasChangedSinceStaysAndIsShown() throws Exception {
        step("put 644 $group ROOT/file <<'EOF'\none\nEOF\nput 600 $group ROOT/x.key <<'EOF'\nsecret\nEOF\n");
        Files.writeString(root.resolve("file"), "one\nmore\n");
        Files.writeString(root.resolve("x.key"), "other secret\n");

        assertThat(undo("down"))
                .contains("left " + root.resolve("file"), "> more", "it has another key")
                .doesNotContain("secret");
        assertThat(root.resolve("file")).hasContent("one\nmore\n");
        assertThat(journal).doesNotExist();
    }

    @Test
    void whatIsThereAlreadyIsNotWritten() throws Exception {
        Path file = Files.writeString(root.resolve("file"), "one\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));

        step("put 644 $(stat -c %G ROOT/file) ROOT/file <<'EOF'\none\nEOF\n");

        assertThat(journal.resolve("journal")).isEmptyFile();
    }

    @Test
    void commandsRunBackwardsAndTheTimerOnlyOnceItsTimeHasCome() throws Exception {
        step("note \"run echo first >>ROOT/log\"\nnote \"run echo second >>ROOT/log\"\n");
        assertThat(Files.readString(journal.resolve("until")).strip()).matches("\\d+");
        Files.writeString(journal.resolve("until"), "0\n");

        var _ = undo("wait");

        assertThat(root.resolve("log")).hasContent("second\nfirst\n");
        assertThat(journal).doesNotExist();
    }

    @Test
    void aNodeThatIsKeptStays() throws Exception {
        step("note \"run echo undone >>ROOT/log\"\n");
        Files.createFile(journal.resolve("kept"));
        Files.writeString(journal.resolve("until"), "0\n");

        var _ = undo("wait");

        assertThat(root.resolve("log")).doesNotExist();
        assertThat(journal).exists();
    }

    @Test
    void aStepAfterItsTimeChangesNothing() throws Exception {
        Files.createDirectory(journal.resolve("undoing"));
        Process late = new ProcessBuilder(
                        "sh", "-c", resource("steps.sh").replace("@FOLDER@", journal.toString()) + "echo changed")
                .redirectErrorStream(true)
                .start();

        assertThat(late.inputReader().lines()).containsExactly("its time is over, and it is as before");
        assertThat(late.waitFor()).isEqualTo(1);
    }

    @Test
    void itsScriptsAreOfAPlainShell() throws Exception {
        Journal one = new Journal("20260101-000000-7", 90);
        for (String script : List.of(
                one.begin(),
                one.step("add eth1 10.77.0.1/24\n"),
                one.keep(),
                one.undo(),
                Journal.undoAll(),
                Journal.undoPending())) {
            Process shell =
                    new ProcessBuilder("sh", "-n").redirectErrorStream(true).start();
            try (var in = shell.outputWriter()) {
                in.write("{\n" + script + "\n}\n");
            }
            assertThat(shell.inputReader().lines()).isEmpty();
            assertThat(shell.waitFor()).isZero();
        }
    }
}
