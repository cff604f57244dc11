package trigon.entry;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import trigon.testsupport.Sampled;
import trigon.testsupport.Seed;

/** Processes that call as NCCL 2.28.9 and 2.30.7 do, by newer tables too, over software links of this machine. */
class OneSidedIT {

    /** Each rank's, to one word. */
    private static final int SIGNALS = Integer.getInteger("trigon.signals", 500);

    /** How often TCP connections are cut. */
    private static final int CUTS = Integer.getInteger("trigon.cuts", 1);

    /** The second compiler would take more of the processors than all that the ranks do in their seconds. */
    private static final String QUICK_START = "-XX:TieredStopAtLevel=1";

    private static final String HOST =
            Path.of(ChildProcess.HOST).resolveSibling("one-sided-host").toString();

    @TempDir
    private Path scratch;

    /** Puts of all sizes, 1000 before a strong signal, resets, gets, additions of all to one word, refusals. */
    @ParameterizedTest
    @Sampled({"gin, 14, 2", "gin, 14, 3", "rma, 14, 2", "rma, 15, 2", "rma, 16, 2", "rma, 17, 2", "rma, 17, 4"})
    void allThatNcclCallsWorks(String order, String table, String ranks) throws Exception {
        ChildProcess host = run(Map.of(), "--order", order, "--rma", table, "--ranks", ranks, "--count", "" + SIGNALS);

        assertThat(host.exit()).as(host.stderr()).isZero();
        assertThat(host.stdout()).contains("\"signals\": " + SIGNALS * Integer.parseInt(ranks), "\"lost\": 0");
        assertThat(host.stderr()).contains("refused: a range is not in its window");
    }

    /** With a driver whose memory nobody but it can touch: data and signals are staged. */
    @ParameterizedTest
    @Tag("long")
    @Sampled({"gin, 2", "rma, 3"})
    void memoryOfAGpuIsStaged(String order, String ranks) throws Exception {
        ChildProcess host =
                run(fakeGpu(), "--order", order, "--rma", "17", "--ranks", ranks, "--count", "1000", "--gpu");

        assertThat(host.exit()).as(host.stderr()).isZero();
        assertThat(host.stdout()).contains("\"lost\": 0");
    }

    /**
     * TCP connections are cut under puts with signals, one or all of a process at a time: each byte is there when its
     * signal is, in its order, and each addition was made once. Cuts may hit what carries nothing, and so they go on
     * until a connection has moved.
     */
    @ParameterizedTest
    @Tag("long")
    @Sampled({"gin, false", "rma, true"})
    void nothingIsLostOrDoneTwiceWhenConnectionsAreCut(String order, boolean onDevice) throws Exception {
        Map<String, String> environment = new HashMap<>(onNodes("""
                  a: {nics: [{address: 127.1.12.1/24}, {address: 127.1.13.1/24}]}
                  b: {nics: [{address: 127.1.12.2/24}, {address: 127.1.13.2/24}]}
                """));
        List<String> arguments = new ArrayList<>(List.of("--order", order, "--nodes", "a,b", "--test", "rounds"));
        arguments.addAll(List.of("--rma", "17", "--count", "3", "--cuts", "" + CUTS, "--moves", "1"));
        arguments.addAll(List.of("--seed", "" + Seed.next() % 100_000));
        if (onDevice) {
            environment.putAll(fakeGpu());
            arguments.add("--gpu");
        }

        ChildProcess host = run(environment, arguments.toArray(String[]::new));

        assertThat(host.exit()).as(host.stderr()).isZero();
        assertThat(number(host, "cuts")).isGreaterThanOrEqualTo(CUTS);
        assertThat(number(host, "moves")).isPositive();
        assertThat(host.stdout()).contains("\"wrong\": 0");
        assertThat(host.stderr()).contains(" goes on over ");
    }

    /** Of three nodes in a line, the middle one passes on what the others put. */
    @Test
    @Tag("long")
    void aRelayedRankIsReached() throws Exception {
        Map<String, String> line = onNodes("""
                  a: {nics: [{address: 127.1.112.1/24}]}
                  b: {nics: [{address: 127.1.112.2/24}, {address: 127.1.123.2/24}]}
                  c: {nics: [{address: 127.1.123.3/24}]}
                """);

        ChildProcess host =
                run(line, "--order", "rma", "--ranks", "3", "--nodes", "a,b,c", "--test", "rounds", "--count", "5");

        assertThat(host.exit()).as(host.stderr()).isZero();
        assertThat(host.stdout()).contains("\"wrong\": 0");
        assertThat(host.stderr()).contains("relayed by b");
    }

