package trigon.cluster.probe;

import java.io.IOException;
import java.util.Map;
import trigon.cluster.json.JsonObject;

/** Sends questions to a node's {@link Agent}. One thread. */
public interface NodeConnection extends AutoCloseable {

    /** The node, as the user calls it. */
    String name();

    /**
     * Asks, and waits for the answer.
     *
     * @throws IOException if there is none
     */
    JsonObject ask(Map<String, Object> question) throws IOException;

    @Override
    void close() throws IOException;
}
