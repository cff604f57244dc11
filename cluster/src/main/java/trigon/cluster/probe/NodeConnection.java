package trigon.cluster.probe;

import java.io.IOException;
import java.time.InstantSource;
import java.util.Map;
import trigon.cluster.json.Json;
import trigon.cluster.json.JsonObject;
import trigon.cluster.machine.Machine;

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

    /**
     * A node with a display name: it is reached by an address, but people know it by its host name.
     *
     * @param name its display name
     * @param node the connection to it
     */
    record Renamed(String name, NodeConnection node) implements NodeConnection {

        @Override
        public JsonObject ask(Map<String, Object> question) throws IOException {
            return node.ask(question);
        }

        @Override
        public void close() throws IOException {
            node.close();
        }
    }

    /** This node, in this process. */
    final class Local implements NodeConnection {

        private final String name;
        private final Agent agent;

        /** This machine, under the name that the user gave it. */
        public Local(String name, Machine machine) {
            this.name = name;
            this.agent = new Agent(machine, InstantSource.system());
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public JsonObject ask(Map<String, Object> question) throws IOException {
            // by way of text, so that there is one form of everything
            return JsonObject.parse(Json.line(agent.answer(JsonObject.parse(Json.line(question)))));
        }

        @Override
        public void close() throws IOException {
            agent.close();
        }
    }
}
