package trigon.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import trigon.report.model.Connection;
import trigon.report.path.Cause;
import trigon.report.path.Segment;
import trigon.report.summary.Report;
import trigon.report.view.HtmlPage;

/** Traces of real runs over software links, in which one rank was made late: the report says which, and by what. */
@Timeout(300)
class PlantedCausesIT {

    @TempDir
    Path directory;

    private final List<HostProgram> hosts = new ArrayList<>();

    @AfterEach
    void endTheHosts() {
        hosts.forEach(HostProgram::close);
    }

    /** Without NCCL's profiler nobody knows when a rank called. */
    @ParameterizedTest
    @CsvSource({
        "compute,GPU,false",
        "receive,PEER_LATE,false",
        "proxy,PROXY,false",
        "compute,GPU,true",
        "receive,PEER_LATE,true",
        "proxy,PROXY,true",
        "call,LATE_CALL,true"
    })
    void theLateRankIsFound(String plant, Cause cause, boolean profiled) {
        List<String> arguments = new ArrayList<>(List.of("--bytes", "262144", "--iterations", "8", "--spin"));
        arguments.addAll(List.of("--plant", plant + ":1:" + (plant.equals("call") ? 40_000 : 3000)));
        if (profiled) {
            arguments.addAll(List.of("--profiler", "6"));
        }
        start(arguments.toArray(String[]::new));
        hosts.forEach(host -> assertThat(host.exitStatus()).as(host.output()).isZero());

        Report report = Report.of(List.of(directory.resolve("trace")));

        assertThat(report.run().problems()).isEmpty();
        Map<String, Long> times = new HashMap<>();
        report.paths()
                .forEach(path -> path.forEach(segment -> times.merge(name(segment), segment.length(), Long::sum)));
        long planted = times.getOrDefault(cause + " at 1", 0L);
        assertThat(planted)
                .as("%s", times)
                .isGreaterThan(times.getOrDefault(cause + " at 0", 0L))
                .isGreaterThan(times.getOrDefault("TRANSPORT at 0", 0L))
                .isGreaterThan(times.getOrDefault("TRANSPORT at 1", 0L));
        assertThat(HtmlPage.of(report)).contains(report.verdict());
    }

    /** Between a and c there is no cable, so b passes on what c sends to a, the third step of the ring. */
    @Test
    void aRelayIsFound() throws IOException {
        Path file = Files.writeString(directory.resolve("line.yaml"), """
                version: 1
                links: software
                nodes:
                  a: {nics: [{address: 127.0.12.1/24}]}
                  b: {nics: [{address: 127.0.12.2/24}, {address: 127.0.23.2/24}]}
                  c: {nics: [{address: 127.0.23.3/24}]}
                """);
        Triangle line = new Triangle(directory, HostProgram.distribution(), file);
        Path trace = directory.resolve("trace");
        line.run(Map.of("TRIGON_TRACE", trace.toString()), "--bytes", "262144", "--iterations", "4", "--spin");

        Report report = Report.of(List.of(trace));

        assertThat(report.run().problems()).isEmpty();
        assertThat(report.run().connections()).hasSize(3);
        long relayed = report.run().connections().stream()
                .filter(Connection::isRelayed)
                .count();
        assertThat(relayed).isEqualTo(1);
        List<Segment> all = report.paths().stream().flatMap(List::stream).toList();
        assertThat(all).anyMatch(segment -> segment.cause() == Cause.RELAY).allSatisfy(segment -> {
            Connection connection = segment.connection();
            boolean passedOn = connection != null && connection.isRelayed();
            assertThat(segment.cause() == Cause.RELAY && !passedOn).isFalse();
            assertThat(segment.cause() == Cause.TRANSPORT && passedOn).isFalse();
        });
    }

    private static String name(Segment segment) {
        return segment.cause() + " at " + segment.rank();
    }

