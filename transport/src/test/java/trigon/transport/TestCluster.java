package trigon.transport;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import trigon.verbs.LinkKind;

/**
 * A cluster file whose nodes all live in this process.
 *
 * @param file the file
 * @param kind what carries the data
 */
public record TestCluster(Path file, LinkKind kind) {

    /** A cluster on software links. */
    static TestCluster software(Path directory, String nodes) {
        return of(directory, LinkKind.SOFTWARE, nodes);
    }

    /** A cluster of these nodes, given as in the file. */
    public static TestCluster of(Path directory, LinkKind kind, String nodes) {
        return of(directory, kind, nodes, "");
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
            return new TestCluster(Files.writeString(directory.resolve("trigon.yaml"), text), kind);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Opens one of the nodes. */
    TestNode open(String name) {
        return new TestNode(this, name);
    }
}
