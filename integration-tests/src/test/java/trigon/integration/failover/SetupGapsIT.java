package trigon.integration.failover;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import trigon.integration.testsupport.CableNamespaces;
import trigon.integration.testsupport.HostProgram;
import trigon.testsupport.Await;

/**
 * Connections that come up while cables go away and come back, and machines whose links are down or missing. Three
 * nodes in network namespaces, without a list of NICs.
 */
@Tag("long")
class SetupGapsIT {

    private static final int SETUPS = Integer.getInteger("trigon.setups", 2);
    private static final long SEED = Long.getLong("trigon.seed", new Random().nextLong());

    /** About what three ranks have written in their logs when their data move: any moment of a set-up comes about. */
    private static final int MAX_LINES = 120;

    private static final Pattern CONNECTED = Pattern.compile("receives from");

    /** With a third, TCP itself may be silent for longer than peers are given. */
    private static final String LOSS = System.getProperty("trigon.loss", "0.1");

    /** What a machine with many times as many busy threads as processors needs; gaps are much shorter. */
    private static final String PATIENT = "version: 1\nhandshake: {timeout: 40s}\n";

    /** Each interface of a node, with the node: a cable goes away by any of its ends. */
    private static final List<List<String>> ENDS = List.of(
            List.of("a", "to_b"),
            List.of("a", "to_c"),
            List.of("b", "to_a"),
            List.of("b", "to_c"),
            List.of("c", "to_a"),
            List.of("c", "to_b"));

    @TempDir
    Path directory;

    private CableNamespaces network;

    @BeforeEach
    void triangle() {
        network = CableNamespaces.open();
        List.of("a", "b", "c").forEach(network::node);
        network.cable("a", "to_b", "10.0.12.1/24", "b", "to_a", "10.0.12.2/24");
        network.cable("a", "to_c", "10.0.13.1/24", "c", "to_a", "10.0.13.3/24");
        network.cable("b", "to_c", "10.0.23.2/24", "c", "to_b", "10.0.23.3/24");
    }

    @AfterEach
    void removeNodes() {
        if (network != null) {
            network.close();
        }
    }

    @Test
    void aCableMayGoAwayForSecondsAtAnyMoment() throws Exception {
        System.out.println("seed " + SEED + ", " + SETUPS + " set-ups");
        Random random = new Random(SEED);
        List<String> failures = new ArrayList<>();
        for (int i = 0; i < SETUPS; i++) {
            List<String> end = ENDS.get(random.nextInt(ENDS.size()));
            int lines = random.nextInt(MAX_LINES);
            int gap = 100 + random.nextInt(2900);
            Path until = directory.resolve("until-" + i);
            List<HostProgram> hosts = start("--iterations", "1000000", "--until", until.toString());
            try {
                Await.until(
                        lines + " lines", Duration.ofMinutes(3), () -> linesOf(hosts) >= lines || areConnected(hosts));
                network.set(end.get(0), end.get(1), false);
                Thread.sleep(gap); // what is tried is a length of time
                assertThat(hosts).as("the cable goes away while they work").allMatch(HostProgram::isAlive);
                network.set(end.get(0), end.get(1), true);
                Files.createFile(until);
                String failure = failureOf(hosts);
                if (!failure.isEmpty()) {
                    failures.add(
                            "set-up %d, %s away after %d lines for %d ms: %s".formatted(i, end, lines, gap, failure));
                    System.out.println(failures.getLast());
                }
            } finally {
                hosts.forEach(HostProgram::close);
            }
        }
        System.out.println(SETUPS - failures.size() + " of " + SETUPS + " came up with all data right");
        assertThat(failures).isEmpty();
    }

    @Test
    void aLinkThatIsDownAtInitIsNamedAndUsedOnceItIsUp() throws Exception {
        network.set("a", "to_b", false);
        List<HostProgram> hosts = start();
        try {
            hosts.get(0).awaitOutput("to_b: down, or without a carrier; it is used once it is up");
            hosts.get(1).awaitOutput("to_a: down, or without a carrier; it is used once it is up");
            network.set("a", "to_b", true);

            assertThat(failureOf(hosts)).isEmpty();
        } finally {
            hosts.forEach(HostProgram::close);
        }
    }

    @Test
    void aCableThatIsPluggedInAfterInitIsUsed() throws Exception {
        List.of("d", "e").forEach(network::node);
        network.cable("d", "to_e", "10.0.45.4/24", "e", "to_d", "10.0.45.5/24");
        Path rendezvous = Files.createTempDirectory(directory, "rendezvous");
        try (HostProgram early = pair("d", 0, rendezvous)) {
            early.awaitOutput("communicator 0x");
            network.inside("d", "ip", "link", "del", "to_e");
            early.awaitOutput("its interface is down");
            // the same addresses, by interfaces with other indices
            network.cable("d", "to_e", "10.0.45.4/24", "e", "to_d", "10.0.45.5/24");
            early.awaitOutput("its interface to_e is up again");
            // nearer than the other, so that it goes first
            network.cable("d", "late", "10.9.0.1/30", "e", "late", "10.9.0.2/30");
            early.awaitOutput("new link late 10.9.0.1/30");
            try (HostProgram second = pair("e", 1, rendezvous)) {
                assertThat(failureOf(List.of(early, second))).isEmpty();
                assertThat(early.output()).contains("via late 10.9.0.1/30");
                assertThat(second.output())
                        .as("the second communicator's handle has the new address")
                        .contains("10.9.0.1 via late 10.9.0.2/30");
            }
        }
    }

