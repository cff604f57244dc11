package trigon.policy.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import trigon.policy.PolicyHost;
import trigon.policy.PolicyLoader;
import trigon.policy.ProgramContext;
import trigon.policy.map.MapSet;
import trigon.policy.program.ProgramTypes;
import trigon.policy.verify.Limits;

/** What a process says of its policy comes to others as it is. */
class ReportFileTest {

    private static final Path OWN_DESCRIPTORS = Path.of("/proc/self/fd");

    @TempDir
    private Path folder;

    @Test
    void aReportIsReadBack() throws Exception {
        PolicyReport first = new PolicyReport("/p.o", "", "", "refused\nfor\ta reason", 0, List.of(), List.of());
        PolicyReport second = new PolicyReport(
                "/p.o",
                "p.o (tuner t; 01)",
                "0123",
                "",
                3,
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
            assertThat(ReportFile.read(OWN_DESCRIPTORS)).contains(second);
            file.write(first);
            assertThat(ReportFile.read(OWN_DESCRIPTORS).orElseThrow().refused()).isEqualTo("refused for a reason");
            assertThat(folder).as("nothing is left behind").isEmptyDirectory();
        }
        assertThat(ReportFile.read(OWN_DESCRIPTORS)).isEmpty();
    }

    @Test
    void mapsAreShownWithoutTheirZeros() throws Exception {
        PolicyHost host = new PolicyHost(new PolicyLoader(Limits.DEFAULT), new MapSet());
        var _ = host.replace("h", Files.readAllBytes(Path.of("examples", "slow_events.o")));
        try (ProgramContext event = new ProgramContext(ProgramTypes.PROFILER)) {
            assertThat(host.slot(ProgramTypes.PROFILER).run(event)).isZero();
        }
        assertThat(MapContents.of("process", host.maps()))
                .filteredOn(map -> map.name().equals("seen"))
                .singleElement()
                .satisfies(map -> assertThat(map.entries())
                        .containsExactly(new PolicyReport.Entry("00000000", "0100000000000000")));
    }
}
