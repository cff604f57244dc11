package trigon.integration.relay;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import trigon.integration.testsupport.CableNamespaces;
import trigon.integration.testsupport.HostProgram;
import trigon.integration.testsupport.NamespaceJob;
import trigon.integration.testsupport.SimulatedDevice;
import trigon.testsupport.Await;
import trigon.testsupport.Sampled;

/**
 * A triangle of RDMA links whose cable between a and b is cut under a job: what went by RDMA WRITE goes through c by
 * SEND from then on, and back when the cable is whole. The host looks at each element.
 */
@Timeout(300)
@Tag("long")
class SimulatedRelaysIT {

    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final Pattern LEFT = Pattern.compile(
            " goes on over toC \\S+ \\(TCP\\)( relayed by \\S+ over [\\w ]+)? instead of to[AB] \\S+ \\(RDMA\\)");
    private static final Pattern RETURNED = Pattern.compile(" returns to to[AB] \\S+ \\(RDMA\\)");

    @TempDir
    private Path directory;

    private CableNamespaces network;
    private SimulatedDevice device;

    @BeforeEach
    void layCables() {
        network = CableNamespaces.open();
        device = new SimulatedDevice(network);
        List.of("a", "b", "c").forEach(network::node);
        network.cable("a", "toB", "10.0.1.1/24", "b", "toA", "10.0.1.2/24");
        network.cable("b", "toC", "10.0.2.2/24", "c", "toB", "10.0.2.3/24");
        network.cable("c", "toA", "10.0.3.3/24", "a", "toC", "10.0.3.1/24");
        device.plugIn("a", "toB", "toC");
        device.plugIn("b", "toA", "toC");
        device.plugIn("c", "toA", "toB");
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

    @ParameterizedTest
    @Sampled({"1", "2"})
    void aJobGoesOnThroughARelayAndReturns(int queuePairs) throws Exception {
        try (NamespaceJob job = job(queuePairs)) {
            job.awaitRounds(20);
            for (int cut = 0; cut < 2; cut++) {
                network.set("a", "toB", false);
                await(job, LEFT, cut + 1);
                job.awaitRounds(20);
                network.set("a", "toB", true);
                await(job, RETURNED, cut + 1);
                job.awaitRounds(20);
            }
            job.end();
        }
    }

    /** The hops' queue pairs fail, at the ends or the relay: the connections go on over other circuits. */
    @ParameterizedTest
    @Sampled({"qp a/toC * error times 2", "qp c/toA * error times 2", "qp c/toB * fatal times 2"})
    void aJobGoesOnWhenAHopFails(String rule) throws Exception {
        try (NamespaceJob job = job(1)) {
            job.awaitRounds(20);
            network.set("a", "toB", false);
            await(job, LEFT, 1);
            job.awaitRounds(20);
            device.control(rule);
            Await.until(job::output, PATIENCE, () -> device.strikes() > 0);
            job.awaitRounds(20);
            device.control("mend");
            network.set("a", "toB", true);
            await(job, RETURNED, 1);
            job.awaitRounds(20);
            job.end();
        }
    }

    /** Both connections between a and b, at both ends. */
    private static void await(NamespaceJob job, Pattern moved, int times) {
        Await.until(
                job::output,
                PATIENCE,
                () -> job.ranks().subList(0, 2).stream()
                        .allMatch(rank -> moved.matcher(rank.output()).results().count() >= times));
    }

    private NamespaceJob job(int queuePairs) throws Exception {
        Map<String, String> environment = new HashMap<>(HostProgram.QUICK_START);
        environment.putAll(device.environment());
        environment.remove("TRIGON_LINKS"); // relays are reached by TCP, too
        environment.put("TRIGON_QUEUE_PAIRS_PER_LINK", Integer.toString(queuePairs));
        return new NamespaceJob(
                device::by, Files.createTempDirectory(directory, "job"), environment, List.of("a", "b", "c"));
    }
}
