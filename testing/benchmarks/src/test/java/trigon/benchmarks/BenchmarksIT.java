package trigon.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The benchmarks run and say what they are to say, shortly and without a look at the times. The lab's needs QEMU and is
 * left to {@code ./trigon benchmarks lab}; its program runs here over software links.
 */
@Tag("long")
@Timeout(300)
class BenchmarksIT {

    private static final Path PROJECT = Path.of(Objects.requireNonNull(System.getProperty("trigon.project")));
    private static final Path BENCHMARKS = PROJECT.resolve("testing/benchmarks");
    private static final Path NATIVE = BENCHMARKS.resolve("target/native");
    private static final Path PLUGIN =
            PROJECT.resolve("dist/target/trigon/lib/libnccl-net-trigon.so").toAbsolutePath();

    @TempDir
    Path directory;

    private Path results = Path.of("");

    @BeforeEach
    void makeFolder() throws IOException {
        results = Files.createDirectories(directory.resolve("results"));
    }

    @Test
    void instantDevice() throws Exception {
        assumeTrue(
                Files.exists(NATIVE.resolve("simulated/libibverbs.so.1")),
                "the instant device was not built: install libibverbs-dev");

        bench("instant", "--quick", "--comms", "1,4", "--sizes", "8,1024");

        JsonNode json = read(results.resolve("instant.json"));
        assertThat(json.path("rdma_drivers").isObject()).isTrue();
        assertThat(json.path("jvm").path("pauses").asInt()).isPositive();
        assertThat(names(json)).containsExactly("harness", "Trigon", "device alone");
        json.path("plugins").forEach(plugin -> hasAllFigures(plugin, true, List.of(1, 4), List.of(8, 1024)));
        closingStoppedNoThreads("instant");
    }

    @Test
    void softwareLinksAndTheTables() throws Exception {
        bench("links", "--quick", "--sizes", "8,65536", "--plugin", PLUGIN.toString());

        JsonNode json = read(results.resolve("links.json"));
        assertThat(names(json))
                .as("a further plugin runs beside Trigon")
                .containsExactly("harness", "Trigon", "Trigon");
        json.path("plugins").forEach(plugin -> hasAllFigures(plugin, false, List.of(1), List.of(8, 65536)));
        closingStoppedNoThreads("links");

        assertThat(read(results.resolve("links-floor.json")).findValues("median"))
                .as("a TCP connection by itself")
                .hasSize(4)
                .allSatisfy(each -> assertThat(each.asDouble()).isPositive());

        bench("tables");

        assertThat(Files.readString(directory.resolve("tables.out")))
                .contains("| write and read after 10 ms | 40 |")
                .contains("| Trigon | message of 64 KiB, 1 at a time | ns |")
                .contains("software links, warm connection, both ends")
                .contains("Not measured: there is no `growth.json`");
    }

