package trigon.tools.probe;

import java.io.IOException;
import java.util.Map;
import trigon.tools.console.JsonObject;

/**
 * A node that is called otherwise than it is reached: people know machines by their host names, not by addresses.
 *
 * @param name what it is called
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
