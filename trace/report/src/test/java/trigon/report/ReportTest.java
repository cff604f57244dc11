package trigon.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import trigon.report.path.Cause;
import trigon.report.path.CriticalPath;
import trigon.report.summary.LinkRow;
import trigon.report.summary.Report;
import trigon.report.view.HtmlPage;
import trigon.report.view.JsonLines;
import trigon.report.view.PerfettoTrace;
import trigon.report.view.SvgChart;
import trigon.trace.Fields;

/** Planted causes, in traces whose times are known. */
class ReportTest {

    private static final long BEGIN = 10_000_000_000L;
    private static final long US = 1_000;

    @TempDir
    Path folder;

    private Report report() {
        return Report.of(List.of(folder));
    }

    private Map<Cause, Long> causes() {
        Report report = report();
        assertThat(report.paths()).hasSize(1);
        assertThat(report.paths().getFirst().stream()
                        .mapToLong(segment -> segment.length())
                        .sum())
                .as("the pieces are the whole")
                .isEqualTo(report.run().collectives().getFirst().wall());
        return CriticalPath.byCause(report.paths().getFirst());
    }

    private void runOverASlowLink() {
        try (TracedRun run = new TracedRun(folder).rank(0, "a", 0).rank(1, "a", 0)) {
            run.connect(0, 1, "EAGER");
            run.message(0, 1, 0, 4096, BEGIN, BEGIN, BEGIN + 5 * US, BEGIN - 50 * US, BEGIN + 900 * US);
        }
    }

    @Test
    void aSlowLinkIsTransport() {
        runOverASlowLink();

        assertThat(causes()).containsEntry(Cause.TRANSPORT, 900 * US);
        assertThat(report().verdict()).contains("transport on 0→1 over sw_0to1");
    }

    @Test
    void aLateReceiveIsThePeers() {
        try (TracedRun run = new TracedRun(folder).rank(0, "a", 0).rank(1, "a", 0)) {
            run.connect(0, 1, "RENDEZVOUS");
            run.message(0, 1, 0, 64, BEGIN, BEGIN, BEGIN + 5 * US, BEGIN, BEGIN + 8 * US);
            long tried = BEGIN + 10 * US;
            run.message(0, 1, 1, 64, tried, BEGIN + 810 * US, BEGIN + 850 * US, BEGIN + 800 * US, BEGIN + 840 * US);
        }

        assertThat(causes())
                .containsEntry(Cause.PEER_LATE, 790 * US)
                .containsEntry(Cause.CREDIT, 10 * US)
                .containsEntry(Cause.TRANSPORT, 40 * US);
        assertThat(report().verdict()).contains("peer late at rank 1");
    }

    @Test
    void anEagerMessageThatNobodyWantedYetIsThePeers() {
        try (TracedRun run = new TracedRun(folder).rank(0, "a", 0).rank(1, "a", 0)) {
            run.connect(0, 1, "EAGER");
            run.message(0, 1, 0, 64, BEGIN, BEGIN, BEGIN + 5 * US, BEGIN, BEGIN + 8 * US);
            long posted = BEGIN + 10 * US;
            run.message(0, 1, 1, 64, posted, posted, BEGIN + 15 * US, BEGIN + 700 * US, BEGIN + 720 * US);
        }

        assertThat(causes()).containsEntry(Cause.PEER_LATE, 690 * US);
    }

    @Test
    void aRankThatHadNotCalledIsLate() {
        try (TracedRun run = new TracedRun(folder).rank(0, "a", 0).rank(1, "a", 0)) {
            run.connect(0, 1, "EAGER");
            run.message(0, 1, 0, 64, BEGIN, BEGIN, BEGIN + 5 * US, BEGIN + 700 * US, BEGIN + 720 * US);
        }

        assertThat(causes()).containsEntry(Cause.LATE_CALL, 700 * US).containsEntry(Cause.TRANSPORT, 20 * US);
        assertThat(report().verdict()).contains("late call at rank 1");
    }

    @Test
    void aCreditThatIsLongOnItsWayIsCredit() {
        try (TracedRun run = new TracedRun(folder).rank(0, "a", 0).rank(1, "a", 0)) {
            run.connect(0, 1, "RENDEZVOUS");
            run.message(0, 1, 0, 64, BEGIN, BEGIN + 600 * US, BEGIN + 650 * US, BEGIN - 10 * US, BEGIN + 640 * US);
        }

        assertThat(causes()).containsEntry(Cause.CREDIT, 600 * US);
        assertThat(report().verdict()).contains("credit on 0→1");
    }

