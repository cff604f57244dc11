package trigon.transport.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.system.file.OpenFile;
import trigon.system.file.ProcessUsers;
import trigon.transport.metrics.MetricsReader.Snapshot;

/** Files that a process of a stranger's hands out as its counters: root may be who looks. */
@Timeout(60)
class HostileMetricsTest {

    private static final long SELF = ProcessHandle.current().pid();
    private static final int ROW = (int) MetricsRow.HEADER_BYTES;

    private final ByteBuffer content =
            ByteBuffer.allocate(ROW + 2 * MetricsRow.BYTES).order(ByteOrder.nativeOrder());
    private final AtomicBoolean over = new AtomicBoolean();

    @TempDir
    Path directory;

    @AfterEach
    void endTheStranger() {
        over.set(true);
    }

    private Path file() {
        return directory.resolve(Metrics.FILE_PREFIX + "hostile");
    }

    /** A link in the first row, and that number of rows. */
    private Path withRows(int used) throws IOException {
        content.putLong(0, MetricsRow.MAGIC).putInt((int) MetricsRow.USED, used);
        content.putInt(ROW + (int) MetricsRow.KIND, MetricsRow.LINK);
        content.put(ROW + (int) MetricsRow.NAME, "eth0".getBytes(StandardCharsets.UTF_8));
        return Files.write(file(), content.array());
    }

    private Snapshot read() throws IOException {
        try (OpenFile open = OpenFile.open(file())) {
            return MetricsReader.read(open);
        }
    }

    @Test
    void rowsBeyondTheFileAreNotRead() throws IOException {
        withRows(Integer.MAX_VALUE);
        assertThat(read().links()).hasSize(1);

        withRows(-1);
        assertThat(read().links()).isEmpty();
    }

    @Test
    void aFileThatIsCutIsRead() throws IOException {
        withRows(2);
        for (int length = 0; length <= content.capacity(); length += 7) {
            Files.write(file(), Arrays.copyOf(content.array(), length));
            if (length < MetricsRow.HEADER_BYTES) {
                assertThatExceptionOfType(UntrustedMetricsException.class)
                        .isThrownBy(this::read)
                        .withMessageContaining("use the tools of that version");
            } else {
                assertThat(read().links()).hasSize(length < ROW + MetricsRow.BYTES ? 0 : 1);
            }
        }
    }

    /** The reader would look again and again. */
    @Test
    void aRowThatChangesHandsAllTheTimeEndsTheLook() throws Exception {
        withRows(1);
        Thread stranger = Thread.ofPlatform().daemon().start(() -> {
            try (FileChannel channel = FileChannel.open(file(), StandardOpenOption.WRITE)) {
                for (int generation = 0; !over.get(); generation++) {
                    ByteBuffer word = ByteBuffer.allocate(4).putInt(0, generation);
                    channel.write(word, ROW + MetricsRow.GENERATION);
                }
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });

        for (int i = 0; i < 200; i++) {
            assertThat(read().links()).hasSizeBetween(0, 1);
        }
        over.set(true);
        stranger.join();
        assertThat(read().links()).hasSize(1);
    }

    /** C0, C1 and marks of directions would move a terminal's cursor, or forge lines. */
    @Test
    void namesLoseWhatATerminalObeys() throws IOException {
        content.put(
                ROW + (int) MetricsRow.NAME, "a\u001b[2Jb\u009b1mc\u202ed\ne\u2028f".getBytes(StandardCharsets.UTF_8));
        content.putLong(0, MetricsRow.MAGIC).putInt((int) MetricsRow.USED, 1);
        content.putInt(ROW + (int) MetricsRow.KIND, MetricsRow.LINK);
        Files.write(file(), content.array());

        assertThat(read().links().getFirst().name()).isEqualTo("a?[2Jb?1mc?d?e?f");
    }

    /** Opened as a file it would hold up whoever opens it until somebody writes. */
    @Test
    void aPipeIsRefusedAtOnce() throws Exception {
        Path pipe = directory.resolve(Metrics.FILE_PREFIX + "pipe");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();
        Process holder =
                new ProcessBuilder("sh", "-c", "exec 3<>\"$0\" && echo && exec sleep 600", pipe.toString()).start();
        try {
            assertThat(holder.getInputStream().read()).isEqualTo('\n');

            assertThatExceptionOfType(UntrustedMetricsException.class)
                    .isThrownBy(() -> MetricsReader.of(holder.pid()))
                    .withMessageContaining("is not a regular file");
        } finally {
            holder.destroyForcibly();
        }
    }

    @Test
    void aFileOfAnotherUsersIsNotRead() throws Exception {
        Assumptions.assumeTrue(ProcessUsers.own() == ProcessUsers.ROOT, "only root may give files away");
        Path file = withRows(1);
        try (FileChannel _ = FileChannel.open(file, StandardOpenOption.READ)) {
            assertThat(MetricsReader.of(SELF)).hasSize(1);
            Files.setAttribute(file, "unix:uid", 12345);

            assertThatExceptionOfType(UntrustedMetricsException.class)
                    .isThrownBy(() -> MetricsReader.of(SELF))
                    .withMessageContaining("belongs to user 12345");
        }
    }

    /** Each file has as many as it may have. */
    @Test
    void moreCountersThanAFileHasAreRefused() throws Exception {
        ByteBuffer rows = ByteBuffer.allocate(ROW + (MetricsRow.MAX_ROWS / 2 + 1) * MetricsRow.BYTES)
                .order(ByteOrder.nativeOrder());
        rows.putLong(0, MetricsRow.MAGIC).putInt((int) MetricsRow.USED, Integer.MAX_VALUE);
        for (int at = ROW; at < rows.capacity(); at += MetricsRow.BYTES) {
            rows.putInt(at + (int) MetricsRow.KIND, MetricsRow.LINK);
        }
        Path one = Files.write(directory.resolve(Metrics.FILE_PREFIX + "one"), rows.array());
        Path other = Files.write(directory.resolve(Metrics.FILE_PREFIX + "other"), rows.array());
        try (FileChannel _ = FileChannel.open(one, StandardOpenOption.READ)) {
            assertThat(MetricsReader.of(SELF)).hasSize(1);
            try (FileChannel _ = FileChannel.open(other, StandardOpenOption.READ)) {
                assertThatExceptionOfType(UntrustedMetricsException.class)
                        .isThrownBy(() -> MetricsReader.of(SELF))
                        .withMessageContaining("more than 65536 counters");
            }
        }
    }

    @Test
    void moreFilesThanPluginsAreRefused() throws Exception {
        List<FileChannel> open = new ArrayList<>();
        try {
            for (int i = 0; i < 65; i++) {
                withRows(1);
                Path each = directory.resolve(Metrics.FILE_PREFIX + i);
                Files.move(file(), each);
                open.add(FileChannel.open(each, StandardOpenOption.READ));
            }

            assertThatExceptionOfType(UntrustedMetricsException.class)
                    .isThrownBy(() -> MetricsReader.of(SELF))
                    .withMessageContaining("more than 64 files of counters");
        } finally {
            for (FileChannel each : open) {
                each.close();
            }
        }
    }
}