    /** Of what reaches one end, so much is lost: of connects, handshakes and data. */
    @Test
    void connectionsComeUpThoughPacketsAreLost() throws Exception {
        List.of("d", "e").forEach(network::node);
        network.cable("d", "to_e", "10.0.45.4/24", "e", "to_d", "10.0.45.5/24");
        network.inside(
                "e", "iptables -A INPUT -i to_d -p tcp -m statistic --mode random -j DROP --probability " + LOSS);
        Path rendezvous = Files.createTempDirectory(directory, "rendezvous");
        String[] small = {"--channels", "16", "--bytes", "4096", "--iterations", "1"};
        try (HostProgram one = host("d", 0, rendezvous, small);
                HostProgram other = host("e", 1, rendezvous, small)) {
            assertThat(failureOf(List.of(one, other))).isEmpty();
        }
    }

    private HostProgram pair(String node, int rank, Path rendezvous) throws IOException {
        return host(node, rank, rendezvous, "--communicators", "2");
    }

    /** One of two. */
    private HostProgram host(String node, int rank, Path rendezvous, String... more) throws IOException {
        List<String> arguments = new ArrayList<>(List.of("--rank", Integer.toString(rank), "--ranks", "2"));
        arguments.addAll(List.of("--timeout", "100", "--rendezvous", rendezvous.toString()));
        arguments.addAll(List.of(more));
        return new HostProgram(
                network.by(node),
                HostProgram.distribution(),
                directory.resolve(node + ".log"),
                patient(),
                arguments.toArray(String[]::new));
    }

    @Test
    void withoutALinkInitFailsAndSaysWhatThereIs() {
        network.node("alone");
        network.inside("alone", "ip", "link", "add", "spare", "type", "veth", "peer", "name", "other");

        String output = alone(Map.of(), 1);

        assertThat(output.lines().filter(line -> line.contains("there is no link to other machines")))
                .singleElement()
                .asString()
                .contains("spare: down", "other: down", "127.0.0.1 for a job whose ranks are all on this machine");
        alone(Map.of("LOCAL_WORLD_SIZE", "1", "WORLD_SIZE", "1"), 0);
    }

    private String alone(Map<String, String> environment, int status) {
        try (HostProgram host = new HostProgram(
                network.by("alone"),
                HostProgram.distribution(),
                directory.resolve("alone.log"),
                environment,
                "--bytes",
                "1000")) {
            assertThat(host.exitStatus()).as(host.output()).isEqualTo(status);
            return host.output();
        }
    }

    private static long linesOf(List<HostProgram> hosts) {
        return hosts.stream().mapToLong(host -> host.output().lines().count()).sum();
    }

    private static boolean areConnected(List<HostProgram> hosts) {
        return hosts.stream().allMatch(host -> CONNECTED.matcher(host.output()).find());
    }

    private List<HostProgram> start(String... more) throws Exception {
        Path rendezvous = Files.createTempDirectory(directory, "rendezvous");
        List<HostProgram> hosts = new ArrayList<>();
        for (String node : List.of("a", "b", "c")) {
            List<String> arguments = new ArrayList<>(List.of("--rank", "" + hosts.size(), "--ranks", "3"));
            arguments.addAll(List.of("--channels", "4", "--iterations", "2", "--timeout", "100"));
            arguments.addAll(List.of("--rendezvous", rendezvous.toString()));
            arguments.addAll(List.of(more));
            hosts.add(new HostProgram(
                    network.by(node),
                    HostProgram.distribution(),
                    directory.resolve(node + ".log"),
                    patient(),
                    arguments.toArray(String[]::new)));
        }
        return hosts;
    }

    private Map<String, String> patient() throws IOException {
        Path file = Files.writeString(directory.resolve("patient.yaml"), PATIENT);
        Map<String, String> environment = new HashMap<>(HostProgram.QUICK_START);
        environment.put("TRIGON_CONFIG", file.toString());
        return environment;
    }

    /** Empty if all have ended well; one that does not end is a failure like others, and the next set-up follows. */
    private static String failureOf(List<HostProgram> hosts) {
        for (HostProgram host : hosts) {
            try {
                if (host.exitStatus() != 0) {
                    return Arrays.toString(
                            hosts.stream().map(HostProgram::output).toArray());
                }
            } catch (AssertionError e) {
                return String.valueOf(e.getMessage());
            }
        }
        return "";
    }
}
