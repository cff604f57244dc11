package trigon.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import trigon.system.Errno;

class DmaBufTest {

    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");

    @TempDir
    private Path scratch;

    @Test
    void outlivesTheDescriptorThatItWasMadeFrom() throws Exception {
        Path file = Files.createFile(scratch.resolve("memory")).toRealPath();
        DmaBuf lent;
        try (FileChannel owner = FileChannel.open(file)) {
            assertThat(owner.isOpen()).isTrue();
            lent = DmaBuf.of(openOn(file).getFirst(), 4096);
            assertThat(openOn(file)).hasSize(2).contains(lent.descriptor());
        }

        assertThat(openOn(file)).containsExactly(lent.descriptor());
        assertThat(Files.readString(Path.of("/proc/self/fdinfo/" + lent.descriptor())))
                .as("closed on exec")
                .containsPattern("flags:\\s+02[0-7]{6}");
        assertThat(lent.offset()).isEqualTo(4096);

        lent.close();
        lent.close();

        assertThat(openOn(file)).isEmpty();
        assertThat(lent.descriptor()).isEqualTo(-1);
    }

    @Test
    void refusesWhatIsNoDescriptor() {
        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> DmaBuf.of(-1, 0))
                .withMessageContaining("descriptor -1")
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EBADF));
        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> DmaBuf.of(0, -1))
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL));
    }

    private static List<Integer> openOn(Path file) throws IOException {
        try (Stream<Path> descriptors = Files.list(DESCRIPTORS)) {
            return descriptors
                    .filter(descriptor -> leadsTo(descriptor, file))
                    .map(descriptor -> Integer.parseInt(descriptor.getFileName().toString()))
                    .toList();
        }
    }

    private static boolean leadsTo(Path descriptor, Path file) {
        try {
            return Files.readSymbolicLink(descriptor).equals(file);
        } catch (IOException _) {
            return false; // that of the listing itself
        }
    }
}
