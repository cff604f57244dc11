package trigon.integration.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.integration.testsupport.HostProgram;
import trigon.report.model.Rank;
import trigon.report.model.Run;
import trigon.report.summary.Report;
import trigon.report.view.HtmlPage;

/** Ranks whose monotonic clocks are known to be apart, by time namespaces: the report finds out by how much. */
@Timeout(300)
@Tag("long")
class ClocksIT {

    private static final long APART = 1_000_000_000_000L;

    @TempDir
    Path directory;

    private final List<HostProgram> hosts = new ArrayList<>();

    @AfterEach
    void endTheHosts() {
        hosts.forEach(HostProgram::close);
    }

    /** Three ranks in a ring: each connection goes one way, so the lifelines tell as well as the ring does. */
    @Test
    void theErrorIsWithinItsBound() throws Exception {
        assumeThat(canMoveClocks()).as("time namespaces, as root").isTrue();
        for (int rank = 0; rank < 3; rank++) {
            start(rank);
        }
        hosts.forEach(host -> assertThat(host.exitStatus()).as(host.output()).isZero());

        Report report = Report.of(List.of(directory.resolve("trace")));

        Run run = report.run();
        assertThat(run.problems()).isEmpty();
        assertThat(run.ranks().stream().map(Rank::clock)).containsExactly(0, 1, 2);
        for (int rank = 1; rank < 3; rank++) {
            long bound = run.clocks().bound(0, rank);
            long error = run.clocks().ahead(rank) - rank * APART;
            assertThat(bound).as("rank %d is bounded", rank).isPositive();
            assertThat(Math.abs(error)).as("rank %d", rank).isLessThanOrEqualTo(bound);
        }
        assertThat(HtmlPage.of(report, "Trigon")).contains("±");
    }

    private static boolean canMoveClocks() throws Exception {
        Process process = new ProcessBuilder("unshare", "--time", "--monotonic", "5", "--fork", "true")
                .redirectErrorStream(true)
                .start();
        return process.waitFor() == 0;
    }

    private void start(int rank) {
        List<String> by = List.of(
                "unshare",
                "--time",
                "--monotonic",
                Long.toString(rank * APART / 1_000_000_000L),
                "--kill-child",
                "--fork");
        hosts.add(new HostProgram(
                by,
                HostProgram.distribution(),
                directory.resolve("output." + rank),
                Map.of(
                        "RANK", Integer.toString(rank),
                        "TRIGON_LINKS", "software",
                        "TRIGON_TRACE", directory.resolve("trace").toString()),
                "--rank",
                Integer.toString(rank),
                "--ranks",
                "3",
                "--bytes",
                "65536",
                "--iterations",
                "20",
                "--pause",
                "3",
                "--rendezvous",
                directory.resolve("rendezvous").toString()));
    }
}
