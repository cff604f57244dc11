package trigon.integration.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import trigon.integration.testsupport.HostProgram;
import trigon.report.summary.Report;
import trigon.report.view.HtmlPage;
import trigon.testsupport.Sampled;

/** Traces of real runs over software links, in which one rank was made late: the report says which, and by what. */
@Isolated("what is planted has to be large against what the machine does by itself")
@Timeout(400)
class PlantedCausesIT {

    @TempDir
    Path directory;

    @ParameterizedTest
    @Sampled({
        "compute, 10, GPU",
        "receive, 10, peer late",
        "proxy, 10, proxy",
        "call, 60, late call",
        "first, 300, late call"
    })
    void theLateRankIsBlamed(String plant, int milliseconds, String cause) throws Exception {
        Report report = PlantedRun.isBlamed(cause + " at rank 1", times -> {
            try (PlantedRun run = new PlantedRun(directory, 2)) {
                String planted = plant + ":1:" + milliseconds * 1000 * times;
                for (int rank = 0; rank < 2; rank++) {
                    run.start(
                            List.of(),
                            Map.of(),
                            "--bytes",
                            "262144",
                            "--spin",
                            "--profiler",
                            "6",
                            "--plant",
                            planted,
                            "--timeout",
                            "100");
                }
                return run.report();
            }
        });

        assertThat(HtmlPage.of(report, "Trigon 1.2.3")).contains(report.verdict());
    }

    /** What it was at when it stopped decides which of its parts is late; its end of a software link stops with it. */
    @Test
    void aStoppedProcessIsBlamed() throws Exception {
        PlantedRun.isBlamed("((proxy|late call|GPU) at rank 1|transport on 0→1)", times -> {
            try (PlantedRun run = new PlantedRun(directory, 2)) {
                endless(run);
                run.awaitTrace(50_000);
                HostProgram stopped = run.hosts().get(1);
                stopped.signal("STOP");
                Thread.sleep(1500L * times); // what is planted is a length of time
                stopped.signal("CONT");
                Files.createFile(run.until());
                return run.report();
            }
        });
    }

    /** What it had not written to its file is taken from its rings, which are gone then. */
    @Test
    void whatAKilledProcessRecordedIsRead() throws Exception {
        try (PlantedRun run = new PlantedRun(directory, 2)) {
            endless(run);
            run.awaitTrace(100_000);

            for (HostProgram host : run.hosts()) {
                host.signal("KILL");
                assertThat(host.exitStatus()).isNotZero();
            }
            Report report = Report.of(List.of(run.trace()));

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
    }

    /** Nothing that is planted lasts longer than a peer is waited for. */
    private void endless(PlantedRun run) throws IOException {
        Path file = Files.writeString(directory.resolve("patient.yaml"), """
                version: 1
                handshake: {peerTimeout: 2m}
                queuePair: {timeout: 21}
                """);
        for (int rank = 0; rank < 2; rank++) {
            run.startEndless(List.of(), Map.of("TRIGON_CONFIG", file.toString()));
        }
    }
}