    @Test
    void aThreadThatDoesNotAskIsProxy() {
        try (TracedRun run = new TracedRun(folder).rank(0, "a", 0).rank(1, "a", 0)) {
            run.connect(0, 1, "EAGER");
            run.message(0, 1, 0, 64, BEGIN, BEGIN, BEGIN + 5 * US, BEGIN - 9 * US, BEGIN + 1000 * US, (int) (950 * US));
        }

        assertThat(causes()).containsEntry(Cause.PROXY, 950 * US).containsEntry(Cause.TRANSPORT, 50 * US);
        assertThat(report().verdict()).contains("proxy at rank 1");
    }

    @Test
    void aRankThatComputesIsGpu() {
        try (TracedRun run =
                new TracedRun(folder).rank(0, "a", 0).rank(1, "a", 0).rank(2, "a", 0)) {
            run.connect(0, 1, "EAGER").connect(1, 2, "EAGER");
            run.message(0, 1, 0, 64, BEGIN, BEGIN, BEGIN + 5 * US, BEGIN, BEGIN + 20 * US);
            run.message(1, 2, 0, 64, BEGIN + 170 * US, BEGIN + 170 * US, BEGIN + 175 * US, BEGIN, BEGIN + 190 * US);
        }

        assertThat(causes()).containsEntry(Cause.GPU, 150 * US).containsEntry(Cause.TRANSPORT, 40 * US);
        assertThat(report().verdict()).contains("GPU at rank 1");
    }

    @Test
    void aPathThatIsRelayedIsNamed() {
        try (TracedRun run = new TracedRun(folder).rank(0, "a", 0).rank(1, "a", 0)) {
            run.connect(0, 1, "EAGER", "relay", "c");
            run.message(0, 1, 0, 64, BEGIN, BEGIN, BEGIN + 5 * US, BEGIN, BEGIN + 90 * US);
        }

        assertThat(causes()).containsEntry(Cause.RELAY, 90 * US);
    }

    @Test
    void aPauseUntilAnotherPathWasTakenIsFailover() {
        try (TracedRun run = new TracedRun(folder).rank(0, "a", 0).rank(1, "a", 0)) {
            run.connect(0, 1, "EAGER");
            run.moved(0, 1, 0, BEGIN + 850 * US, 700 * US);
            run.message(0, 1, 0, 64, BEGIN, BEGIN, BEGIN + 5 * US, BEGIN - 9 * US, BEGIN + 900 * US);
        }

        assertThat(causes())
                .as("before it was noticed, too")
                .containsEntry(Cause.FAILOVER, 850 * US)
                .containsEntry(Cause.TRANSPORT, 50 * US);
        assertThat(report().verdict()).contains("failover");
    }

    @Test
    void whoWaitsForASendWhosePathIsReplacedWaitsForFailover() {
        try (TracedRun run = new TracedRun(folder).rank(0, "a", 0).rank(1, "a", 0)) {
            run.connect(0, 1, "EAGER");
            run.moved(0, 1, 0, BEGIN + 850 * US, 700 * US);
            run.message(0, 1, 0, 64, BEGIN, BEGIN, BEGIN + 860 * US, BEGIN - 9 * US, BEGIN + 20 * US);
            long posted = BEGIN + 865 * US;
            run.message(0, 1, 1, 64, posted, posted, BEGIN + 895 * US, BEGIN + 30 * US, BEGIN + 900 * US);
        }

        assertThat(causes())
                .containsEntry(Cause.FAILOVER, 850 * US)
                .containsEntry(Cause.GPU, 5 * US)
                .containsEntry(Cause.TRANSPORT, 45 * US);
    }

    @Test
    void aReceiveIsNotLateWhereItsRankWasWithoutAPath() {
        try (TracedRun run = new TracedRun(folder).rank(0, "a", 0).rank(1, "a", 0)) {
            run.connect(0, 1, "RENDEZVOUS").connect(1, 0, "RENDEZVOUS");
            run.moved(1, 0, 1, BEGIN + 790 * US, 700 * US);
            run.message(1, 0, 0, 64, BEGIN, BEGIN, BEGIN + 795 * US, BEGIN, BEGIN + 8 * US);
            run.message(0, 1, 0, 64, BEGIN, BEGIN, BEGIN + 5 * US, BEGIN, BEGIN + 8 * US);
            long tried = BEGIN + 10 * US;
            run.message(0, 1, 1, 64, tried, BEGIN + 810 * US, BEGIN + 850 * US, BEGIN + 800 * US, BEGIN + 840 * US);
        }

        assertThat(causes()).containsEntry(Cause.FAILOVER, 700 * US).containsEntry(Cause.PEER_LATE, 90 * US);
        assertThat(report().verdict()).contains("failover on 1→0");
    }

