package trigon.cluster.probe;

import java.io.IOException;
import java.util.Map;
import trigon.cluster.json.JsonObject;

/**
 * A node with a display name: it is reached by an address, but people know it by its host name.
 *
 * @param name its display name
 * @param node how it is reached
 */
public record RenamedNode(String name, NodeConnection node) implements NodeConnection {

    @Override
    public JsonObject ask(Map<String, Object> question) throws IOException {
        return node.ask(question);
    }

    @Override
    public void close() throws IOException {
        node.close();
    }
}
