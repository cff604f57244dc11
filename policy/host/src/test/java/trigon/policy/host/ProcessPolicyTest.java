package trigon.policy.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import trigon.config.setting.ConfigException;
import trigon.nccl.ConnectionAdvice;
import trigon.nccl.TunerAdvice;
import trigon.policy.map.MapException;
import trigon.policy.map.MapSet;
import trigon.policy.map.MapSpec;
import trigon.policy.map.MapSpec.MapType;
import trigon.testsupport.Await;

/** A rank on which the policy cannot be loaded for a communicator, while others may have it. */
class ProcessPolicyTest {

    private static final Path EXAMPLES = Path.of("../examples");
    private static final Executor OWN_THREAD =
            task -> Thread.ofPlatform().daemon().start(task);

    @TempDir
    private Path folder;

    private ProcessPolicy open(String example, ProcessPolicy policy) throws Exception {
        return open(example, policy, false);
    }

    private ProcessPolicy open(String example, ProcessPolicy policy, boolean required) throws Exception {
        Path file = folder.resolve("policy.o");
        Files.write(file, Files.readAllBytes(EXAMPLES.resolve(example + ".o")));
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        policy.open(file, required, _ -> {});
        return policy;
    }

    /** With maps of the same names, but of another layout. */
    private static MapSet withOtherMaps() {
        MapSet maps = new MapSet();
        try {
            maps.bind(
                    List.of(MapSpec.of("rows", MapType.HASH, 8, 8, 1), MapSpec.of("measured", MapType.ARRAY, 4, 8, 1)));
        } catch (MapException e) {
            throw new IllegalStateException(e);
        }
        return maps;
    }

    /** Peers are told that NCCL decides on this rank, and refuse it where they decide by the policy. */
    @Test
    void anOptionalPolicyThatCannotBeLoadedLeavesTheCommunicatorToNccl() throws Exception {
        ProcessPolicy policy = open("table", new ProcessPolicy(ProcessPolicyTest::withOtherMaps, OWN_THREAD));

        assertThat(policy.forCommunicator(1, 2, 1)).isNull();
        assertThat(policy.connections().policyOf(1)).isZero();
        assertThat(policy.forCommunicator(2, 1, 1)).isNull();
    }

    /** NCCL connects before it makes the tuner where it connects all algorithms beforehand. */
    @Test
    void whatPeersHaveBeenToldIsNotWithdrawn() throws Exception {
        ProcessPolicy policy = open("table", new ProcessPolicy(ProcessPolicyTest::withOtherMaps, OWN_THREAD));
        assertThat(policy.connections().policyOf(1)).isNotZero();

        assertThatThrownBy(() -> policy.forCommunicator(1, 2, 1))
                .isInstanceOf(ConfigException.class)
                .hasMessageContainingAll("0x1 of 2 ranks", "its policy cannot be loaded", "unset", "on all ranks");
    }

    @Test
    void aRequiredPolicyFailsACommunicatorThatCannotHaveIt() throws Exception {
        ProcessPolicy policy = open("table", new ProcessPolicy(ProcessPolicyTest::withOtherMaps, OWN_THREAD), true);

        assertThatThrownBy(() -> policy.forCommunicator(1, 1, 1))
                .isInstanceOf(ConfigException.class)
                .hasMessageContaining("TRIGON_POLICY_MODE=optional");
    }

    /** No clock, and no interrupt, decides what one rank does while the others may have the policy. */
    @Test
    void waitsForThePolicyHoweverLongThatTakes() throws Exception {
        BlockingQueue<Runnable> held = new LinkedBlockingQueue<>();
        ProcessPolicy policy = open("few_neighbours", new ProcessPolicy(MapSet::new, held::add));
        FutureTask<Boolean> asked = new FutureTask<>(() -> {
            Thread.currentThread().interrupt();
            return policy.forCommunicator(1, 3, 3) != null && Thread.interrupted();
        });
        Thread rank = Thread.ofPlatform().start(asked);
        Await.until("the rank waits", () -> rank.getState() == Thread.State.TIMED_WAITING || asked.isDone());
        assertThat(asked.isDone()).as("it waits").isFalse();

        Thread watch = Thread.ofPlatform().daemon().start(held.take());
        try {
            assertThat(asked.get(1, TimeUnit.MINUTES))
                    .as("it decides by the policy, and was interrupted")
                    .isTrue();
            assertThat(policy.connections().policyOf(1)).isNotZero();
        } finally {
            watch.interrupt();
            watch.join();
        }
    }

    @Test
    void aProcessWithoutAThreadForItHasThePolicy() throws Exception {
        ProcessPolicy policy = open("few_neighbours", new ProcessPolicy(MapSet::new, watch -> {
            throw new OutOfMemoryError("unable to create native thread");
        }));
        assertThat(policy.forCommunicator(1, 3, 3)).isNotNull();
    }

    /** Nodes compare what decides for all ranks: not programs of connections, nor tuners on which ranks agree first. */
    @Test
    void onlyWhatDecidesForAllRanksIsCompared() throws Exception {
        assertThat(open("connect_by_speed", new ProcessPolicy()).connections().policyOf(1))
                .isZero();
        assertThat(open("slo", new ProcessPolicy()).connections().policyOf(1)).isZero();
        assertThat(open("noop", new ProcessPolicy()).connections().policyOf(1)).isNotZero();
    }

    /** Whatever asks first, a connection or the tuner. */
    @Test
    void aCommunicatorHasOneVersionUntilItIsClosed() throws Exception {
        ProcessPolicy policy = open("noop", new ProcessPolicy());
        ConnectionAdvice connections = policy.connections();
        int old = connections.policyOf(1);
        TunerAdvice decides = policy.forCommunicator(2, 2, 2);
        assertThat(decides).isNotNull();

        Path next = Files.write(folder.resolve("next"), Files.readAllBytes(EXAMPLES.resolve("hierarchy.o")));
        Files.setPosixFilePermissions(next, PosixFilePermissions.fromString("rw-r--r--"));
        Files.move(next, folder.resolve("policy.o"), StandardCopyOption.ATOMIC_MOVE);
        AtomicLong later = new AtomicLong(10);
        Await.until("the new version is there", () -> connections.policyOf(later.getAndIncrement()) != old);

        assertThat(connections.policyOf(1)).isEqualTo(old);
        assertThat(connections.policyOf(2)).isEqualTo(old);
        connections.closed(1);
        assertThat(connections.policyOf(1)).isNotEqualTo(old);
    }

    @Test
    void takesNoPartInAnAgreement() throws Exception {
        ProcessPolicy fails = open("slo", new ProcessPolicy(ProcessPolicyTest::withOtherMaps, OWN_THREAD));
        long communicator = System.nanoTime();
        assertThat(fails.forCommunicator(communicator, 2, 1)).isNull();

        ProcessPolicy other = open("slo", new ProcessPolicy());
        assertThat(other.forCommunicator(communicator, 2, 1))
                .as("one of two ranks came")
                .isNull();
    }
}