    /** What it had not written to its file is taken from its rings, which are gone then. */
    @Test
    void whatAKilledProcessRecordedIsRead() throws Exception {
        start("--bytes", "65536", "--iterations", "1000000", "--timeout", "20");
        Path trace = directory.resolve("trace");
        long deadline = System.nanoTime() + 100_000_000_000L;
        while (bytesOf(trace) < 100_000) {
            assertThat(System.nanoTime()).as(hosts.getFirst().output()).isLessThan(deadline);
            Thread.sleep(20);
        }

        for (HostProgram host : hosts) {
            host.signal("KILL");
            assertThat(host.exitStatus()).isNotZero();
        }
        Report report = Report.of(List.of(trace));

        assertThat(report.run().problems())
                .hasSize(2)
                .allSatisfy(problem -> assertThat(problem).contains("has no end"));
        assertThat(report.run().ranks()).hasSize(2).allSatisfy(rank -> {
            assertThat(Path.of(rank.trace().process().get("rings"))).doesNotExist();
        });
        assertThat(report.run().connections())
                .hasSize(2)
                .allSatisfy(connection -> assertThat(connection.messages()).hasSizeGreaterThan(50));
    }

    private static long bytesOf(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return 0;
        }
        long sum = 0;
        try (var files = Files.list(folder)) {
            for (Path file : files.toList()) {
                sum += Files.size(file);
            }
        }
        return sum;
    }

    /** One direction of a cable is slow, as tc makes it: the report names it, and not the other one. */
    @ParameterizedTest
    @CsvSource({"0", "1"})
    void aSlowDirectionIsFound(int slow) throws Exception {
        try (SlowCable cable = new SlowCable("planted" + ProcessHandle.current().pid())) {
            assumeThat(cable.make(slow, "3mbit"))
                    .as("namespaces and tc, as root")
                    .isTrue();
            Path file = Files.writeString(directory.resolve("two.yaml"), """
                    version: 1
                    links: software
                    nodes:
                      n0: {nics: [{address: 10.77.9.1/24}]}
                      n1: {nics: [{address: 10.77.9.2/24}]}
                    """);
            for (int rank = 0; rank < 2; rank++) {
                hosts.add(new HostProgram(
                        cable.at(rank),
                        HostProgram.distribution(),
                        directory.resolve("output." + rank),
                        Map.of(
                                "RANK", Integer.toString(rank),
                                "TRIGON_CONFIG", file.toString(),
                                "TRIGON_NODE", "n" + rank,
                                "TRIGON_TRACE", directory.resolve("trace").toString()),
                        "--bytes",
                        "131072",
                        "--iterations",
                        "4",
                        "--profiler",
                        "6",
                        "--rank",
                        Integer.toString(rank),
                        "--ranks",
                        "2",
                        "--rendezvous",
                        directory.resolve("rendezvous").toString()));
            }
            hosts.forEach(
                    host -> assertThat(host.exitStatus()).as(host.output()).isZero());
        }

        Report report = Report.of(List.of(directory.resolve("trace")));

        Map<String, Long> times = new HashMap<>();
        report.paths()
                .forEach(path -> path.stream()
                        .filter(segment -> segment.cause() == Cause.TRANSPORT)
                        .forEach(segment -> times.merge(segment.place(), segment.length(), Long::sum)));
        String slowOne = slow + "→" + (1 - slow);
        long there = sumOf(times, slowOne);
        assertThat(there).as("%s", times).isGreaterThan(2 * sumOf(times, (1 - slow) + "→" + slow));
        assertThat(there).as("half a megabyte by 3 Mbit/s").isGreaterThan(300_000_000L);
    }

    private static long sumOf(Map<String, Long> times, String direction) {
        return times.entrySet().stream()
                .filter(entry -> entry.getKey().contains(direction))
                .mapToLong(Map.Entry::getValue)
                .sum();
    }

    private void start(String... more) {
        for (int rank = 0; rank < 2; rank++) {
            List<String> arguments = new ArrayList<>(List.of(
                    "--rank",
                    Integer.toString(rank),
                    "--ranks",
                    "2",
                    "--rendezvous",
                    directory.resolve("rendezvous").toString()));
            arguments.addAll(List.of(more));
            hosts.add(new HostProgram(
                    HostProgram.distribution(),
                    directory.resolve("output." + rank),
                    Map.of(
                            "RANK", Integer.toString(rank),
                            "TRIGON_LINKS", "software",
                            "TRIGON_TRACE", directory.resolve("trace").toString()),
                    arguments.toArray(String[]::new)));
        }
    }
}
