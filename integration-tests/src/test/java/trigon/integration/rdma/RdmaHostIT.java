package trigon.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import trigon.integration.testsupport.HostProgram;
import trigon.testsupport.Sampled;

/**
 * The plugin as NCCL loads it over RDMA links, so with what the entry library does by itself: two ranks of one process,
 * each on a thread of its own, over the instant device. Also when it fails under them.
 */
@Timeout(300)
class RdmaHostIT {

    private static final int RANKS = 2;

    /** Every so many completions of sends are held back until the next poll, or none with 0. */
    private static final String LATE = "SIMVERBS_LATE";

    private static final Pattern TRAFFIC =
            Pattern.compile("\\(RDMA\\): [0-9]+ messages, ([0-9]+) bytes sent and received");

    private static final String TWO_NICS = """
            links: rdma
            nodes:
              a: {nics: [{device: one, address: 10.1.12.1/24}, {device: two, address: 10.1.13.1/24}]}
            """;

    /** So many are survived in a run. */
    private static final int FAILURES = 20;

    @TempDir
    private Path scratch;

    @BeforeEach
    void theDeviceIsThere() throws IOException, InterruptedException {
        InstantDevice.assumeItIsThere(InstantDevice.AS_NIC);
    }

    /**
     * Each element is checked by the host, and every byte is counted; what was counted is said where NCCL ends the
     * network.
     */
    @ParameterizedTest
    @Sampled({"11, 0", "11, 2", "12, 0", "12, 5"})
    void everyMessageIsRightAndCounted(int api, String late) throws IOException {
        int iterations = 20;
        String said = run("ring", api, 70000, Map.of(LATE, late), "--iterations", Integer.toString(iterations));

        long moved = TRAFFIC.matcher(said)
                .results()
                .mapToLong(match -> Long.parseLong(match.group(1)))
                .max()
                .orElseThrow();
        // a vector is sent and received as a whole by each of two ranks; one iteration more warms up
        assertThat(moved).as(said).isEqualTo((iterations + 1) * 2L * RANKS * 70000);
    }

    @ParameterizedTest
    @Tag("long")
    @Sampled({"8, 0", "9, 3", "10, 0", "12, 2"})
    void messagesOfManySizesArriveWhole(int api, String late) throws IOException {
        run("exchange", api, 70000, Map.of(LATE, late));
    }

    /** Then a message is several work requests, the last of which alone completes. */
    @ParameterizedTest
    @Tag("long")
    @Sampled({"0", "3"})
    void messagesLongerThanTheDeviceTakesArriveWhole(String late) throws IOException {
        run("exchange", 12, 1_000_000, Map.of(LATE, late, "SIMVERBS_MAX_MESSAGE", "131072"));
    }

    /** Also that a receive is done only when its message has come, though NCCL calls its completion optional. */
    @ParameterizedTest
    @Sampled({"8", "12"})
    void holdsTheContract(int api) throws IOException {
        try (HostProgram host = new HostProgram(
                InstantDevice.AS_NIC,
                HostProgram.distribution(),
                scratch.resolve("output.txt"),
                environment(Map.of()),
                "--mode",
                "contract",
                "--api",
                Integer.toString(api))) {
            int exit = host.exitStatus();
            assertThat(exit).as(host.output()).isZero();
            assertThat(host.output())
                    .contains("ok - a receive with optional completion is done when its message has come")
                    .contains("0 checks failed");
        }
    }

    /** Whatever they have under way; each connection goes on by new ones. */
    @ParameterizedTest
    @Tag("long")
    @Sampled({"one, 0, 70000", "all, 3, 200000"})
    void anAllReduceGoesOnHoweverOftenQueuePairsFail(String stripes, String late, int bytes) throws IOException {
        Map<String, String> device = InstantDevice.failingQueuePairs(stripes, late);

        runOver(
                TWO_NICS,
                bytes,
                device,
                host -> host.awaitOutput(
                        said -> lines(said, "simverbs: queue pair ").size() > FAILURES
                                && lines(said, " goes on over ").size() > FAILURES,
                        "more than " + FAILURES + " failures that were survived"));
    }

    /** A cable that comes and goes: at most one of two is away at a time. */
    @Test
    @Tag("long")
    void anAllReduceGoesOnWhenPortsGoDownAndComeUp() throws IOException {
        String said = runOver(TWO_NICS, Map.of("SIMVERBS_PORT_FAULTS", "10000"), " goes on over ");

        assertThat(lines(said, "simverbs: the port of ")).isNotEmpty();
        assertThat(lines(said, " goes on over ")).isNotEmpty();
    }

    /** It completes nothing any more, and its context is of no use; what was there is opened anew once it is back. */
    @Test
    @Tag("long")
    void anAllReduceGoesOnWhenADeviceFailsAndIsBack() throws IOException {
        String said = runOver(
                TWO_NICS,
                Map.of("SIMVERBS_DEVICE_FAULT", "20000"),
                "its device one is back; connections can use it again");

        assertThat(said).contains("DEVICE_FATAL", " goes on over two ", "simverbs: one is back");
    }