    @Test
    void tablesOfKnownFigures() throws Exception {
        List<String> command =
                List.of("python3", "-B", BENCHMARKS.resolve("test_tables.py").toString());
        Process process = start(command, "test_tables", new ProcessBuilder(command));
        try {
            succeeds(process, "test_tables");
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void pingPongOfTwoProcesses() throws Exception {
        Path config = Files.writeString(directory.resolve("trigon.yaml"), """
                version: 1
                links: software
                nodes:
                  a: {nics: [{address: 127.4.12.1/24}]}
                  b: {nics: [{address: 127.4.12.2/24}]}
                """);
        Path rendezvous = Files.createDirectories(directory.resolve("rendezvous"));
        Process b = pingPong(config, "b", "1", rendezvous);
        Process a = pingPong(config, "a", "0", rendezvous);
        try {
            succeeds(a, "a");
            succeeds(b, "b");
        } finally {
            a.destroyForcibly();
            b.destroyForcibly();
        }

        JsonNode json = read(directory.resolve("a.out"));
        assertThat(json.path("rounds")).hasSize(1);
        JsonNode round = json.path("rounds").path(0);
        assertThat(round.path("latency").path("iterations").asInt()).isEqualTo(10);
        assertThat(round.path("latency").path("min_us").asDouble()).isPositive();
        assertThat(round.path("bandwidth").findValues("mb_per_second"))
                .hasSize(4)
                .allSatisfy(each -> assertThat(each.asDouble()).isPositive());
    }

    @Test
    void aMinuteAtFullRateInShort() throws Exception {
        assumeTrue(
                Files.exists(NATIVE.resolve("simulated/libibverbs.so.1")),
                "the instant device was not built: install libibverbs-dev");

        bench("steady", "--quick");

        for (String file : List.of("steady-links.json", "steady-instant.json")) {
            JsonNode json = read(results.resolve(file));
            assertThat(json.path("jvm").path("collections_while_measuring").isInt())
                    .as(file)
                    .isTrue();
            JsonNode trigon = json.path("plugins").path(1);
            assertThat(trigon.path("results").findValues("messages"))
                    .as(file)
                    .singleElement()
                    .satisfies(messages -> assertThat(messages.asLong()).isPositive());
        }
    }

    @Test
    void oneOfManyConnectionsByTwoRunsInTurns() throws Exception {
        assumeTrue(
                Files.exists(NATIVE.resolve("simulated/libibverbs.so.1")),
                "the instant device was not built: install libibverbs-dev");

        bench("growth", "--quick", "--comms", "1,2");

        for (String file : List.of("growth-one-of-few.json", "growth-one-of-many.json")) {
            JsonNode json = read(results.resolve(file));
            assertThat(names(json)).as(file).containsExactly("harness", "Trigon", "device alone");
            for (JsonNode plugin : json.path("plugins")) {
                assertThat(plugin.path("results").findValuesAsText("question"))
                        .as(file)
                        .containsExactly("test_empty_of_one", "message_of_one");
            }
        }
    }

    /**
     * More than a hundred connections were closed. Closing a shared arena stops all threads that run Java, NCCL's
     * progress thread among them; the few that are allowed belong to the start.
     */
    private void closingStoppedNoThreads(String name) throws IOException {
        List<String> log = Files.readAllLines(results.resolve(name + ".log"));
        assertThat(log)
                .as("handshakes of the JVM with its threads are logged")
                .anyMatch(line -> line.contains("Handshake"));
        assertThat(log.stream().filter(line -> line.contains("CloseScopedMemory")))
                .as(name)
                .hasSizeLessThan(10);
    }

    /** waits: whether an isend waits for its receive, which software links do not ask for. */
    private static void hasAllFigures(JsonNode plugin, boolean waits, List<Integer> comms, List<Integer> sizes) {
        List<String> figures = new ArrayList<>();
        for (JsonNode result : plugin.path("results")) {
            String figure = result.path("question").asText() + " "
                    + result.path("comms").asText();
            figures.add(
                    result.has("bytes")
                            ? figure + " " + result.path("bytes").asText() + " "
                                    + result.path("window").asText()
                            : figure);
            if (result.has("median")) {
                assertThat(result.path("median").asDouble()).as(figure).isPositive();
                assertThat(result.path("samples")).as(figure).isNotEmpty();
            }
        }
        List<String> expected = new ArrayList<>(List.of("connect_early 0", "connect 0", "close 0"));
        expected.add("first_messages 1 " + sizes.getFirst() + " ");
        for (int count : comms) {
            for (String question : List.of("growth", "devices", "test_empty", "test_call")) {
                expected.add(question + " " + count);
            }
            if (count > 1) {
                expected.add("test_empty_of_one " + count);
                expected.add("message_of_one " + count + " " + sizes.getFirst() + " 1");
            }
            if (waits) {
                expected.add("isend_without_receive " + count);
            }
            for (int size : sizes) {
                expected.add("message " + count + " " + size + " 1");
                expected.add("message " + count + " " + size + " 8");
            }
        }
        assertThat(figures).as(plugin.path("name").asText()).containsExactlyInAnyOrderElementsOf(expected);
    }

    private static List<String> names(JsonNode json) {
        List<String> names = new ArrayList<>();
        json.path("plugins").forEach(plugin -> names.add(plugin.path("name").asText()));
        return names;
    }

    private void bench(String... arguments) throws IOException, InterruptedException {
        List<String> command =
                new ArrayList<>(List.of(BENCHMARKS.resolve("bench.py").toString()));
        command.addAll(List.of(arguments));
        Process process = start(command, arguments[0], new ProcessBuilder(command));
        try {
            succeeds(process, arguments[0]);
        } finally {
            process.destroyForcibly();
        }
    }

    private Process pingPong(Path config, String node, String rank, Path rendezvous) throws IOException {
        List<String> command = List.of(
                NATIVE.resolve("net-ping-pong").toString(), PLUGIN.toString(), rank, rendezvous.toString(), "0", "10");
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().put("TRIGON_CONFIG", config.toString());
        builder.environment().put("TRIGON_NODE", node);
        return start(command, node, builder);
    }

    private Process start(List<String> command, String name, ProcessBuilder builder) throws IOException {
        builder.environment().put("TRIGON_BENCH_RESULTS", results.toString());
        builder.environment().put("TRIGON_JAVA_OPTS", "-Xlog:handshake=info:stderr:tn");
        builder.environment().put("JAVA_HOME", Objects.requireNonNull(System.getProperty("java.home")));
        return builder.command(command)
                .redirectOutput(directory.resolve(name + ".out").toFile())
                .redirectError(directory.resolve(name + ".err").toFile())
                .start();
    }

    private void succeeds(Process process, String name) throws IOException, InterruptedException {
        boolean ended = process.waitFor(240, TimeUnit.SECONDS);
        String said =
                Files.readString(directory.resolve(name + ".out")) + Files.readString(directory.resolve(name + ".err"));
        assertThat(ended).as("ended within 240 s: %s", said).isTrue();
        assertThat(process.exitValue()).as(said).isZero();
    }

    private static JsonNode read(Path file) throws IOException {
        return new ObjectMapper().readTree(file.toFile());
    }
}
