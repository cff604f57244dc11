package trigon.cluster.probe;

import java.io.IOException;
import java.time.InstantSource;
import java.util.Map;
import trigon.cluster.json.Json;
import trigon.cluster.json.JsonObject;
import trigon.cluster.machine.Machine;

/** This node, in this process. */
public final class LocalNode implements NodeConnection {

    private final String name;
    private final Agent agent;

    /** This machine, under the name that the user gave it. */
    public LocalNode(String name, Machine machine) {
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
