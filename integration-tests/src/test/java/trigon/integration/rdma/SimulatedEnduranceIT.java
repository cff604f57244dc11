package trigon.integration.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.integration.testsupport.CableNamespaces;
import trigon.integration.testsupport.HostProgram;
import trigon.integration.testsupport.NamespaceJob;
import trigon.integration.testsupport.SimulatedDevice;
import trigon.testsupport.Await;
import trigon.testsupport.Seed;

/**
 * A job over two RDMA links that meets one fault after the other. As many as the properties say: {@code
 * trigon.endurance.cuts}, and {@code trigon.endurance.seconds} of pauses.
 */
@Tag("long")
@Timeout(3600)
class SimulatedEnduranceIT {

    private static final int CUTS = Integer.getInteger("trigon.endurance.cuts", 6);
    private static final Duration PAUSES = Duration.ofSeconds(Integer.getInteger("trigon.endurance.seconds", 15));
    private static final int LONGEST_PAUSE_MILLIS = 950;
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final List<String> LINKS = List.of("one", "two");
    private static final Pattern MOVED = Pattern.compile(" goes on over ");

    @TempDir
    private Path directory;

    private final long seed = Seed.next();
    private final Random random = new Random(seed);
    private CableNamespaces network;
    private SimulatedDevice device;

    @BeforeEach
    void layCables() {
        network = CableNamespaces.open();
        device = new SimulatedDevice(network);
        List.of("a", "b").forEach(network::node);
        network.cable("a", "one", "10.0.1.1/24", "b", "one", "10.0.1.2/24");
        network.cable("a", "two", "10.0.2.1/24", "b", "two", "10.0.2.2/24");
        List.of("a", "b").forEach(node -> device.plugIn(node, "one", "two"));
    }

    @AfterEach
    void removeNodes() throws Exception {
        if (device != null) {
            device.close();
        }
        if (network != null) {
            network.close();
        }
    }

    /** One cable and the other in turn, of which the one that is left loses a packet in a thousand. */
    @Test
    void aJobOutlivesEachCutWhileCablesLosePackets() throws Exception {
        try (NamespaceJob job = job()) {
            job.awaitRounds(20);
            for (int cut = 0; cut < CUTS; cut++) {
                String link = LINKS.get(cut % 2);
                long moves = moves(job);
                device.control("mend");
                device.control("loss a-b 0.1%% ; cut a/%s-b/%s".formatted(link, link));
                Await.until(job::output, PATIENCE, () -> moves(job) > moves);
                job.awaitRounds(5);
            }
            device.control("mend");
            job.end();
            System.out.println("%d cuts, %d moves of connections".formatted(CUTS, moves(job)));
        }
    }

    /** Pause frames of a switch, of less than a second each. */
    @Test
    void noPauseBelowASecondMovesAConnection() throws Exception {
        try (NamespaceJob job = job()) {
            job.awaitRounds(20);
            long end = System.nanoTime() + PAUSES.toNanos();
            int pauses = 0;
            while (System.nanoTime() < end) {
                String link = LINKS.get(random.nextInt(2));
                int millis = 1 + random.nextInt(LONGEST_PAUSE_MILLIS);
                device.control("delay a/%s-b/%s %dms for %dms".formatted(link, link, millis, millis));
                job.awaitRounds(3);
                device.control("mend");
                job.awaitRounds(3);
                pauses++;
            }
            job.end();
            System.out.println("%d pauses, %d moves of connections".formatted(pauses, moves(job)));

            assertThat(job.output()).as("seed %d", seed).doesNotContainPattern(MOVED);
        }
    }

    private static long moves(NamespaceJob job) {
        return MOVED.matcher(job.output()).results().count();
    }

    private NamespaceJob job() throws Exception {
        Map<String, String> environment = new HashMap<>(HostProgram.QUICK_START);
        environment.putAll(device.environment());
        environment.put("TRIGON_STRIPES", "one");
        return new NamespaceJob(
                device::by,
                Files.createDirectory(directory.resolve("job")),
                environment,
                List.of("a", "b"),
                "--bytes",
                "4194304");
    }
}
