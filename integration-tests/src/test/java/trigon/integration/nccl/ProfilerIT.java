package trigon.integration.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import trigon.integration.testsupport.HostProgram;
import trigon.report.model.Collective;
import trigon.report.summary.Report;
import trigon.testsupport.Sampled;

/** The host program calls the library's profiler as NCCL does, for each version: the trace knows the collectives. */
@Timeout(300)
class ProfilerIT {

    private static final int BYTES = 262144;
    private static final int ROUNDS = 3; // and one to warm up

    @TempDir
    Path directory;

    private final List<HostProgram> hosts = new ArrayList<>();

    @AfterEach
    void endTheHosts() {
        hosts.forEach(HostProgram::close);
    }

    /** With the network's version of the NCCL releases that have the profiler's. */
    @ParameterizedTest
    @Tag("long")
    @Sampled({"1,8", "2,9", "3,10", "4,10", "5,11", "6,12", "7,12"})
    void theCollectivesAreKnown(int version, int api) {
        run(true, "--profiler", Integer.toString(version), "--api", Integer.toString(api), "--channels", "2");

        assertThat(hosts.getFirst().output()).contains("found ncclProfiler_v" + version);
        Report report = Report.of(List.of(directory.resolve("trace")));
        assertThat(report.run().problems()).isEmpty();
        assertThat(report.run().profiled()).isTrue();
        assertThat(report.operations()).singleElement().satisfies(row -> {
            assertThat(row.name()).isEqualTo("AllReduce");
            assertThat(row.bytes()).isEqualTo(BYTES);
            assertThat(row.algorithm()).isEqualTo("Ring/Simple");
            assertThat(row.count()).isEqualTo(ROUNDS + 1);
        });
        List<Collective> collectives = report.run().collectives();
        assertThat(collectives).allSatisfy(collective -> {
            assertThat(collective.communicator()).isEqualTo("7267000000000001");
            assertThat(collective.parts()).hasSize(2);
            assertThat(collective.parts().values()).allSatisfy(part -> {
                assertThat(part.called()).isLessThanOrEqualTo(part.started());
                assertThat(part.started()).isLessThan(part.ended());
            });
        });
        assertThat(report.run().connections())
                .hasSize(4)
                .allSatisfy(connection -> assertThat(connection.messages())
                        .as("each message belongs to a collective")
                        .isNotEmpty()
                        .allSatisfy(message -> {
                            assertThat(message.collective()).isNotNull();
                            assertThat(message.ready() != 0).isEqualTo(version >= 4);
                        }));
    }

    @Test
    void withoutATraceThereIsNoProfiler() {
        run(false, "--profiler", "6");

        assertThat(hosts.getFirst().output()).contains("there is no ncclProfiler_v6");
    }

    /** bpftrace and perf find probes by notes in the library. */
    @ParameterizedTest
    @Sampled({"posted", "done", "credit"})
    void theLibraryHasProbes(String name) throws IOException {
        Path library = HostProgram.distribution().resolve("lib/libnccl-net-trigon.so");

        String bytes = Files.readString(library, StandardCharsets.ISO_8859_1);

        assertThat(bytes).contains("stapsdt\0", "trigon\0" + name + "\0008@");
    }

    private void run(boolean traced, String... more) {
        for (int rank = 0; rank < 2; rank++) {
            List<String> arguments = new ArrayList<>(List.of(
                    "--rank",
                    Integer.toString(rank),
                    "--ranks",
                    "2",
                    "--bytes",
                    Integer.toString(BYTES),
                    "--iterations",
                    Integer.toString(ROUNDS),
                    "--rendezvous",
                    directory.resolve("rendezvous").toString()));
            arguments.addAll(List.of(more));
            Map<String, String> environment = new HashMap<>();
            environment.put("RANK", Integer.toString(rank));
            environment.put("TRIGON_LINKS", "software");
            if (traced) {
                environment.put("TRIGON_TRACE", directory.resolve("trace").toString());
            }
            hosts.add(new HostProgram(
                    HostProgram.distribution(),
                    directory.resolve("output." + rank),
                    environment,
                    arguments.toArray(String[]::new)));
        }
        List<Integer> exits = hosts.stream().map(HostProgram::exitStatus).toList();
        assertThat(exits)
                .as(() -> hosts.stream().map(HostProgram::output).collect(Collectors.joining("\n---\n")))
                .containsOnly(0);
    }
}
