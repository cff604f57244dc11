package trigon.integration.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import trigon.integration.testsupport.CableNamespaces;
import trigon.integration.testsupport.HostProgram;
import trigon.report.summary.LinkRow;
import trigon.report.summary.Report;

/** Traces of real runs over cables between network namespaces, of which one is bad: the report says which. */
@Isolated("what is planted has to be large against what the machine does by itself")
@Timeout(400)
@Tag("long")
class PlantedLinkCausesIT {

    /** Without answers to what goes the other way. */
    private static final String ONLY_DATA = "-m length --length 1000:65535";

    @TempDir
    Path directory;

    private CableNamespaces network;

    @BeforeEach
    void twoCables() {
        network = CableNamespaces.open();
        List.of("a", "b").forEach(network::node);
        network.cable("a", "one", "10.0.1.1/24", "b", "one", "10.0.1.2/24");
        network.cable("a", "two", "10.0.2.1/24", "b", "two", "10.0.2.2/24");
    }

    @AfterEach
    void removeNodes() {
        if (network != null) {
            network.close();
        }
    }

    @Test
    void aSlowLinkIsBlamed() throws Exception {
        PlantedRun.isBlamed("transport on 0→1 over one", times -> {
            slow("a", "one", times);
            return allReduces("--channels", "1");
        });
    }

    @Test
    void theSlowOneOfTwoLinksIsBlamed() throws Exception {
        PlantedRun.isBlamed("transport on 1→0 over two", times -> {
            slow("b", "two", times);
            return allReduces("--channels", "2");
        });
    }

    @Test
    void aLossyLinkIsBlamedAndItsRetransmissionsAreCounted() throws Exception {
        Report report = PlantedRun.isBlamed("transport on 0→1 over one:.*retransmissions", times -> {
            network.inside("b", "iptables -F");
            network.inside(
                    "b",
                    "iptables -A INPUT -i one -p tcp " + ONLY_DATA
                            + " -m statistic --mode random -j DROP --probability " + (times == 1 ? "0.2" : "0.3"));
            return allReduces("--channels", "1", "--iterations", "8");
        });

        assertThat(report.links()).extracting(LinkRow::retransmissions).allMatch(count -> count > 0);
    }

    /** Frames go to nobody for a while, and the interfaces stay up: the connection goes on over the other cable. */
    @Test
    void aCutCableIsBlamed() throws Exception {
        Path file = Files.writeString(directory.resolve("trigon.yaml"), """
                version: 1
                links: software
                handshake: {timeout: 40s}
                nodes:
                  a: {nics: [{address: 10.0.1.1/24}, {address: 10.0.2.1/24}]}
                  b: {nics: [{address: 10.0.1.2/24}, {address: 10.0.2.2/24}]}
                """);
        try (PlantedRun run = new PlantedRun(directory, 2)) {
            for (String node : List.of("a", "b")) {
                run.startEndless(network.by(node), Map.of("TRIGON_CONFIG", file.toString(), "TRIGON_NODE", node));
            }
            run.awaitTrace(50_000);
            network.lose("a", "one", "10.0.1.2");
            network.lose("b", "one", "10.0.1.1");
            run.awaitOutput("goes on over");
            Files.createFile(run.until());
            Report report = run.report();

            assertThat(report.verdict()).containsPattern("failover on (0→1|1→0) over one");
        }
    }

    /** The line a, b, c, where b has no rank, and the last cable is slow one way. */
    @Test
    void aSlowPathThroughARelayIsBlamed() throws Exception {
        lineOfThree();
        try (HostProgram relay = relay()) {
            PlantedRun.isBlamed("relay on 1→0", times -> {
                assertThat(relay.isAlive()).as(relay.output()).isTrue();
                slow("c", "three", times);
                try (PlantedRun run = new PlantedRun(directory, 2)) {
                    run.start(network.by("a"), patient(), "--bytes", "262144", "--timeout", "100");
                    run.start(network.by("c"), patient(), "--bytes", "262144", "--timeout", "100");
                    return run.report();
                }
            });
        }
    }

    @Test
    void aBusyRelayIsBlamed() throws Exception {
        lineOfThree();
        try (HostProgram relay = relay()) {
            PlantedRun.isBlamed("relay on (0→1|1→0)", times -> {
                try (PlantedRun run = new PlantedRun(directory, 2)) {
                    run.startEndless(network.by("a"), patient());
                    run.startEndless(network.by("c"), patient());
                    run.awaitTrace(50_000);
                    relay.signal("STOP");
                    Thread.sleep(1500L * times); // what is planted is a length of time
                    relay.signal("CONT");
                    Files.createFile(run.until());
                    return run.report();
                }
            });
        }
    }

    private void lineOfThree() {
        network.node("c");
        network.cable("b", "three", "10.0.3.2/24", "c", "three", "10.0.3.3/24");
    }

    /** A relay on b. */
    private HostProgram relay() throws Exception {
        HostProgram relay = HostProgram.relay(network.by("b"), directory.resolve("relay.log"), patient());
        relay.awaitOutput("relays over");
        return relay;
    }

    private Report allReduces(String... more) throws Exception {
        try (PlantedRun run = new PlantedRun(directory, 2)) {
            for (String node : List.of("a", "b")) {
                String[] all = Arrays.copyOf(more, more.length + 4);
                System.arraycopy(new String[] {"--bytes", "262144", "--timeout", "100"}, 0, all, more.length, 4);
                run.start(network.by(node), patient(), all);
            }
            return run.report();
        }
    }

    private Map<String, String> patient() throws Exception {
        Path file = Files.writeString(directory.resolve("patient.yaml"), """
                version: 1
                handshake: {timeout: 40s, peerTimeout: 2m}
                queuePair: {timeout: 21}
                """);
        Path key = directory.resolve("key");
        if (!Files.exists(key)) {
            Files.writeString(key, "%064x%n".formatted(0x5eed));
            Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
        }
        return Map.of("TRIGON_CONFIG", file.toString(), "TRIGON_CLUSTER_KEY_FILE", key.toString());
    }

    /** 16 Mbit/s one way, or a part of it: an all-reduce of 256 KiB takes 131 ms at least. */
    private void slow(String node, String name, int times) {
        int kilobits = 16_000 / times;
        network.inside(
                node, "tc qdisc replace dev " + name + " root tbf burst 16k latency 10s rate " + kilobits + "kbit");
    }
}
