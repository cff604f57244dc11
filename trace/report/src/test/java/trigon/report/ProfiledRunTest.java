package trigon.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import trigon.report.model.Collective;
import trigon.report.summary.Report;
import trigon.trace.Fields;
import trigon.trace.RecordKind;
import trigon.trace.Ring;

/** Messages of a program's own in NCCL's profiler, which have no number of NCCL's. */
class ProfiledRunTest {

    private static final long BEGIN = 5_000_000_000L;
    private static final long US = 1000;
    private static final int MESSAGE = 2;
    private static final int OPERATION = 3;
    private static final int STEP = 4;
    private static final int SEND = 6;
    private static final int RECEIVE = 7;
    private static final int SEND_TAKEN = 9;
    private static final int RECEIVE_TAKEN = 10;

    @TempDir
    Path folder;

    /** The end of the second one is recorded on another thread than its begin. */
    @Test
    void bothEndsOfAMessageAreOneOperation() {
        try (TracedRun run = new TracedRun(folder).rank(0, "a", 0).rank(1, "a", 0)) {
            run.connect(0, 1, "EAGER");
            for (int rank = 0; rank < 2; rank++) {
                Ring user = ring(run, rank);
                Ring progress = ring(run, rank);
                for (int message = 0; message < 2; message++) {
                    profile(user, progress, rank, message, run.stream(0, 1, rank));
                }
            }
            for (int message = 0; message < 2; message++) {
                long at = BEGIN + message * 1000L * US;
                run.message(0, 1, message, 64, at + 10 * US, at + 10 * US, at + 15 * US, at + 9 * US, at + 30 * US);
            }
        }

        Report report = Report.of(List.of(folder));

        assertThat(report.run().profiled()).isTrue();
        assertThat(report.run().collectives()).hasSize(2).allSatisfy(each -> {
            assertThat(each.name()).isEqualTo("SendRecv");
            assertThat(each.bytes()).isEqualTo(4096);
            assertThat(each.parts()).containsOnlyKeys(0, 1);
            assertThat(each.messages()).hasSize(1);
        });
        assertThat(report.run().collectives().stream().map(Collective::sequence))
                .containsExactly(1L, 2L);
    }

    private static Ring ring(TracedRun run, int rank) {
        return Objects.requireNonNull(run.recorder(rank).open(Fields.of("kind", "thread")));
    }

    /** A message, its operation of the proxy, and the one step of that. */
    private static void profile(Ring user, Ring progress, int rank, int number, int stream) {
        long at = BEGIN + number * 1000L * US;
        long first = 100 + number * 10L;
        user.write(at, first, RecordKind.EVENT_START, MESSAGE, 0, 0);
        user.write(at, first, RecordKind.EVENT_DETAIL, 0, rank, 2);
        user.write(at, first, RecordKind.EVENT_DETAIL, 1, rank == 0 ? SEND : RECEIVE, 4096);
        user.write(at, first, RecordKind.EVENT_DETAIL, 2, 1 - rank, 0);
        user.write(at, first, RecordKind.EVENT_DETAIL, 3, 0, 0xC0FFEE);
        progress.write(at + 5 * US, first + 1, RecordKind.EVENT_START, OPERATION, 0, first);
        progress.write(at + 6 * US, first + 2, RecordKind.EVENT_START, STEP, 0, first + 1);
        int taken = rank == 0 ? SEND_TAKEN : RECEIVE_TAKEN;
        progress.write(at + 11 * US, first + 2, RecordKind.EVENT_STATE, taken, stream, number);
        progress.write(at + 40 * US, first + 2, RecordKind.EVENT_STOP, STEP, 0, 0);
        (number == 0 ? user : progress).write(at + 41 * US, first, RecordKind.EVENT_STOP, MESSAGE, 0, 0);
    }
}
