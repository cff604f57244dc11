package trigon.integration.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import trigon.integration.testsupport.CableNamespaces;
import trigon.integration.testsupport.HostProgram;
import trigon.testsupport.Await;
import trigon.testsupport.Sampled;

/**
 * A ring of four whose nodes a and c have the ranks of a job, and b and d a {@code trigon relay} each. One that carries
 * the job is lost: the job goes on through the other one.
 */
@Timeout(300)
@Tag("long")
class RelayLossIT {

    private static final Duration PATIENCE = Duration.ofSeconds(90);
    private static final Pattern RELAYED = Pattern.compile("sends to [ac] .* relayed by ([bd])");
    private static final Pattern ROUND = Pattern.compile("all-reduce ([0-9]+) took");

    @TempDir
    Path directory;

    private CableNamespaces network;
    private Path file;
    private final Map<String, HostProgram> relays = new HashMap<>();
    private final List<HostProgram> ranks = new ArrayList<>();

    @BeforeEach
    void ringOfFour() throws IOException {
        network = CableNamespaces.open();
        List.of("a", "b", "c", "d").forEach(network::node);
        network.cable("a", "toB", "10.78.12.1/24", "b", "toA", "10.78.12.2/24");
        network.cable("b", "toC", "10.78.23.2/24", "c", "toB", "10.78.23.3/24");
        network.cable("c", "toD", "10.78.34.3/24", "d", "toC", "10.78.34.4/24");
        network.cable("a", "toD", "10.78.14.1/24", "d", "toA", "10.78.14.4/24");
        file = Files.writeString(directory.resolve("ring.yaml"), """
                version: 1
                links: software
                handshake: {timeout: 40s, peerTimeout: 60s}
                nodes:
                  a: {nics: [{address: 10.78.12.1/24}, {address: 10.78.14.1/24}]}
                  b: {nics: [{address: 10.78.12.2/24}, {address: 10.78.23.2/24}]}
                  c: {nics: [{address: 10.78.23.3/24}, {address: 10.78.34.3/24}]}
                  d: {nics: [{address: 10.78.34.4/24}, {address: 10.78.14.4/24}]}
                """);
        Path key = Files.writeString(directory.resolve("key"), "%064x%n".formatted(0x5eed));
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
    }

    @AfterEach
    void removeNodes() {
        ranks.forEach(HostProgram::close);
        relays.values().forEach(HostProgram::close);
        if (network != null) {
            network.close();
        }
    }

    @ParameterizedTest
    @Sampled({"KILL", "STOP"})
    void theJobGoesOnThroughTheOtherRelay(String signal) throws IOException {
        for (String node : List.of("b", "d")) {
            relays.put(node, HostProgram.relay(network.by(node), directory.resolve(node + ".log"), environment(node)));
        }
        relays.forEach((node, relay) -> await(relay, "node " + node + " relays over"));
        startRank("a");
        startRank("c");
        HostProgram first = ranks.getFirst();
        Await.until(first::output, PATIENCE, () -> rounds(first) > 3);
        Matcher inUse = RELAYED.matcher(first.output());
        assertThat(inUse.find()).as(first.output()).isTrue();
        String lost = inUse.group(1);

        relay(lost).signal(signal);
        Await.until(
                () -> output(),
                PATIENCE,
                () -> ranks.stream().anyMatch(rank -> rank.output().contains("goes on over")));
        int then = rounds(first);
        Await.until(() -> output(), PATIENCE, () -> rounds(first) > then + 10);
        Files.createFile(until());

        for (HostProgram rank : ranks) {
            assertThat(rank.exitStatus()).as(output()).isZero();
            assertThat(rank.output()).contains(" 0 wrong");
        }
        assertThat(relay("b".equals(lost) ? "d" : "b").isAlive()).isTrue();
    }

    private HostProgram relay(String node) {
        return Objects.requireNonNull(relays.get(node), node);
    }

    private void startRank(String node) throws IOException {
        List<String> arguments = new ArrayList<>(List.of("--bytes", "262144", "--iterations", "1000000"));
        arguments.addAll(List.of("--channels", "2", "--timeout", "100", "--print-longer", "1"));
        arguments.addAll(List.of("--until", until().toString()));
        arguments.addAll(List.of("--rank", Integer.toString(ranks.size()), "--ranks", "2"));
        Path meet = Files.createDirectories(directory.resolve("rendezvous"));
        arguments.addAll(List.of("--rendezvous", meet.toString()));
        ranks.add(new HostProgram(
                network.by(node),
                HostProgram.distribution(),
                directory.resolve(node + ".log"),
                environment(node),
                arguments.toArray(String[]::new)));
    }

    private Map<String, String> environment(String node) {
        return Map.of(
                "TRIGON_CONFIG",
                file.toString(),
                "TRIGON_NODE",
                node,
                "TRIGON_CLUSTER_KEY_FILE",
                directory.resolve("key").toString());
    }

    private Path until() {
        return directory.resolve("until");
    }

    private String output() {
        StringBuilder text = new StringBuilder();
        ranks.forEach(rank -> text.append(rank.output()));
        return text.toString();
    }

    /** All-reduces that are over. */
    private static int rounds(HostProgram rank) {
        Matcher matcher = ROUND.matcher(rank.output());
        int last = 0;
        while (matcher.find()) {
            last = Integer.parseInt(matcher.group(1));
        }
        return last;
    }

    private static void await(HostProgram host, String text) {
        Await.until(host::output, PATIENCE, () -> host.output().contains(text));
    }
}
