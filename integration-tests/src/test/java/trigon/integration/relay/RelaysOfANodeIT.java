package trigon.integration.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.integration.testsupport.CableNamespaces;
import trigon.integration.testsupport.HostProgram;
import trigon.integration.testsupport.NamespaceJob;

/** The line a-b-c, where several processes of b relay for the job of a and c. One goes, and another carries on. */
@Timeout(300)
class RelaysOfANodeIT {

    private static final String RELAYED = "relayed by b";

    @TempDir
    Path directory;

    private CableNamespaces network;
    private final List<HostProgram> relays = new ArrayList<>();
    private final Map<String, String> environment = new HashMap<>(HostProgram.QUICK_START);

    @BeforeEach
    void layCables() throws IOException {
        network = CableNamespaces.open();
        List.of("a", "b", "c").forEach(network::node);
        network.cable("a", "to_b", "10.75.12.1/24", "b", "to_a", "10.75.12.2/24");
        network.cable("b", "to_c", "10.75.23.2/24", "c", "to_b", "10.75.23.3/24");
        Path file = Files.writeString(directory.resolve("line.yaml"), """
                version: 1
                links: software
                handshake: {timeout: 60s}
                nodes:
                  a: {nics: [{address: 10.75.12.1/24}]}
                  b: {nics: [{address: 10.75.12.2/24}, {address: 10.75.23.2/24}]}
                  c: {nics: [{address: 10.75.23.3/24}]}
                """);
        environment.put("TRIGON_CONFIG", file.toString());
        environment.put("TRIGON_CLUSTER_KEY_FILE", key(0).toString());
        environment.put("TRIGON_QUEUE_PAIRS_PER_LINK", "2"); // circuits by both processes of a node
    }

    @AfterEach
    void removeNodes() {
        relays.forEach(HostProgram::close);
        if (network != null) {
            network.close();
        }
    }

    /** As in two containers that share the network: they see nothing of each other. */
    @Test
    void relaysOfTwoUsersCarryOnForEachOther() throws IOException {
        HostProgram first = relayOf(12_001);
        HostProgram second = relayOf(12_002);
        try (NamespaceJob job = job("job", "a", "c")) {
            job.awaitRounds(3);
            assertThat(job.output()).contains(RELAYED);

            first.signal("KILL");
            job.awaitRounds(10);
            relayOf(12_001);
            second.signal("KILL");
            job.awaitRounds(10);

            job.end();
        }
    }

    @Test
    void ranksThatEndOrDieAreFollowedByOthers() throws IOException {
        try (NamespaceJob first = job("first", "b");
                NamespaceJob second = job("second", "b");
                NamespaceJob job = job("job", "a", "c")) {
            job.awaitRounds(3);
            assertThat(job.output()).contains(RELAYED);

            first.end();
            job.awaitRounds(10);
            try (NamespaceJob third = job("third", "b")) {
                third.awaitRounds(3);
                second.ranks().getFirst().signal("KILL");
                job.awaitRounds(10);

                job.end();
                third.end();
            }
        }
    }

    private NamespaceJob job(String name, String... nodes) throws IOException {
        Path of = Files.createDirectories(directory.resolve(name));
        return new NamespaceJob(network::by, of, environment, List.of(nodes));
    }

    private HostProgram relayOf(int user) throws IOException {
        List<String> by = new ArrayList<>(network.by("b"));
        by.addAll(List.of("unshare", "--mount", "sh", "-c", "mount -t tmpfs none /dev/shm && exec \"$@\"", "sh"));
        by.addAll(List.of("setpriv", "--reuid", "" + user, "--regid", "" + user, "--clear-groups"));
        String mayReadTheDistribution = "+dac_read_search";
        by.addAll(List.of("--inh-caps", mayReadTheDistribution, "--ambient-caps", mayReadTheDistribution));
        Map<String, String> variables = new HashMap<>(environment);
        variables.put("HOME", "/");
        variables.put("TRIGON_NODE", "b");
        variables.put("TRIGON_CLUSTER_KEY_FILE", key(user).toString());
        HostProgram relay =
                HostProgram.relay(by, directory.resolve("relay-%d.log".formatted(relays.size())), variables);
        relays.add(relay);
        relay.awaitOutput("relays over");
        return relay;
    }

    /** The cluster key, which only its owner may read. */
    private Path key(int user) throws IOException {
        Path key = Files.writeString(directory.resolve("key-" + user), "%064x%n".formatted(0x5eed));
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
        Files.setAttribute(key, "unix:uid", user);
        return key;
    }
}
