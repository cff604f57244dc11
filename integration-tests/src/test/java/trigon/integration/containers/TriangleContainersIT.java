package trigon.integration.containers;

import static org.assertj.core.api.Assertions.assertThat;
import static trigon.integration.containers.Cable.AB;
import static trigon.integration.containers.Node.A;
import static trigon.integration.containers.Node.B;
import static trigon.integration.containers.Node.C;

import com.github.dockerjava.api.DockerClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;

/** A ring all-reduce over three containers, undisturbed and disturbed. The host program checks every element. */
@Timeout(300)
@ResourceLock("containers")
class TriangleContainersIT {

    private static final Duration LIMIT = Duration.ofMinutes(2);

    /** A killed process's kernel says good-bye for it: its peers need no patience. */
    private static final Duration SOON = Duration.ofSeconds(30);

    /** Shorter than all limits, and long enough for TCP to have tried again in vain. */
    private static final long GAP_MILLIS = 3000;

    private static final int BYTES = 4 << 20;

    /** The ring sends this much over each cable in an iteration: 2 (n - 1) / n of the vector. */
    private static final long SENT_PER_ITERATION = 4L * BYTES / 3;

    private static final Path DISTRIBUTION =
            Path.of(System.getProperty("trigon.distribution")).toAbsolutePath().normalize();

    private static DockerClient client;

    @TempDir
    Path directory;

    private ContainerTriangle triangle;

    @BeforeAll
    static void findTheEngine(@TempDir Path scratch) {
        client = ContainerEngine.client();
        ContainerEngine.sweep(client);
        ContainerEngine.makeImage(client, DISTRIBUTION, scratch);
    }

    @BeforeEach
    void startTheTriangle() {
        triangle = ContainerTriangle.start(client, DISTRIBUTION, directory);
    }

    @AfterEach
    void stopTheTriangle() {
        triangle.close();
    }

    @Test
    void reducesOverThreeNetworks() {
        ContainerJob job = triangle.run("job", "--bytes", Integer.toString(BYTES), "--iterations", "5");

        requireSuccess(job);
        for (Node node : Node.values()) {
            Cable cable = node.cableTo(node.next());
            assertThat(job.log(node))
                    .containsPattern("sends to \\S+ %s via".formatted(Pattern.quote(cable.address(node.next()))));
            assertThat(triangle.sentBytes(node, cable))
                    .as("bytes that %s has sent over %s", node, cable)
                    .isGreaterThan(5 * SENT_PER_ITERATION);
        }
    }

    @Test
    @Tag("long")
    void aPausedNodeHoldsTheJobUpAndNoMore() throws Exception {
        ContainerJob job = startLongJob();

        triangle.pause(C);
        Thread.sleep(GAP_MILLIS); // what is tried is a length of time, in which nothing may end
        requireUnfinished(job);
        triangle.resume(C);

        requireItGoesOn(job);
    }

    @Test
    @Tag("long")
    void aCableThatIsCutAndHealedHoldsTheJobUpAndNoMore() throws Exception {
        ContainerJob job = startLongJob();

        triangle.cut(AB, A);
        Thread.sleep(GAP_MILLIS); // what is tried is a length of time, in which nothing may end
        requireUnfinished(job);
        triangle.heal(AB, A);

        requireItGoesOn(job);
    }

    /** Each gap is shorter than all limits, and long enough for TCP to have tried again in vain. */
    @Test
    @Tag("long")
    void aCableThatFlapsHoldsTheJobUpAndNoMore() throws Exception {
        ContainerJob job = startLongJob();

        for (int gap = 0; gap < 4; gap++) {
            triangle.cut(AB, A);
            Thread.sleep(GAP_MILLIS / 2); // the same
            requireUnfinished(job);
            triangle.heal(AB, A);
            awaitTraffic(job);
        }

        job.end();
        requireSuccess(job);
    }

    /** The link is down and gone at one end; at the other end it looks well, and all packets are lost. */
    @Test
    @Tag("long")
    void aCableThatStaysCutIsAnErrorOnAllNodes() {
        ContainerJob job = startLongJob("TRIGON_PEER_TIMEOUT=10s");

        triangle.cut(AB, A);

        for (Node node : Node.values()) {
            assertThat(job.exitStatus(node, LIMIT)).as(job.logs()).isEqualTo(1);
            assertThat(job.log(node)).contains("(remote error)").doesNotContain(" 0 wrong");
        }
        assertThat(job.log(A) + job.log(B))
                .containsPattern("WARN .*(%s|%s).*the peer has been silent for [0-9]"
                        .formatted(Pattern.quote(AB.address(A)), Pattern.quote(AB.address(B))));
    }

