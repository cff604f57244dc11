package trigon.report.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.system.file.ProcessUsers;
import trigon.trace.Fields;
import trigon.trace.Recorder;
import trigon.trace.Ring;
import trigon.trace.TraceFile;
import trigon.trace.TraceFile.ChunkKind;

/** Traces that others have written, which root looks at. */
@Timeout(120)
class HostileTraceTest {

    private static final long NOBODY = Long.MAX_VALUE;

    @TempDir
    Path folder;

    /** Opened as a file, it would hold up whoever opens it until somebody writes. */
    @Test
    void aPipeIsLeftOut() throws Exception {
        Path pipe = folder.resolve("a" + TraceFile.SUFFIX);
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();

        TraceFolder read = TraceFolder.read(List.of(folder));
        assertThat(read.processes()).isEmpty();
        assertThat(read.problems()).singleElement().asString().contains("is not a regular file");
    }

    /** Memory left by an ended process is added to its trace, and removed. */
    @Test
    void whatOnesOwnProcessLeftIsAdded() throws IOException {
        Path rings = rings();
        TraceFolder.read(List.of(trace(rings)));

        assertThat(rings).doesNotExist();
    }

    /** A trace may name anybody's folder, for root to take away. */
    @Test
    void anotherUsersTraceLeadsNowhere() throws IOException {
        Assumptions.assumeTrue(ProcessUsers.own() == ProcessUsers.ROOT, "only root may give files away");
        Path rings = rings();
        Path trace = trace(rings);
        Files.setAttribute(trace, "unix:uid", 12345);
        long length = Files.size(trace);

        TraceFolder read = TraceFolder.read(List.of(trace));
        assertThat(read.processes()).hasSize(1);
        assertThat(rings).isNotEmptyDirectory();
        assertThat(trace).hasSize(length);
    }

    @Test
    void anotherUsersRingsAreLeftAlone() throws IOException {
        Assumptions.assumeTrue(ProcessUsers.own() == ProcessUsers.ROOT, "only root may give files away");
        Path rings = rings();
        Files.setAttribute(rings, "unix:uid", 12345);

        TraceFolder.read(List.of(trace(rings)));
        assertThat(rings).isNotEmptyDirectory();
    }

    /** The folder itself may be one's own, and lead to another one by its name. */
    @Test
    void aLinkToRingsIsNotFollowed() throws IOException {
        Assumptions.assumeTrue(ProcessUsers.own() == ProcessUsers.ROOT, "only root may give files away");
        Path rings = rings();
        Path link = folder.resolve(Recorder.RINGS_PREFIX + "link");
        Files.createSymbolicLink(link, rings);
        new ProcessBuilder("chown", "-h", "12345", link.toString())
                .start()
                .onExit()
                .join();

        TraceFolder.read(List.of(trace(link)));
        assertThat(rings).isNotEmptyDirectory();
    }

    private Path rings() throws IOException {
        Path rings = Files.createDirectory(folder.resolve(Recorder.RINGS_PREFIX + "1"));
        Ring ring = Ring.create(rings.resolve("1"), 1, 16);
        ByteBuffer copy = ByteBuffer.wrap(Files.readAllBytes(rings.resolve("1")));
        ring.close(); // which takes its file away
        Files.write(rings.resolve("1"), copy.array());
        return rings;
    }

    private Path trace(Path rings) throws IOException {
        Path path = folder.resolve("job" + TraceFile.SUFFIX);
        try (TraceFile file = TraceFile.create(path)) {
            file.add(ChunkKind.PROCESS, 0, Fields.of("pid", NOBODY, "rings", rings));
        }
        return path;
    }
}
