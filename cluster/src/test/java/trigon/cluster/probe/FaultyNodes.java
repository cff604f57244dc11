package trigon.cluster.probe;

import java.io.IOException;
import java.util.List;

/** Nodes that faults can be planted into. */
public interface FaultyNodes {

    /** The nodes, as an examination asks them, in the order of their names. */
    List<NodeConnection> nodes();

    /** The way to that node, with its faults. */
    NodeConnection node(String node);

    /**
     * Runs a command on a node; PID in it is the agent's.
     *
     * @throws IOException if it fails, with what it has printed
     */
    void in(String node, String command) throws IOException;
}