    /** The machines' clocks are a second apart, and messages go both ways: their times are right within the bound. */
    @Test
    void clocksAreAlignedByTheMessages() {
        long ahead = 1_000_000_000_123L;
        try (TracedRun run = new TracedRun(folder).rank(0, "a", 0).rank(1, "b", ahead)) {
            run.connect(0, 1, "EAGER").connect(1, 0, "EAGER");
            for (int i = 0; i < 200; i++) {
                long at = BEGIN + i * 100L * US;
                long jitter = i * 37L % 50 * US;
                run.message(0, 1, i, 64, at, at, at + 5 * US, at, at + 10 * US + jitter);
                run.message(1, 0, i, 64, at, at, at + 5 * US, at, at + 12 * US + jitter);
            }
        }

        Report report = report();

        LinkRow link = report.links().getFirst();
        assertThat(link.bound()).isEqualTo(11 * US);
        var first = report.run().connections().getFirst().messages().getFirst();
        assertThat(first.received() - first.posted()).isCloseTo(10 * US, within(11 * US));
        assertThat(HtmlPage.of(report, "Trigon")).contains("±11.0 us");
    }

    /** A month of two machines whose messages went both ways in its first and in its last second alone. */
    @Test
    void clocksOfALongRunAreThoseOfTheNearestMessages() {
        long month = 30L * 24 * 3600 * 1_000_000_000;
        try (TracedRun run = new TracedRun(folder).rank(0, "a", 0).rank(1, "b", 77_000_000)) {
            run.connect(0, 1, "EAGER").connect(1, 0, "EAGER");
            for (int i = 0; i < 2; i++) {
                long at = BEGIN + i * month;
                run.message(0, 1, i, 64, at, at, at + US, at, at + 10 * US);
                run.message(1, 0, i, 64, at, at, at + US, at, at + 10 * US);
            }
        }

        Report report = report();

        var messages = report.run().connections().getFirst().messages();
        assertThat(messages)
                .hasSize(2)
                .allSatisfy(message ->
                        assertThat(message.received() - message.posted()).isEqualTo(10 * US));
    }

    /** A number that no run gets to, in a record that is as long as any other. */
    @Test
    void aDistantMessageCostsNoMoreThanItsRecord() {
        long distant = Long.MAX_VALUE;
        try (TracedRun run = new TracedRun(folder).rank(0, "a", 0).rank(1, "b", 0)) {
            run.connect(0, 1, "EAGER");
            run.message(0, 1, 0, 64, BEGIN, BEGIN, BEGIN + US, BEGIN, BEGIN + 10 * US);
            run.message(0, 1, distant, 64, BEGIN, BEGIN, BEGIN + US, BEGIN, BEGIN + 10 * US);
        }

        var connection = report().run().connections().getFirst();

        assertThat(connection.messages()).hasSize(2);
        assertThat(connection.message(distant)).isEqualTo(connection.messages().getLast());
        assertThat(connection.message(1)).isNull();
    }

    /** In a ring each connection goes one way only; round the ring they bound each other. */
    @Test
    void clocksOfARingAreBoundedAllTheSame() {
        try (TracedRun run =
                new TracedRun(folder).rank(0, "a", 0).rank(1, "b", 77_000_000).rank(2, "c", -5_000_000)) {
            run.connect(0, 1, "EAGER").connect(1, 2, "EAGER").connect(2, 0, "EAGER");
            for (int from = 0; from < 3; from++) {
                run.message(from, (from + 1) % 3, 0, 64, BEGIN, BEGIN, BEGIN + US, BEGIN, BEGIN + 10 * US);
            }
        }

        assertThat(report().run().clocks().bound(0, 1)).isEqualTo(15 * US);
    }

    /** Messages go one way only, and what is said on lifelines goes both ways. */
    @Test
    void clocksAreBoundedByLifelines() {
        long ahead = 5_000_000_000L;
        try (TracedRun run = new TracedRun(folder).rank(0, "a", 0).rank(1, "b", ahead)) {
            run.connect(0, 1, "EAGER");
            run.message(0, 1, 0, 64, BEGIN, BEGIN, BEGIN + US, BEGIN, BEGIN + 500 * US);
            for (int count = 1; count < 10; count++) {
                long at = BEGIN + count * 1000L * US;
                run.sign(0, 1, count, at, at + (20 + count) * US);
                run.sign(1, 0, count, at, at + (40 + count) * US);
            }
        }

        Report report = report();

        assertThat(report.run().clocks().bound(0, 1)).isEqualTo(31 * US); // (21 + 41) / 2
        var message = report.run().connections().getFirst().messages().getFirst();
        assertThat(message.received() - message.posted()).isCloseTo(500 * US, within(31 * US));
        assertThat(report.run().happenings()).isEmpty();
    }