    @ParameterizedTest
    @Sampled({"gin", "rma"})
    void aDeadRankFailsTheOthers(String order) throws Exception {
        ChildProcess host = run(Map.of(), "--order", order, "--ranks", "3", "--test", "death");

        assertThat(host.exit()).as(host.stderr()).isZero();
        assertThat(host.stderr()).contains("with rank 2 has failed");
    }

    /** It is told from one that is lost, for longer than its connections take to end. */
    @ParameterizedTest
    @Tag("long")
    @Sampled({"gin, off", "rma, on"})
    void aRankThatEndsDoesNotEndTheOthers(String order, String failover) throws Exception {
        ChildProcess host =
                run(Map.of("TRIGON_FAILOVER", failover), "--order", order, "--ranks", "3", "--test", "leave");

        assertThat(host.exit()).as(host.stderr()).isZero();
        assertThat(host.stderr()).doesNotContain("has failed");
    }

    @Test
    void theTablesAreHiddenUnlessTheyAreAskedFor() throws Exception {
        ChildProcess host = run(Map.of("TRIGON_ONE_SIDED", "off"), "--order", "rma", "--ranks", "1", "--absent");
        assertThat(host.exit()).as(host.stderr()).isZero();

        Path file = Files.writeString(
                scratch.resolve("nodes.yaml"),
                "version: 1\noneSided: off\nnodes:\n  a: {nics: [{address: 127.0.0.1/8}]}\n");
        ChildProcess byFile = run(
                Map.of("TRIGON_ONE_SIDED", "", "TRIGON_CONFIG", file.toString(), "TRIGON_NODE", "a"),
                "--order",
                "gin",
                "--ranks",
                "1",
                "--absent");
        assertThat(byFile.exit()).as(byFile.stderr()).isZero();
    }

    @ParameterizedTest
    @Sampled({"gin", "rma"})
    void aFileThatDoesNotAskForItCostsNoWarning(String order) throws Exception {
        Path file = Files.writeString(
                scratch.resolve("silent.yaml"), "version: 1\nnodes:\n  a: {nics: [{address: 127.0.0.1/8}]}\n");
        ChildProcess host = run(
                Map.of("TRIGON_ONE_SIDED", "", "TRIGON_CONFIG", file.toString(), "TRIGON_NODE", "a"),
                "--order",
                order,
                "--ranks",
                "1",
                "--refused");

        assertThat(host.exit()).as(host.stderr()).isZero();
        assertThat(host.stderr()).contains("one-sided communication is off").doesNotContain("WARN");
    }

    private static long number(ChildProcess host, String name) {
        Matcher matcher = Pattern.compile("\"%s\": ([0-9]+)".formatted(name)).matcher(host.stdout());
        assertThat(matcher.find()).as(host.stdout()).isTrue();
        return Long.parseLong(matcher.group(1));
    }

    private static Map<String, String> fakeGpu() {
        return Map.of(
                "LD_LIBRARY_PATH", Path.of(HOST).resolveSibling("fake-cuda").toString());
    }

    /** A cluster of these, given as in the file; the log says which paths are taken. */
    private Map<String, String> onNodes(String nodes) throws IOException {
        String settings = "version: 1\nhandshake: {timeout: 30s, peerTimeout: 1m}\nnodes:\n";
        Path file = Files.writeString(scratch.resolve("paths.yaml"), settings + nodes.indent(2));
        return Map.of("TRIGON_CONFIG", file.toString(), "NCCL_DEBUG", "INFO");
    }

    private ChildProcess run(Map<String, String> more, String... arguments) throws Exception {
        Map<String, String> environment =
                new HashMap<>(Map.of("TRIGON_HOME", homeOfTheTransport(), "TRIGON_JAVA_OPTS", QUICK_START));
        environment.putAll(Map.of("TRIGON_LINKS", "software", "TRIGON_ONE_SIDED", "on"));
        environment.putAll(more);
        List<String> command = new ArrayList<>(List.of(HOST, "--plugin", ChildProcess.PLUGIN.toString()));
        command.addAll(List.of(arguments));
        return ChildProcess.run(scratch, environment, command);
    }

    /** The test installation without the transport that tests put in the real one's place. */
    private String homeOfTheTransport() throws Exception {
        Path home = Files.createDirectories(scratch.resolve("home"));
        Path jars = Files.createDirectories(home.resolve("jars"));
        try (Stream<Path> all = Files.list(ChildProcess.HOME.resolve("jars"))) {
            for (Path jar :
                    all.filter(each -> !each.toString().contains("loopback")).toList()) {
                if (!Files.exists(jars.resolve(jar.getFileName()))) {
                    Files.copy(jar, jars.resolve(jar.getFileName()));
                }
            }
        }
        return home.toString();
    }
}
