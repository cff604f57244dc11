package trigon.integration;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import trigon.report.path.Cause;
import trigon.report.path.Segment;
import trigon.report.summary.Report;
import trigon.report.view.HtmlPage;

/** Traces of real runs over software links, in which one rank was made late: the report says which, and by what. */
@Timeout(300)
class PlantedCausesIT {

    @TempDir
    Path directory;

    private final List<HostProgram> hosts = new ArrayList<>();

    @AfterEach
    void endTheHosts() {
        hosts.forEach(HostProgram::close);
    }

    @ParameterizedTest
    @CsvSource({"compute,GPU", "receive,PEER_LATE", "proxy,PROXY"})
    void theLateRankIsFound(String plant, Cause cause) {
        start("--bytes", "262144", "--iterations", "8", "--spin", "--plant", plant + ":1:3000");
        hosts.forEach(host -> assertThat(host.exitStatus()).as(host.output()).isZero());

        Report report = Report.of(List.of(directory.resolve("trace")));

        assertThat(report.run().problems()).isEmpty();
        Map<String, Long> times = new HashMap<>();
        report.paths()
                .forEach(path -> path.forEach(segment -> times.merge(name(segment), segment.length(), Long::sum)));
        long planted = times.getOrDefault(cause + " at 1", 0L);
        assertThat(planted)
                .as("%s", times)
                .isGreaterThan(times.getOrDefault(cause + " at 0", 0L))
                .isGreaterThan(times.getOrDefault("TRANSPORT at 0", 0L))
                .isGreaterThan(times.getOrDefault("TRANSPORT at 1", 0L));
        assertThat(HtmlPage.of(report)).contains(report.verdict());
    }

    private static String name(Segment segment) {
        return segment.cause() + " at " + segment.rank();
    }

    /** What it had not written to its file is taken from its rings, which are gone then. */
    @Test
    void whatAKilledProcessRecordedIsRead() throws Exception {
        start("--bytes", "65536", "--iterations", "1000000", "--timeout", "20");
        Path trace = directory.resolve("trace");
        long deadline = System.nanoTime() + 100_000_000_000L;
        while (bytesOf(trace) < 100_000) {
            assertThat(System.nanoTime()).as(hosts.getFirst().output()).isLessThan(deadline);
            Thread.sleep(20);
        }

        for (HostProgram host : hosts) {
            host.signal("KILL");
            assertThat(host.exitStatus()).isNotZero();
        }
        Report report = Report.of(List.of(trace));

        assertThat(report.run().problems())
                .hasSize(2)
                .allSatisfy(problem -> assertThat(problem).contains("has no end"));
        assertThat(report.run().ranks()).hasSize(2).allSatisfy(rank -> {
            assertThat(Path.of(rank.trace().process().get("rings"))).doesNotExist();
        });
        assertThat(report.run().connections())
                .hasSize(2)
                .allSatisfy(connection -> assertThat(connection.messages()).hasSizeGreaterThan(50));
    }

    private static long bytesOf(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return 0;
        }
        long sum = 0;
        try (var files = Files.list(folder)) {
            for (Path file : files.toList()) {
                sum += Files.size(file);
            }
        }
        return sum;
    }

    private void start(String... more) {
        for (int rank = 0; rank < 2; rank++) {
            List<String> arguments = new ArrayList<>(List.of(
                    "--rank",
                    Integer.toString(rank),
                    "--ranks",
                    "2",
                    "--rendezvous",
                    directory.resolve("rendezvous").toString()));
            arguments.addAll(List.of(more));
            hosts.add(new HostProgram(
                    HostProgram.distribution(),
                    directory.resolve("output." + rank),
                    Map.of(
                            "RANK", Integer.toString(rank),
                            "TRIGON_LINKS", "software",
                            "TRIGON_TRACE", directory.resolve("trace").toString()),
                    arguments.toArray(String[]::new)));
        }
    }
}
