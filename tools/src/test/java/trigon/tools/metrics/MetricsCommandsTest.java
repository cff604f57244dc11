package trigon.tools.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import trigon.cluster.json.JsonObject;
import trigon.cluster.machine.Machine;
import trigon.tools.PassingTime;
import trigon.tools.Run;
import trigon.tools.TrigonProgram;
import trigon.tools.console.Console;
import trigon.tools.console.Time;
import trigon.transport.metrics.LinkCounters;
import trigon.transport.metrics.Metrics;
import trigon.transport.metrics.MetricsRow;
import trigon.transport.metrics.PathCounters;

/** Of the counters of this process, which are as those of a job's. */
class MetricsCommandsTest {

    private static final Pattern METRIC = Pattern.compile("\\btrigon_\\w+");

    private static final Machine HERE = new Machine(Path.of("/"), Map.of(), "here", "1.2.3", Optional.empty());

    private interface WithCounters {
        void run() throws IOException;
    }

    /** The job of this process in a document of the commands. */
    private static JsonObject ownJob(String json) {
        return JsonObject.parse(json).objects("jobs").stream()
                .filter(job -> job.whole("pid") == ProcessHandle.current().pid())
                .findFirst()
                .orElseThrow();
    }

    private static void withCounters(WithCounters test) {
        try (Metrics metrics = Metrics.shared(Path.of("/dev/shm"))) {
            LinkCounters link = metrics.link("\"odd\"", "TCP", 10_000);
            try (PathCounters closed = link.path("sender")) {
                closed.message(1000);
            }
            link.retried();
            link.setUp(false);
            link.failovers("c").failedOver(30_000_000, 3, 300);
            link.failovers("c").failedOver(12_000_000, 1, 8);
            link.failovers("c").returned();
            try (PathCounters open = link.path("receiver")) {
                open.peer("b");
                open.state(2);
                open.message(500);
                open.waited();
                test.run();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Who makes up counters makes up any number: of one user, so many are shown. */
    @Test
    @Timeout(120)
    void processesOfAUserWithAnyNumberOfCountersAreLeftOut(@TempDir Path directory) throws Exception {
        int rows = MetricsRow.MAX_ROWS;
        ByteBuffer content = ByteBuffer.allocate((int) MetricsRow.HEADER_BYTES + rows * MetricsRow.BYTES)
                .order(ByteOrder.nativeOrder());
        content.putLong(0, MetricsRow.MAGIC).putInt((int) MetricsRow.USED, rows);
        for (int row = 0; row < rows; row++) {
            int at = (int) MetricsRow.HEADER_BYTES + row * MetricsRow.BYTES;
            content.putInt(at + (int) MetricsRow.KIND, row % 3 == 0 ? MetricsRow.LINK : MetricsRow.FAILOVERS);
        }
        Path file = Files.write(directory.resolve("trigon-metrics-hostile"), content.array());
        List<Process> strangers = new ArrayList<>();
        try {
            for (int i = 0; i < 3; i++) {
                String script = "exec 3<\"$0\" && echo && exec sleep 600";
                Process stranger = new ProcessBuilder("sh", "-c", script, file.toString()).start();
                strangers.add(stranger);
                assertThat(stranger.getInputStream().read()).isEqualTo('\n');
            }
            List<String> notes = new ArrayList<>();
            List<Job> shown = Job.all(notes::add);

            assertThat(notes).anyMatch(note -> note.contains("have more than 131072 counters together"));
            assertThat(shown.stream().filter(job -> job.links().size() > 20_000))
                    .hasSizeBetween(1, 2);
        } finally {
            strangers.forEach(Process::destroyForcibly);
        }
    }

    @Test
    void countsOfOpenAndClosedPathsAreOneLinks() {
        withCounters(() -> {
            String pid = "pid=\"" + ProcessHandle.current().pid() + "\"";
            String page = Run.of("metrics").out();

            assertThat(page.lines().filter(line -> line.contains(pid)))
                    .anyMatch(line -> line.startsWith("trigon_link_bytes_total{") && line.endsWith("} 1500"))
                    .anyMatch(line -> line.startsWith("trigon_link_messages_total{") && line.endsWith("} 2"))
                    .anyMatch(line -> line.startsWith("trigon_link_retries_total{") && line.endsWith("} 1"))
                    .anyMatch(line ->
                            line.startsWith("trigon_link_speed_bytes_per_second{") && line.endsWith("} 1250000000"))
                    .anyMatch(line -> line.startsWith("trigon_link_up{") && line.endsWith("} 0"))
                    .anyMatch(line -> line.startsWith("trigon_paths{")
                            && line.contains("peer=\"b\"")
                            && line.contains("state=\"up\""))
                    .anyMatch(line -> line.contains("link=\"\\\"odd\\\"\""));
            assertThat(page).contains("# TYPE trigon_link_bytes_total counter");
            assertThat(page.lines().filter(line -> line.contains(pid) && line.contains("peer=\"c\"")))
                    .anyMatch(line -> line.startsWith("trigon_failovers_total{") && line.endsWith("} 2"))
                    .anyMatch(line -> line.startsWith("trigon_failover_returns_total{") && line.endsWith("} 1"))
                    .anyMatch(line ->
                            line.startsWith("trigon_failover_pause_seconds_total{") && line.endsWith("} 0.042000000"))
                    .anyMatch(line ->
                            line.startsWith("trigon_failover_longest_pause_seconds{") && line.endsWith("} 0.030000000"))
                    .anyMatch(line -> line.startsWith("trigon_failover_messages_total{") && line.endsWith("} 4"))
                    .anyMatch(line -> line.startsWith("trigon_failover_bytes_total{") && line.endsWith("} 308"));
        });
    }

    /** The dashboard is of this distribution: a metric that is called otherwise would be an empty panel. */
    @Test
    void theDashboardAsksForMetricsAndLabelsThatThereAre() {
        Path dashboard = Path.of("..", "dist", "src", "main", "grafana", "trigon.json");
        withCounters(() -> {
            String page = Run.of("metrics").out();
            List<String> queries = JsonObject.parse(Files.readString(dashboard)).objects("panels").stream()
                    .flatMap(panel -> panel.objects("targets").stream())
                    .map(target -> target.text("expr"))
                    .toList();

            assertThat(queries).hasSizeGreaterThan(8).allSatisfy(query -> {
                assertThat(METRIC.matcher(query).results().map(MatchResult::group))
                        .isNotEmpty()
                        .allSatisfy(metric -> assertThat(page).contains("# TYPE " + metric + " "));
                String first = METRIC.matcher(query)
                        .results()
                        .findFirst()
                        .orElseThrow()
                        .group();
                String labels = query.replaceFirst("^.*\\bby \\(", "").replaceFirst("\\).*", "");
                assertThat(labels.split(", "))
                        .allSatisfy(label -> assertThat(label.equals("instance") // Prometheus adds it
                                        || page.lines()
                                                .anyMatch(line ->
                                                        line.startsWith(first + "{") && line.contains(label + "=\"")))
                                .as("%s of %s", label, query)
                                .isTrue());
            });
        });
    }

    @Test
    void jobsAndTopShowThem() {
        withCounters(() -> {
            assertThat(Run.of("jobs").out())
                    .contains(ProcessHandle.current().pid() + " ")
                    .contains("receiver")
                    .contains("TCP, down")
                    .contains("link left");
            assertThat(Run.of("jobs", "--json").out())
                    .contains("\"schema\": \"trigon.jobs/1\"")
                    .contains("\"up\": false")
                    .contains("\"bytes\": 1500")
                    .contains("\"longestPauseNanos\": 30000000");
            assertThat(JsonObject.parse(Run.of("metrics", "--json").out()).objects("metrics"))
                    .filteredOn(metric -> metric.text("name").equals("trigon_failover_pause_seconds_total"))
                    .singleElement()
                    .satisfies(metric -> assertThat(metric.objects("samples"))
                            .anyMatch(sample ->
                                    sample.object("labels").text("peer").equals("c")
                                            && sample.number("value").orElse(0.0) == 0.042));
            assertThat(Run.of("top", "--times", "1").out())
                    .contains("messages/s")
                    .contains("TCP, down");
        });
    }

    @Test
    void ratesAreByTheTimeThatHasPassed() throws IOException {
        String text;
        String json;
        try (Metrics metrics = Metrics.shared(Path.of("/dev/shm"));
                PathCounters path = metrics.link("eth7", "TCP", 10_000).path("sender")) {
            Time time = new PassingTime(Duration.ofSeconds(2)) {
                @Override
                public void sleep(Duration pause) throws InterruptedException {
                    super.sleep(pause);
                    for (int i = 0; i < 10; i++) {
                        path.message(25_000_000);
                    }
                }
            };
            text = printed(out -> new CommandLine(new TopCommand(HERE, out, time)).execute("--times", "2"));
            json = printed(out -> new CommandLine(new TopCommand(HERE, out, time)).execute("--json", "--times", "2"));
        }

        List<String> updates =
                text.lines().filter(line -> line.contains("eth7")).toList();
        assertThat(updates).hasSize(2);
        assertThat(updates.getFirst().strip().split(" {2,}")).containsSequence("eth7", "0.00", "0 %", "0");
        assertThat(updates.getLast().strip().split(" {2,}")).containsSequence("eth7", "1.00", "10 %", "5");
        assertThat(json.lines())
                .as("a document for each update")
                .hasSize(2)
                .allSatisfy(document -> assertThat(ownJob(document).objects("links"))
                        .singleElement()
                        .satisfies(link -> {
                            assertThat(link.text("name")).isEqualTo("eth7");
                            assertThat(link.whole("rateMbps")).isEqualTo(1000);
                            assertThat(link.whole("messagesPerSecond")).isEqualTo(5);
                        }));
    }

    private static String printed(Consumer<Console> command) {
        ByteArrayOutputStream shown = new ByteArrayOutputStream();
        PrintStream out = new PrintStream(shown, true, StandardCharsets.UTF_8);
        command.accept(new Console(out, new PrintStream(OutputStream.nullOutputStream()), false, false, 100));
        return shown.toString(StandardCharsets.UTF_8);
    }

    @Test
    void aNarrowTerminalHasFewerAndShorterColumns() {
        withCounters(() -> {
            Run jobs = Run.of(HERE, 80, "jobs");
            Run top = Run.of(HERE, 80, "top", "--times", "1");

            assertThat(jobs.out()).contains("link left", "out", "back", "longest", "again", "returns");
            assertThat(top.out()).contains("messages/s", "lost").doesNotContain("waits/s", "failovers");
            assertThat(Run.of(HERE, 100, "top", "--times", "1").out()).contains("waits/s", "failovers");
        });
    }

    @Test
    @Timeout(300)
    void topEndsWhereNobodyReadsIt() {
        OutputStream closed = new OutputStream() {
            @Override
            public void write(int octet) throws IOException {
                throw new IOException("Broken pipe");
            }
        };
        PrintStream out = new PrintStream(closed, false, StandardCharsets.UTF_8);
        Console console = new Console(out, new PrintStream(OutputStream.nullOutputStream()), false, false, 100);

        assertThat(TrigonProgram.run(HERE, console, "top")).isZero();
    }

    @Test
    void thePageIsWrittenWhole(@TempDir Path folder) {
        withCounters(() -> {
            Path file = folder.resolve("trigon.prom");
            assertThat(Run.of("metrics", "--file", file.toString()).status()).isZero();
            assertThat(file).content().contains("trigon_link_bytes_total");
        });
    }

    @Test
    void wrongOptionsAreErrors() {
        assertThat(Run.of("metrics", "--listen", "everywhere").err()).contains("--listen");
        assertThat(Run.of("top", "--interval", "0").err()).contains("--interval");
        assertThat(Run.of("metrics", "--listen", "everywhere").status()).isEqualTo(2);
        assertThat(Run.of("metrics", "--listen", "9400", "--json").status()).isEqualTo(2);
        assertThat(Run.of("top", "--interval", "0").status()).isEqualTo(2);
    }
}