    /** Each time the GID is at another index of its table: paths are made anew by where it is then. */
    @Test
    @Tag("long")
    void anAllReduceGoesOnWhenGidsMove() throws IOException {
        String said = runOver(TWO_NICS, Map.of("SIMVERBS_GID_MOVES", "10000"), " goes on over ");

        assertThat(lines(said, "simverbs: the GID of ")).isNotEmpty();
        assertThat(lines(said, " goes on over ")).isNotEmpty();
    }

    /** Nothing else leads to the peer: it takes as long as the path is away, and no longer. */
    @Test
    @Tag("long")
    void anAllReduceWaitsForItsOnlyPathFor5Seconds() throws IOException {
        String nics = "links: rdma\nnodes: {a: {nics: [{device: one, address: 10.1.12.1/24}]}}\n";
        String said = runOver(
                nics, Map.of("SIMVERBS_PORT_FAULTS", "20000", "SIMVERBS_PORT_AWAY_MS", "5000"), " goes on over one ");

        assertThat(lines(said, "simverbs: the port of one comes up")).isNotEmpty();
    }

    /** TCP is what is left of the same cable. */
    @Test
    void anAllReduceGoesOnByTcpWhenTheOnlyDeviceFails() throws IOException {
        String nics = "links: auto\nnodes: {a: {nics: [{device: one, address: 10.1.12.1/24}]}}\n";
        String said = runOver(nics, Map.of("SIMVERBS_DEVICE_FAULT", "5000"), "(TCP) instead of one ");

        assertThat(said).contains("DEVICE_FATAL", " goes on over ");
    }

    private static List<String> lines(String said, String with) {
        return said.lines().filter(line -> line.contains(with)).toList();
    }

    /** Until something is said, and for some rounds more. */
    private String runOver(String nics, Map<String, String> more, String until) throws IOException {
        return runOver(nics, 70000, more, host -> host.awaitOutput(until));
    }

    private String runOver(String nics, int bytes, Map<String, String> more, Consumer<HostProgram> await)
            throws IOException {
        Path end = scratch.resolve("until");
        String[] arguments = {"--iterations", "100000000", "--until", end.toString()};
        Map<String, String> device = overTwo(nics, more);
        try (HostProgram host = start(InstantDevice.AS_TWO_NICS, "ring", 12, bytes, device, arguments)) {
            await.accept(host);
            Files.createFile(end);
            return end(host);
        }
    }

    private Map<String, String> overTwo(String nics, Map<String, String> more) throws IOException {
        Path nodes = Files.writeString(scratch.resolve("over.yaml"), "version: 1\n" + nics);
        Map<String, String> device = new HashMap<>(more);
        device.putAll(InstantDevice.TWO);
        device.put("TRIGON_CONFIG", nodes.toString());
        return device;
    }

    private Map<String, String> environment(Map<String, String> device) throws IOException {
        Path nodes = Files.writeString(
                scratch.resolve("nodes.yaml"),
                "version: 1\nlinks: rdma\nnodes:\n  a: {nics: [{address: 127.0.0.1/8}]}\n");
        Map<String, String> environment = new HashMap<>();
        environment.putAll(InstantDevice.LIBRARY);
        environment.put("TRIGON_CONFIG", nodes.toString());
        environment.put("TRIGON_NODE", "a");
        environment.putAll(device);
        return environment;
    }

    private String run(String test, int api, int bytes, Map<String, String> device, String... more) throws IOException {
        return run(InstantDevice.AS_NIC, test, api, bytes, device, more);
    }

    private String run(List<String> by, String test, int api, int bytes, Map<String, String> device, String... more)
            throws IOException {
        try (HostProgram host = start(by, test, api, bytes, device, more)) {
            return end(host);
        }
    }

    private HostProgram start(
            List<String> by, String test, int api, int bytes, Map<String, String> device, String... more)
            throws IOException {
        String ranks = Integer.toString(RANKS);
        List<String> arguments = new ArrayList<>(List.of("--test", test, "--api", Integer.toString(api)));
        arguments.addAll(List.of("--ranks", ranks, "--local-ranks", ranks, "--channels", "2"));
        arguments.addAll(List.of("--bytes", Integer.toString(bytes)));
        arguments.addAll(List.of("--rendezvous", scratch.resolve("rendezvous").toString()));
        arguments.addAll(List.of(more));
        return new HostProgram(
                by,
                HostProgram.distribution(),
                scratch.resolve("output.txt"),
                environment(device),
                arguments.toArray(String[]::new));
    }

    private static String end(HostProgram host) {
        int exit = host.exitStatus();
        assertThat(exit).as(host.output()).isZero();
        assertThat(host.output()).contains("rank 0: ", "rank 1: ", " 0 wrong");
        return host.output();
    }
}