    /**
     * Over the cable a sends and b receives, with nothing under way: the lifeline alone can tell, and nobody answers
     * it.
     */
    @Test
    @Tag("long")
    void aCableThatIsCutUnderAnIdleConnectionIsNoticedAtBothEnds() {
        ContainerJob job = triangle.run(List.of("TRIGON_PEER_TIMEOUT=10s"), "job", "--pause", "25");
        job.awaitConnected(LIMIT);

        triangle.cut(AB, A);

        for (Node node : Node.values()) {
            assertThat(job.exitStatus(node, LIMIT)).as(job.logs()).isEqualTo(1);
            assertThat(job.log(node)).contains("(remote error)").doesNotContain(" 0 wrong");
        }
        assertThat(job.log(A)).containsPattern(noticedBy("sender", AB.address(A)));
        assertThat(job.log(B)).containsPattern(noticedBy("receiver", AB.address(B)));
        // at a the interface is gone, which the kernel says; b cannot know more than that it hears nothing
        assertThat(job.log(A)).containsPattern("the peer has been silent .* since interface \\S+ of this node is down");
    }

    /**
     * What the lifeline says by itself, whether or not anybody asks. The search for another path has as long as the
     * lifeline, so either may give up first.
     */
    private static String noticedBy(String role, String address) {
        return ("WARN .*%s on \\S+ %s.*the peer has been silent for (more than a second; and no path to the"
                        + " peer came up|[0-9]+[.][0-9] s.*Requests that are not finished fail)")
                .formatted(role, Pattern.quote(address));
    }

    @Test
    @Tag("long")
    void aNodeThatStaysPausedIsAnErrorOnTheOthers() {
        ContainerJob job = startLongJob("TRIGON_PEER_TIMEOUT=10s", "TRIGON_STOPPED_TIMEOUT=12s");

        triangle.pause(C);

        try {
            for (Node survivor : new Node[] {A, B}) {
                assertThat(job.exitStatus(survivor, LIMIT))
                        .as(job.log(survivor))
                        .isEqualTo(1);
                assertThat(job.log(survivor)).contains("(remote error)").doesNotContain(" 0 wrong");
            }
            assertThat(job.log(A) + job.log(B)).contains("the peer has been silent for");
        } finally {
            triangle.resume(C);
        }
    }

    @Test
    @Tag("long")
    void aKilledNodeIsAnErrorOnTheOthersAndCanComeBack() {
        ContainerJob job = startLongJob();

        triangle.kill(C);

        for (Node survivor : new Node[] {A, B}) {
            assertThat(job.exitStatus(survivor, SOON)).as(job.log(survivor)).isEqualTo(1);
            assertThat(job.log(survivor)).contains("(remote error)").doesNotContain(" 0 wrong");
        }
        // who is first to fail lets go of its other neighbour, who may see that before it sees the death
        assertThat(job.log(A) + job.log(B))
                .containsPattern("WARN .*(%s|%s)"
                        .formatted(
                                Pattern.quote(C.cableTo(A).address(C)),
                                Pattern.quote(C.cableTo(B).address(C))));

        triangle.restart(C);
        requireSuccess(triangle.run("after", "--bytes", Integer.toString(BYTES), "--iterations", "5"));
    }

    @Test
    @Tag("long")
    void aJobOverAMissingCableFailsAndNamesThePeer() throws Exception {
        Files.writeString(directory.resolve("impatient.yaml"), "version: 1\nhandshake: {timeout: 10s}\n");
        triangle.cut(AB, A);

        ContainerJob job = triangle.run(
                List.of("TRIGON_CONFIG=" + ContainerTriangle.DIRECTORY + "/impatient.yaml"), "job", "--timeout", "90");

        assertThat(job.exitStatus(A, LIMIT)).as(job.log(A)).isEqualTo(1);
        assertThat(job.log(A))
                .containsPattern("WARN .*no connection to .*" + Pattern.quote(AB.address(B)))
                .contains("(remote error)");
    }

    /** Starts a job that does not end by itself, and waits until data is moving. */
    private ContainerJob startLongJob(String... environment) {
        ContainerJob job = triangle.runEndless(List.of(environment), "job", "--bytes", Integer.toString(BYTES));
        job.awaitConnected(LIMIT);
        awaitTraffic(job);
        requireUnfinished(job);
        return job;
    }

    private void awaitTraffic(ContainerJob job) {
        long before = triangle.sentBytes(A, AB);
        job.await(
                LIMIT,
                () -> triangle.sentBytes(A, AB) > before + 10 * SENT_PER_ITERATION,
                () -> "a has not sent 10 more iterations to b");
    }

    /** Data move again, and all that were sent before, meanwhile and afterwards are right. */
    private void requireItGoesOn(ContainerJob job) {
        awaitTraffic(job);
        job.end();
        requireSuccess(job);
    }

    /** A rank that has finished has printed its result, whether or not it has ended. */
    private static void requireUnfinished(ContainerJob job) {
        for (Node node : Node.values()) {
            assertThat(job.log(node)).as("the job was too short").doesNotContain(" wrong");
            assertThat(job.isRunning(node)).as(job.logs()).isTrue();
        }
    }

    private static void requireSuccess(ContainerJob job) {
        for (Node node : Node.values()) {
            assertThat(job.exitStatus(node, LIMIT)).as(job.logs()).isZero();
            assertThat(job.log(node)).contains(" 0 wrong");
        }
    }
}
