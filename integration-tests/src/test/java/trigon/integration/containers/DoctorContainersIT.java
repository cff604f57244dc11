package trigon.integration.containers;

import static org.assertj.core.api.Assertions.assertThat;
import static trigon.integration.containers.Cable.AB;
import static trigon.integration.containers.Node.A;
import static trigon.integration.containers.Node.B;

import com.github.dockerjava.api.DockerClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;

/** The doctor examines three containers, which it reaches as a user would: by {@code docker exec}. */
@Timeout(300)
@ResourceLock("containers")
class DoctorContainersIT {

    private static final Path DISTRIBUTION =
            Path.of(System.getProperty("trigon.distribution")).toAbsolutePath().normalize();
    private static final long DEADLINE_SECONDS = 120;
    private static final Pattern CODE = Pattern.compile("\"code\": \"([^\"]+)\"");

    /** What an engine gives to containers, and a job would stumble over; the doctor is right to say so. */
    private static final String SMALL_SHARED_MEMORY = "shared-memory-small";

    @TempDir
    private static Path directory;

    private static ContainerTriangle triangle;

    @BeforeAll
    static void startTheTriangle(@TempDir Path scratch) {
        DockerClient client = ContainerEngine.client();
        ContainerEngine.sweep(client);
        ContainerEngine.makeImage(client, DISTRIBUTION, scratch);
        triangle = ContainerTriangle.start(client, DISTRIBUTION, directory);
    }

    @AfterAll
    static void stopTheTriangle() {
        if (triangle != null) {
            triangle.close();
        }
    }

    /** The codes of what it finds, but for what depends on the engine's limits. */
    private static Set<String> found() throws Exception {
        List<String> command = new ArrayList<>(List.of(DISTRIBUTION + "/bin/trigon", "doctor", "--json"));
        command.addAll(List.of("--nodes", nodes(), "--via", "docker exec -i"));
        command.addAll(List.of("--remote", ContainerTriangle.DISTRIBUTION + "/bin/trigon"));
        String found = output(command);
        assertThat(found).contains("\"schema\": \"trigon.doctor/1\"", SMALL_SHARED_MEMORY);
        Set<String> codes = CODE.matcher(found)
                .results()
                .map(match -> match.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
        codes.removeAll(Set.of(SMALL_SHARED_MEMORY, "open-files-low", "tasks-few", "memlock-low"));
        return codes;
    }

    private static String nodes() {
        return Arrays.stream(Node.values()).map(triangle::id).collect(Collectors.joining(","));
    }

    /** Of a command of this machine, whatever its exit status. */
    private static String output(List<String> command) throws IOException, InterruptedException {
        Path output = directory.resolve("output");
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        boolean ended = process.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS);
        process.destroyForcibly();
        String said = Files.readString(output);
        assertThat(ended).as("%s has ended: %s", command, said).isTrue();
        return said;
    }

    /** As root of this machine, in a container's network; its own image has no such programs. */
    private static void inNetworkOf(Node node, String... command) throws Exception {
        List<String> words = new ArrayList<>(List.of("nsenter", "-n", "-t", Long.toString(triangle.processId(node))));
        words.addAll(List.of(command));
        assertThat(output(words)).isEmpty();
    }

    @Test
    void healthyContainersHaveNoFindings() throws Exception {
        assertThat(found()).isEmpty();
    }

    @Test
    @Tag("long")
    void anInterfaceThatIsDownIsFound() throws Exception {
        String name = triangle.interfaceName(A, AB);
        inNetworkOf(A, "ip", "link", "set", name, "down");
        try {
            assertThat(found()).containsExactly("interface-down");
        } finally {
            inNetworkOf(A, "ip", "link", "set", name, "up");
        }
    }

    @Test
    @Tag("long")
    void anMtuThatDiffersIsFound() throws Exception {
        String name = triangle.interfaceName(B, AB);
        inNetworkOf(B, "ip", "link", "set", name, "mtu", "1400");
        try {
            assertThat(found()).containsExactly("mtu");
        } finally {
            inNetworkOf(B, "ip", "link", "set", name, "mtu", "1500");
        }
    }
}