    @Test
    void aDamagedFileIsShownAsFarAsItGoes() throws IOException {
        runOverASlowLink();
        Path file = folder.resolve("a-1.trace");
        try (RandomAccessFile cut = new RandomAccessFile(file.toFile(), "rw")) {
            cut.setLength(cut.length() - 5);
        }
        Files.writeString(folder.resolve("foreign.trace"), "this is something else altogether");
        byte[] other = Files.readAllBytes(folder.resolve("a-0.trace"));
        other[8] = 99;
        Files.write(folder.resolve("other.trace"), other);
        Files.write(folder.resolve("empty.trace"), new byte[0]);

        Report report = report();

        assertThat(report.run().ranks()).hasSize(2);
        assertThat(report.verdict()).contains("transport");
        assertThat(report.run().problems())
                .anySatisfy(problem -> assertThat(problem).contains("a-1.trace is damaged behind"))
                .anySatisfy(problem -> assertThat(problem).contains("foreign.trace is not a Trigon trace"))
                .anySatisfy(problem -> assertThat(problem).contains("empty.trace is not a Trigon trace"))
                .anySatisfy(problem -> assertThat(problem).contains("other.trace is a trace of version 99"));
    }

    @Test
    void aFolderWithoutTracesIsSaid() {
        assertThat(report().run().problems()).singleElement().asString().contains("TRIGON_TRACE=");
        assertThat(report().verdict()).startsWith("Nothing to report");
        assertThat(Report.of(List.of(folder.resolve("no"))).run().problems())
                .singleElement()
                .asString()
                .endsWith("does not exist");
    }

    @Test
    void halfOfARunIsSaid() throws IOException {
        runOverASlowLink();
        Files.delete(folder.resolve("a-1.trace"));

        assertThat(report().run().problems())
                .anySatisfy(problem -> assertThat(problem).contains("one end"));
    }

    /** Both ranks are on one machine, and so each sees the other's device, too; TCP's are those of the handshake. */
    @Test
    void retransmissionsAreThoseOfTheEndsOwnDevices() throws IOException {
        try (TracedRun run = new TracedRun(folder).rank(0, "a", 0).rank(1, "a", 0)) {
            run.connect(0, 1, "RENDEZVOUS");
            run.message(0, 1, 0, 64, BEGIN, BEGIN, BEGIN + 5 * US, BEGIN, BEGIN + 8 * US);
            for (int rank : new int[] {0, 1}) {
                run.recorder(rank).event("tcp", Fields.of("address", "10.0.0." + rank, "retransmits", 100));
                for (int before : new int[] {0, 1}) {
                    Fields counters = Fields.of("completer_retry_err", 10 + 3 * before, "packet_seq_err", 2 * before);
                    run.recorder(rank).event("rdma", counters.with("device", "dev" + rank + "of0to1"));
                    run.recorder(rank).event("rdma", counters.with("device", "dev" + (1 - rank) + "of0to1"));
                }
            }
        }
        Report report = report();

        assertThat(report.links().getFirst().retransmissions()).isEqualTo(10);
        ByteArrayOutputStream lines = new ByteArrayOutputStream();
        JsonLines.write(report, lines);
        assertThat(lines.toString(StandardCharsets.UTF_8))
                .contains("\"retransmissions\":10", "\"sendLinks\":\"dev0of0to1\"", "\"receiveQps\":\"0x000021\"");
    }

    @Test
    void theViewsShowIt() throws IOException {
        try (TracedRun run = new TracedRun(folder).rank(0, "a", 0).rank(1, "a", 0)) {
            run.connect(0, 1, "EAGER");
            for (int i = 0; i < 4; i++) {
                long at = BEGIN + i * 10L * US;
                run.message(0, 1, i, 4096, at, at, at + 5 * US, at, at + 8 * US);
            }
            run.recorder(0).event("tcp", Fields.of("address", "10.0.0.0", "retransmits", 3));
        }
        Report report = report();

        String page = HtmlPage.of(report, "Trigon 1.2.3");
        assertThat(page)
                .contains("1 January 1970, 00:00 UTC", "Reported by<dd>Trigon 1.2.3")
                .contains("<h2>What to do</h2>")
                .containsPattern("\\((rank|ranks) [0-9, ]+\\)<br>");
        assertThat(page)
                .doesNotContain("src=", "href=\"http", "url(", "@import")
                .contains("<svg", "critical path", "lang=\"en\"");
        assertThat(SvgChart.of(
                        report.run().collectives().getFirst(), report.paths().getFirst()))
                .contains("0→1 sends", "role=\"img\"");
        ByteArrayOutputStream lines = new ByteArrayOutputStream();
        JsonLines.write(report, lines);
        assertThat(lines.toString(StandardCharsets.UTF_8).lines())
                .allMatch(line -> line.startsWith("{\"kind\":") && line.endsWith("}"))
                .filteredOn(line -> line.contains("\"message\""))
                .hasSize(4);
        ByteArrayOutputStream perfetto = new ByteArrayOutputStream();
        PerfettoTrace.write(report, perfetto);
        assertThat(perfetto.toString(StandardCharsets.ISO_8859_1)).contains("critical path", "sends 0");
    }
}
