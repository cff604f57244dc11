package trigon.transport.testsupport;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import trigon.software.MoverSettings;
import trigon.verbs.LinkKind;

/**
 * A cluster file whose nodes all live in this process.
 *
 * @param file the file
 * @param kind what carries the data
 * @param movers of software links; empty for those that suit the machine, which may be none
 * @param time of its nodes; empty where they go by the machine's clock
 */
public record TestCluster(Path file, LinkKind kind, Optional<MoverSettings> movers, Optional<PassingTime> time) {

    /** From few bytes on, and one for all queue pairs. */
    private static final MoverSettings MOVERS = new MoverSettings(1, 5000);

    public TestCluster(Path file, LinkKind kind) {
        this(file, kind, Optional.empty(), Optional.empty());
    }

    /** A cluster on software links. */
    public static TestCluster software(Path directory, String nodes) {
        return of(directory, LinkKind.SOFTWARE, nodes);
    }

    /** The same, with movers whatever the machine is. */
    public static TestCluster movers(Path directory) {
        TestCluster cluster = software(directory, """
                a: {nics: [{address: 127.1.12.1/24}]}
                b: {nics: [{address: 127.1.12.2/24}]}
                """);
        return new TestCluster(cluster.file, cluster.kind, Optional.of(MOVERS), Optional.empty());
    }

    /** A cluster on software links, with more of the file. */
    public static TestCluster software(Path directory, String nodes, String settings) {
        return of(directory, LinkKind.SOFTWARE, nodes, settings);
    }

    /** A cluster on RDMA links where handshakes, and the silence of a peer, may take long. */
    public static TestCluster patientRdma(Path directory, String nodes) {
        return of(directory, LinkKind.RDMA, nodes, "handshake: {timeout: 2m, peerTimeout: 1m}\n");
    }

    /** A cluster of these nodes, given as in the file. */
    public static TestCluster of(Path directory, LinkKind kind, String nodes) {
        return of(directory, kind, nodes, "");
    }

    /** The same, where handshakes may take longer than by default: many at a time, on an emulated machine. */
    public static TestCluster patient(Path directory, LinkKind kind, String nodes) {
        return of(directory, kind, nodes, "handshake: {timeout: 2m}\n");
    }

    /** The same, whose connections go over all links that lead to the peer, with so many queue pairs on each. */
    public static TestCluster striped(Path directory, LinkKind kind, int queuePairsPerLink, String nodes) {
        String stripes = "stripes: {links: all, queuePairsPerLink: %d}\n".formatted(queuePairsPerLink);
        return of(directory, kind, nodes, stripes);
    }

    private static TestCluster of(Path directory, LinkKind kind, String nodes, String settings) {
        String links = kind == LinkKind.RDMA ? "rdma" : "software";
        String text = "version: 1\nlinks: " + links + "\n" + settings + "nodes:\n" + nodes.indent(2);
        try {
            Path file = Files.writeString(directory.resolve("trigon.yaml"), text);
            return new TestCluster(file, kind);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The same cluster, whose connections end with their paths. */
    public TestCluster withoutFailover() {
        try {
            Files.writeString(file, "failover: off\n", StandardOpenOption.APPEND);
            return this;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The same cluster, in which time passes only where the test waits for what takes a while. */
    public TestCluster withPassingTime() {
        return new TestCluster(file, kind, movers, Optional.of(new PassingTime()));
    }

    /** Opens one of the nodes. */
    public TestNode open(String name) {
        return new TestNode(this, name);
    }
}
