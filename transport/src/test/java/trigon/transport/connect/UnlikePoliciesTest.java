package trigon.transport.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import trigon.nccl.NetPlugin;
import trigon.nccl.NoConnectionException;
import trigon.testsupport.Await;
import trigon.transport.testsupport.Connected;
import trigon.transport.testsupport.TestCluster;
import trigon.transport.testsupport.TestNode;

/** NCCL hangs where ranks decide differently: their nodes fail when they connect, and say so on both sides. */
@Timeout(180)
class UnlikePoliciesTest {

    private static final long COMMUNICATOR = 1;
    private static final int POLICY = 0x5bacacd9;

    /** The nodes here do not read it: {@link TestNode#policies} has what it decides. */
    private static final String WITH_POLICY = "policy: {file: /etc/trigon/policy.o}\n";

    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path directory;

    @Test
    void nodesThatDecideAlikeConnect() {
        try (TestNode a = cluster().open("a");
                TestNode b = cluster().open("b")) {
            a.policies.put(COMMUNICATOR, POLICY);
            b.policies.put(COMMUNICATOR, POLICY);
            assertThat(new Connected(a, b).sendComm).isPositive();
        }
    }

    /** NCCL's thread must not wait: it makes other connections meanwhile. */
    @Test
    void whoConnectsDoesNotWaitForAPolicyToBeLoaded() {
        try (TestNode a = cluster().open("a");
                TestNode b = cluster().open("b")) {
            a.policiesLoaded = new CountDownLatch(1);
            b.policiesLoaded = new CountDownLatch(1);
            long handle = b.allocate(NetPlugin.HANDLE_BYTES);
            long listenComm = b.plugin.listen(b.context, 0, handle);
            assertThat(a.plugin.connect(a.context, 0, handle, NetPlugin.TRAFFIC_CLASS_UNDEFINED))
                    .isZero();
            assertThat(b.plugin.accept(listenComm)).isZero();

            a.policiesLoaded.countDown();
            b.policiesLoaded.countDown();

            Await.until(
                    "a is connected",
                    () -> a.plugin.connect(a.context, 0, handle, NetPlugin.TRAFFIC_CLASS_UNDEFINED) != 0);
            Await.until("b is connected", () -> b.plugin.accept(listenComm) != 0);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "0x5bacacd9, 0, a decides by policy 5bacacd9, b has a policy that does not decide",
        "0, 0x5bacacd9, a has a policy that does not decide, b decides by policy 5bacacd9",
        "0x5bacacd9, 0x6bacacd9, a decides by policy 5bacacd9, b decides by policy 6bacacd9"
    })
    void nodesThatDoNotFailOnBothSides(String ofA, String ofB, String saidOfA, String saidOfB) {
        try (TestNode a = cluster().open("a");
                TestNode b = cluster().open("b")) {
            a.policies.put(COMMUNICATOR, Integer.decode(ofA));
            b.policies.put(COMMUNICATOR, Integer.decode(ofB));
            long handle = b.allocate(NetPlugin.HANDLE_BYTES);
            long listenComm = b.plugin.listen(b.context, 0, handle);

            assertThatThrownBy(() -> Connected.connectUntilItFails(a, handle))
                    .isInstanceOf(NoConnectionException.class)
                    .hasMessageContainingAll("communicator 0x1", saidOfA, saidOfB, "TRIGON_POLICY");
            assertThatThrownBy(() -> Await.until("b hears of it", () -> b.plugin.accept(listenComm) != 0))
                    .isInstanceOf(NoConnectionException.class)
                    .hasMessageContainingAll(saidOfA, saidOfB);
        }
    }

    /** The built-in tuner is the process's, so it does not matter which communicator it is. */
    @Test
    void nodesWhoseTunersAreNotAlikeFailOnBothSides() {
        try (TestNode a = cluster().open("a");
                TestNode b = cluster(WITH_POLICY + "tuning: off\n").open("b")) {
            long atA = a.plugin.openContext(0, NetPlugin.TRAFFIC_CLASS_UNDEFINED);
            long atB = b.plugin.openContext(0, NetPlugin.TRAFFIC_CLASS_UNDEFINED);
            long handle = b.allocate(NetPlugin.HANDLE_BYTES);
            long listenComm = b.plugin.listen(atB, 0, handle);

            assertThatThrownBy(() -> Await.until(
                            "a hears of it",
                            () -> a.plugin.connect(atA, 0, handle, NetPlugin.TRAFFIC_CLASS_UNDEFINED) != 0))
                    .isInstanceOf(NoConnectionException.class)
                    .hasMessageContainingAll(
                            "a has version 1 of the built-in tuner on",
                            "b has its built-in tuner off",
                            "TRIGON_TUNING");
            assertThatThrownBy(() -> Await.until("b hears of it", () -> b.plugin.accept(listenComm) != 0))
                    .isInstanceOf(NoConnectionException.class)
                    .hasMessageContaining("a has version 1 of the built-in tuner on");
        }
    }

    /** NCCL up to 2.27 names no communicator; that one process never has a policy is known all the same. */
    @ParameterizedTest
    @CsvSource({"a", "b"})
    void aNodeWithoutAPolicyRefusesOneThatDecidesByOne(String withPolicy) {
        try (TestNode a = cluster(withPolicy.equals("a") ? WITH_POLICY : "").open("a");
                TestNode b = cluster(withPolicy.equals("b") ? WITH_POLICY : "").open("b")) {
            (withPolicy.equals("a") ? a : b).policies.put(0L, POLICY);
            long atA = a.plugin.openContext(0, NetPlugin.TRAFFIC_CLASS_UNDEFINED);
            long atB = b.plugin.openContext(0, NetPlugin.TRAFFIC_CLASS_UNDEFINED);
            long handle = b.allocate(NetPlugin.HANDLE_BYTES);
            long listenComm = b.plugin.listen(atB, 0, handle);

            assertThatThrownBy(() -> Await.until(
                            "a hears of it",
                            () -> a.plugin.connect(atA, 0, handle, NetPlugin.TRAFFIC_CLASS_UNDEFINED) != 0))
                    .isInstanceOf(NoConnectionException.class)
                    .hasMessageContainingAll(
                            withPolicy + " decides by policy 5bacacd9", "has no policy", "TRIGON_POLICY");
            assertThatThrownBy(() -> Await.until("b hears of it", () -> b.plugin.accept(listenComm) != 0))
                    .isInstanceOf(NoConnectionException.class)
                    .hasMessageContaining(withPolicy + " decides by policy 5bacacd9");
        }
    }

    /** It may be one that began with another version. */
    @Test
    void communicatorsThatNcclDoesNotNameConnect() {
        try (TestNode a = cluster().open("a");
                TestNode b = cluster().open("b")) {
            a.policies.put(0L, POLICY);
            long atA = a.plugin.openContext(0, NetPlugin.TRAFFIC_CLASS_UNDEFINED);
            long atB = b.plugin.openContext(0, NetPlugin.TRAFFIC_CLASS_UNDEFINED);
            long handle = b.allocate(NetPlugin.HANDLE_BYTES);
            b.plugin.listen(atB, 0, handle);

            Await.until(
                    "a is connected", () -> a.plugin.connect(atA, 0, handle, NetPlugin.TRAFFIC_CLASS_UNDEFINED) != 0);
        }
    }

    private TestCluster cluster() {
        return cluster(WITH_POLICY);
    }

    private TestCluster cluster(String settings) {
        return TestCluster.software(directory, """
                a: {nics: [{address: 127.1.12.1/24}]}
                b: {nics: [{address: 127.1.12.2/24}]}
                """, settings);
    }
}
