package trigon.policy.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.policy.PolicyHost;
import trigon.policy.PolicyLoader;
import trigon.policy.ProgramContext;
import trigon.policy.map.MapSet;
import trigon.policy.program.ProgramType;
import trigon.policy.verify.VerifierLimits;
import trigon.system.file.ProcessUsers;

/** A process's report on its policy comes to others unchanged. */
class ReportFileTest {

    private static final Path OWN_PROCESS = Path.of("/proc/self");

    @TempDir
    private Path folder;

    @Test
    void aReportIsReadBack() throws Exception {
        PolicyReport first =
                new PolicyReport("/p.o", "", "", "refused\nfor\ta reason", List.of(), List.of(), List.of());
        PolicyReport second = new PolicyReport(
                "/p.o",
                "p.o (tuner t; 01)",
                "0123",
                "",
                List.of(new PolicyReport.Stopped("process", "profiler", 3)),
                List.of(new PolicyReport.Tuner("communicator 0x1", "0123", 1, 2, 3)),
                List.of(
                        new PolicyReport.MapContent("process", "empty", "array", List.of()),
                        new PolicyReport.MapContent(
                                "communicator 0x1",
                                "m",
                                "hash",
                                List.of(new PolicyReport.Entry("00", "01"), new PolicyReport.Entry("02", "03")))));
        try (ReportFile file = ReportFile.create(folder)) {
            file.write(second);
            assertThat(ReportFile.read(OWN_PROCESS)).contains(second);
            file.write(first);
            assertThat(ReportFile.read(OWN_PROCESS).orElseThrow().refused()).isEqualTo("refused for a reason");
            assertThat(folder).as("nothing is left behind").isEmptyDirectory();
        }
        assertThat(ReportFile.read(OWN_PROCESS)).isEmpty();
    }

    /** A process that has a file open which looks like a report. */
    private Path process(String users, byte[] content) throws Exception {
        Path process = Files.createTempDirectory(folder, "process");
        Path file = Files.write(process.resolve("trigon-policy-1 (deleted)"), content);
        Files.writeString(process.resolve("status"), "Name:\tjob\nUid:\t" + users + "\n");
        Files.createSymbolicLink(Files.createDirectory(process.resolve("fd")).resolve("7"), file);
        return process;
    }

    private static byte[] report(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        CRC32 checksum = new CRC32();
        checksum.update(bytes);
        return ByteBuffer.allocate(24 + bytes.length)
                .putLong(0x0001_7963_696c_6f70L)
                .putLong(bytes.length)
                .putLong(checksum.getValue())
                .put(bytes)
                .array();
    }

    @Test
    void aReportThatAnotherUserHandedToAProcessIsNotRead() throws Exception {
        int own = ProcessUsers.own();
        byte[] report = report("file\t/p.o\n");
        assertThat(ReportFile.read(process("%d\t%d\t%d\t%d".formatted(own, own, own, own), report)))
                .hasValueSatisfying(read -> assertThat(read.file()).isEqualTo("/p.o"));
        Path other = process("%d\t%d\t%d\t%d".formatted(own + 1, own, own, own), report);
        assertThat(catchThrowableOfType(IOException.class, () -> ReportFile.read(other)))
                .hasMessageContaining("another user");
    }

    @Test
    void whatNoProcessOfTrigonWritesIsNoReport() throws Exception {
        int own = ProcessUsers.own();
        String users = "%d %d %d %d".formatted(own, own, own, own);
        for (String text :
                List.of("file", "tuner\ta\tb\tc\td\te", "entry\t00\t01", "stopped\ta\tb\tmany", "map\tone")) {
            Path process = process(users, report(text + "\n"));
            assertThat(catchThrowableOfType(IOException.class, () -> ReportFile.read(process)))
                    .as(text)
                    .isNotNull();
        }
        assertThat(ReportFile.read(process(users, report("file\t/p\u001b[2J\u009b\u202e\r.o\n"))))
                .hasValueSatisfying(read -> assertThat(read.file()).isEqualTo("/p?[2J???.o"));
    }

    /** As many as there is room for: they are not copied once more for each that comes. */
    @Test
    @Timeout(60)
    void aMapOfAnyNumberOfEntriesIsReadInTime() throws Exception {
        int own = ProcessUsers.own();
        String entry = "entry\t\t\n";
        int many = ((1 << 20) - 64) / entry.length();
        Path process = process(
                "%d %d %d %d".formatted(own, own, own, own), report("map\tprocess\tm\thash\n" + entry.repeat(many)));

        assertThat(ReportFile.read(process))
                .hasValueSatisfying(
                        read -> assertThat(read.maps().getFirst().entries()).hasSize(many));
    }

    @Test
    void mapsAreShownWithoutTheirZeros() throws Exception {
        PolicyHost host = new PolicyHost(new PolicyLoader(VerifierLimits.DEFAULT), new MapSet());
        var _ = host.replace("h", Files.readAllBytes(Path.of("..", "examples", "slow_events.o")));
        try (ProgramContext event = new ProgramContext(ProgramType.PROFILER)) {
            assertThat(host.slot(ProgramType.PROFILER).run(event)).isZero();
        }
        assertThat(PolicyReport.MapContent.ofAll("process", host.maps()))
                .filteredOn(map -> map.name().equals("seen"))
                .singleElement()
                .satisfies(map -> assertThat(map.entries())
                        .containsExactly(new PolicyReport.Entry("00000000", "0100000000000000")));
    }
}
