package trigon.integration.hosts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import trigon.testsupport.Sampled;

/**
 * RDMA devices that fail under a connection that ends with its path: the distribution over a libibverbs of the tests
 * (the instant device), told to fail by the host program, which moves data over two connections to itself. What each
 * end's calls return, and what the log says; that the errors stay, that all can be closed, and that new connections
 * come up, is checked by the program (failing-verbs.c).
 *
 * <p>In a network and a mount namespace of its own, for the devices' addresses and names.
 */
@Timeout(300)
@Tag("long")
class FailingVerbsIT {

    private static final Path HOST = Path.of(System.getProperty("trigon.odd.host"));
    private static final Path DEVICE = HOST.resolveSibling("simulated");
    private static final Path FAKE_SYSFS =
            Path.of("../testing/simulated-device/fake-sysfs.sh").toAbsolutePath();
    private static final String SYSTEM_ERROR = " returned 2 (system error)";
    private static final String REMOTE_ERROR = " returned 6 (remote error)";

    /** Both ends' queue pairs, GIDs, the link and the peer, as every line about a connection has them. */
    private static final String BOTH_ENDS =
            " on one 10\\.1\\.12\\.1/24 \\(RDMA\\): local qp 0x\\w+ psn \\S+ gid ::ffff:10\\.1\\.12\\.1 .*,"
                    + " peer qp 0x\\w+ psn \\S+ gid ::ffff:10\\.1\\.12\\.1 .* of a at 10\\.1\\.12\\.1: ";

    @TempDir
    private Path scratch;

    @BeforeEach
    void canBeRunHere() {
        assumeThat(DEVICE.resolve("libibverbs.so.1"))
                .as("the instant device, which needs libibverbs-dev")
                .exists();
        assumeThat(OddHost.in(scratch)
                        .by("unshare", "-rn", FAKE_SYSFS.toString(), "simulated")
                        .other("ip", "link")
                        .exit())
                .as("unshare may make a network namespace, and in it a mount namespace with another /sys/class")
                .isZero();
    }

    @ParameterizedTest
    @Sampled({"sender", "receiver"})
    void whoseCompletionQueueCannotBePolledSaysSoAndTheOtherEndHears(String end) throws IOException {
        String other = end.equals("sender") ? "receiver" : "sender";

        OddHost.End run = fail("poll:" + end);

        run.hasSaid(end + ": test" + SYSTEM_ERROR);
        assertThat(run.stderr())
                .containsPattern(other + ": (test|isend|irecv)\\Q" + REMOTE_ERROR + "\\E")
                .containsPattern("WARN .*" + end + BOTH_ENDS + "ibv_poll_cq failed with EIO: .*dmesg.*SYSTEM_ERROR")
                .containsPattern(
                        "WARN .*" + other + BOTH_ENDS + ".*the peer's end failed: ibv_poll_cq failed with EIO");
    }

    @ParameterizedTest
    @Sampled({"sender", "receiver"})
    void whoseQueuePairFailsWithoutACompletionIsToldByTheDeviceAndTheOtherEndHears(String end) throws IOException {
        String other = end.equals("sender") ? "receiver" : "sender";

        OddHost.End run = fail("queue-pair:" + end);

        run.hasSaid(end + ": test" + SYSTEM_ERROR);
        assertThat(run.stderr())
                .containsPattern(other + ": (test|isend|irecv)\\Q" + REMOTE_ERROR + "\\E")
                .containsPattern(
                        "WARN .*" + end + BOTH_ENDS + "device one reports QUEUE_PAIR_FATAL: .*dmesg.*SYSTEM_ERROR")
                .containsPattern(
                        "WARN .*" + other + BOTH_ENDS + ".*the peer's end failed: device one reports QUEUE_PAIR_FATAL");
    }

    @Test
    void aDeviceThatFailsAsAWholeFailsAllItsConnectionsAndNoOther() throws IOException {
        OddHost.End run = fail("device:both");

        for (String end : new String[] {"sender", "receiver", "other sender", "other receiver"}) {
            assertThat(run.stderr()).containsPattern("(?m)^" + end + ": (test|isend|irecv)\\Q" + SYSTEM_ERROR + "\\E");
        }
        assertThat(run.stderr())
                .containsPattern("WARN .*one: DEVICE_FATAL, .*All connections over one 10\\.1\\.12\\.1/24 \\(RDMA\\)"
                        + " fail; .*dmesg.*restart the job")
                .containsPattern("WARN .*sender" + BOTH_ENDS + "device one reports DEVICE_FATAL: .*SYSTEM_ERROR")
                .containsPattern("WARN .*receiver" + BOTH_ENDS + "device one reports DEVICE_FATAL: .*SYSTEM_ERROR")
                // the next connection takes the other link, and does not even try this one
                .contains("a new connection moves data")
                .doesNotContain("no connection to a over");
    }

    private OddHost.End fail(String how) throws IOException {
        Path nodes = Files.writeString(scratch.resolve("two-links.yaml"), """
                version: 1
                links: rdma
                nodes:
                  a: {nics: [{device: one, address: 10.1.12.1/24}, {device: two, address: 10.1.13.1/24}]}
                """);
        return OddHost.in(scratch)
                .by(
                        "unshare",
                        "-rn",
                        "sh",
                        "-ec",
                        "ip link set lo up; ip addr add 10.1.12.1/24 dev lo; ip addr add 10.1.13.1/24 dev lo; exec"
                                + " \"$@\"",
                        "sh",
                        FAKE_SYSFS.toString(),
                        "simulated")
                .with("LD_LIBRARY_PATH", DEVICE.toString())
                .with("SIMVERBS_INSTANT", "1")
                .with("SIMVERBS_DEVICES", "one=10.1.12.1/24,two=10.1.13.1/24")
                // called as devices are that post by a system call
                .with("SIMVERBS_DRIVER", "")
                .with("TRIGON_CONFIG", nodes.toString())
                .with("TRIGON_FAILOVER", "off") // which would mend most of it
                .c(12, "verbs", how)
                .hasSucceeded()
                .hasSaid("a new connection moves data");
    }
}
