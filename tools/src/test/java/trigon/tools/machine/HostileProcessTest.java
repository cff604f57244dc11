package trigon.tools.machine;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.cluster.json.Json;
import trigon.cluster.machine.Machine;
import trigon.cluster.machine.Redaction;
import trigon.tools.console.Console;

/** A process of a stranger's, into which root looks: its names, words and files are anything. */
@Timeout(120)
class HostileProcessTest {

    /** As long as the kernel lets an argument be. */
    private static final int LONGEST = 128 << 10;

    @TempDir
    Path root;

    private Machine machine() {
        return new Machine(root, Map.of(), "here", "1.2.3", Optional.empty());
    }

    /** Whoever looks from each of its characters on takes hours. */
    @Test
    void longWordsAreLookedThroughInTime() {
        Redaction redaction = Redaction.of(Map.of());
        for (String piece : List.of("a", "key", "key-", " ", "-----BEGIN ", "a://", "bearer ", "--token ", "'key'=")) {
            String word = piece.repeat(LONGEST / piece.length());
            assertThat(redaction.of(word).length()).as(piece).isLessThanOrEqualTo(2 * LONGEST);
        }
        assertThat(redaction.words(List.of("-".repeat(LONGEST), "x"))).hasSize(2);
    }

    /** What is known by its name is hidden as before. */
    @Test
    void secretsBesideLongWordsAreHidden() {
        String text = "a".repeat(LONGEST) + " MY_API_KEY=planted-1 --auth-token planted-2 1https://planted-3@host/";

        assertThat(Redaction.of(Map.of()).of(text)).doesNotContain("planted");
    }

    @Test
    void anEnvironmentOfAnyNumberOfSecretsIsLeftOut() {
        Redaction own = Redaction.of(Map.of("MY_KEY", "planted-1"));
        Map<String, String> many = new HashMap<>();
        for (int i = 0; i < 20_000; i++) {
            many.put("KEY_" + i, "secret-" + i);
        }
        assertThat(own.with(many)).isEmpty();

        Redaction both = own.with(Map.of("OTHER_KEY", "planted-2")).orElseThrow();
        assertThat(both.of("planted-1 planted-2")).doesNotContain("planted");
    }

    /** A file of many lines stands for as many secrets. */
    @Test
    void filesOfSecretsAreLeftOutWhereTheyAreTooMany() throws IOException {
        Map<String, String> many = new HashMap<>();
        for (int i = 0; i < 8; i++) {
            StringBuilder lines = new StringBuilder();
            for (int line = 0; line < 6000; line++) {
                lines.append("s%d-%d\n".formatted(i, line));
            }
            many.put(
                    "KEY_FILE_" + i,
                    Files.writeString(root.resolve("secrets" + i), lines).toString());
        }
        assertThat(Redaction.of(Map.of()).with(many)).isEmpty();
    }

    /** Nobody ever writes to them. */
    @Test
    void pipesAreNotWaitedFor() throws Exception {
        Path pipe = pipe(Files.createDirectories(root.resolve("job")).resolve("release"));

        assertThat(ProcessFacts.trigonVersion(machine(), "/job/lib/libnccl-net-trigon.so"))
                .isEmpty();
        assertThat(ProcessFacts.ncclVersion(machine(), "/job/release")).isEmpty();
        assertThat(Redaction.of(Map.of("MY_KEY_FILE", pipe.toString(), "TRIGON_CONFIG", pipe.toString()))
                        .of("text"))
                .isEqualTo("text");
    }

    @Test
    void ofAnyNumberOfLibrariesSomeAreLookedAt() throws IOException {
        Path process = Files.createDirectories(root.resolve("proc/7"));
        StringBuilder maps = new StringBuilder();
        for (int i = 0; i < 1000; i++) {
            maps.append("7f00-7f01 r-xp 00000000 08:01 1 /tmp/%d/libnccl.so.2\n".formatted(i));
        }
        Files.writeString(process.resolve("maps"), maps);
        Files.writeString(process.resolve("comm"), "a\u001b[2J\u009bb\n");

        ProcessFacts facts = ProcessFacts.of(machine(), 7);
        assertThat(facts.nccl()).hasSizeBetween(1, 16);
        assertThat(facts.program()).isEqualTo("a?[2J?b");
    }

    /** C0, C1, marks of directions, and what ends a line. */
    @Test
    void whatATerminalObeysIsNotPrinted() {
        String hostile = "a\u001b[2J\u009b1m\u0085\u202e\u2028\u007f\nb";
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        PrintStream stream = new PrintStream(err, true, StandardCharsets.UTF_8);
        Console console = new Console(stream, stream, false, true, 100);
        console.note(hostile);
        console.doing(hostile);

        String said = err.toString(StandardCharsets.UTF_8).replace("\r", "").replace("\u001b[K", "");
        assertThat(said).isEqualTo("trigon: a?[2J?1m?????b\na?[2J?1m?????b");
        assertThat(Json.line(Map.of("name", hostile)))
                .isEqualTo("{\"name\":\"a\\u001B[2J\\u009b1m\\u0085\\u202e\\u2028\\u007F\\nb\"}\n");
    }

    private static Path pipe(Path path) throws Exception {
        assertThat(new ProcessBuilder("mkfifo", path.toString()).start().waitFor())
                .isZero();
        return path;
    }
}
