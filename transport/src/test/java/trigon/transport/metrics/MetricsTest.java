package trigon.transport.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.transport.metrics.MetricsReader.Counts;
import trigon.transport.metrics.MetricsReader.LinkMetrics;
import trigon.transport.metrics.MetricsReader.PathMetrics;
import trigon.transport.metrics.MetricsReader.Snapshot;

@Timeout(300)
class MetricsTest {

    private static final long SELF = ProcessHandle.current().pid();

    @TempDir
    Path directory;

    @Test
    void anotherReaderSeesWhatIsCountedWhileItIsCounted() throws IOException {
        try (Metrics metrics = Metrics.shared(directory)) {
            LinkCounters link = metrics.link("eth0 10.0.12.1/24", "SOFTWARE", 10_000);
            PathCounters path = link.path("sender");
            link.setUp(false);
            path.peer("b at 10.0.12.2");
            path.noteRelays("c over RDMA");
            path.state(2);
            path.message(100);
            path.message(28);
            path.waited();

            Snapshot snapshot = only(MetricsReader.of(SELF));

            assertThat(snapshot.links())
                    .containsExactly(new LinkMetrics(
                            0, "eth0 10.0.12.1/24", "SOFTWARE", 10_000, false, new Counts(0, 0, 0, 0, 0)));
            assertThat(snapshot.paths())
                    .containsExactly(new PathMetrics(
                            0, "b at 10.0.12.2", "sender", "c over RDMA", 2, new Counts(2, 128, 1, 0, 0)));
        }
    }

    /** A device may still say something of its port while the plugin closes. */
    @Test
    void nothingIsCountedOfALinkOnceTheMemoryIsFreed() throws IOException {
        Metrics metrics = Metrics.shared(directory);
        LinkCounters link = metrics.link("eth0", "RDMA", 100_000);
        metrics.close();

        link.setUp(false);
        link.retried();

        assertThat(MetricsReader.of(SELF)).isEmpty();
    }

    @Test
    void whatAClosedPathCountedIsItsLinks() throws IOException {
        try (Metrics metrics = Metrics.shared(directory)) {
            LinkCounters link = metrics.link("eth0", "RDMA", 100_000);
            link.retried();
            for (int i = 0; i < 3; i++) {
                PathCounters path = link.path("receiver");
                path.message(10);
                path.lost();
                path.close();
                path.close();
            }

            Snapshot snapshot = only(MetricsReader.of(SELF));

            assertThat(snapshot.paths()).isEmpty();
            assertThat(snapshot.links()).extracting(LinkMetrics::counts).containsExactly(new Counts(3, 30, 0, 3, 1));
            assertThat(link.messages()).isEqualTo(3);
            assertThat(link.bytes()).isEqualTo(30);
        }
    }

    @Test
    void leavesNoFileBehindAndNothingWhenItIsClosed() throws IOException {
        Metrics metrics = Metrics.shared(directory);
        assertThat(directory).isEmptyDirectory();
        assertThat(MetricsReader.of(SELF)).hasSize(1);

        metrics.close();
        metrics.close();

        assertThat(MetricsReader.of(SELF)).isEmpty();
    }

    @Test
    void countsForItselfWhereNoFileCanBeMade() throws IOException {
        try (Metrics metrics = Metrics.shared(directory.resolve("missing"))) {
            LinkCounters link = metrics.link("eth0", "SOFTWARE", 1);
            PathCounters path = link.path("sender");
            path.message(5);
            path.close();

            assertThat(link.bytes()).isEqualTo(5);
            assertThat(MetricsReader.of(SELF)).isEmpty();
        }
    }

    @Test
    void pathsBeyondTheTableAreCountedWithTheirLinkAllTheSame() {
        try (Metrics metrics = Metrics.unshared()) {
            LinkCounters link = metrics.link("eth0", "SOFTWARE", 1);
            List<PathCounters> paths =
                    IntStream.range(0, 2000).mapToObj(_ -> link.path("sender")).toList();
            paths.forEach(path -> path.message(1));
            paths.forEach(PathCounters::close);

            assertThat(link.messages()).isEqualTo(2000);
        }
    }

    /** Touching a page that a full file system has no room for would be a SIGBUS, on whichever thread it is. */
    @Test
    void aFullFileSystemEndsNothing() throws Exception {
        Process mount = new ProcessBuilder("mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", directory.toString())
                .redirectErrorStream(true)
                .start();
        Assumptions.assumeTrue(mount.waitFor() == 0, "no right to mount a file system here");
        try (Metrics metrics = Metrics.shared(directory)) {
            LinkCounters link = metrics.link("eth0", "SOFTWARE", 1);
            List<PathCounters> paths =
                    IntStream.range(0, 2000).mapToObj(_ -> link.path("sender")).toList();
            paths.forEach(path -> path.message(1));

            assertThat(only(MetricsReader.of(SELF)).paths()).hasSizeBetween(100, 1000);
            paths.forEach(PathCounters::close);
            assertThat(link.messages()).isEqualTo(2000);
        } finally {
            assertThat(new ProcessBuilder("umount", directory.toString())
                            .start()
                            .waitFor())
                    .isZero();
        }
    }

    @Test
    void longNamesAreCut() throws IOException {
        try (Metrics metrics = Metrics.shared(directory)) {
            metrics.link("x".repeat(500), "y".repeat(500), 1);

            LinkMetrics link = only(MetricsReader.of(SELF)).links().getFirst();

            int mark = "…".getBytes(StandardCharsets.UTF_8).length;
            assertThat(link.name()).isEqualTo("x".repeat(MetricsRow.NAME_BYTES - 1 - mark) + "…");
            assertThat(link.type()).isEqualTo("y".repeat(MetricsRow.TYPE_BYTES - 1 - mark) + "…");
        }
    }

    @Test
    void aProcessThatIsKilledLeavesNothing() throws Exception {
        Process child = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Counting.class.getName(),
                        directory.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try {
            assertThat(child.getInputStream().read()).isEqualTo('1');

            Snapshot snapshot = only(MetricsReader.of(child.pid()));

            assertThat(snapshot.paths()).extracting(PathMetrics::counts).containsExactly(new Counts(7, 56, 0, 0, 0));
        } finally {
            child.destroyForcibly();
        }
        assertThat(child.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(directory).isEmptyDirectory();
    }

    /** The other process: counts, says so, and waits to be killed. */
    static final class Counting {

        private Counting() {}

        public static void main(String... arguments) throws InterruptedException {
            Metrics metrics = Metrics.shared(Path.of(arguments[0]));
            PathCounters path = metrics.link("eth0", "SOFTWARE", 1).path("sender");
            for (int i = 0; i < 7; i++) {
                path.message(8);
            }
            System.out.print('1');
            System.out.flush();
            Thread.sleep(Long.MAX_VALUE); // until it is killed
        }
    }

    private static Snapshot only(List<Snapshot> snapshots) {
        assertThat(snapshots).hasSize(1);
        return snapshots.getFirst();
    }
}
