package trigon.cluster.facts;

import java.util.List;
import trigon.cluster.json.JsonObject;

/** A port of an RDMA device. */
public record RdmaPort(JsonObject json) {

    public String device() {
        return json.text("device");
    }

    public long port() {
        return json.whole("port");
    }

    /** The device, and the port's number unless it is the first. */
    public String label() {
        return device() + (port() > 1 ? ":" + port() : "");
    }

    public String state() {
        return json.text("state");
    }

    public boolean isActive() {
        return state().equals("ACTIVE");
    }

    public String linkLayer() {
        return json.text("linkLayer");
    }

    public List<String> interfaces() {
        return json.texts("interfaces");
    }

    /** The types of the entries of its GID table. */
    public List<String> gidTypes() {
        return json.objects("gids").stream().map(gid -> gid.text("type")).toList();
    }

    public Counters counters() {
        return new Counters(json.object("counters"));
    }

    /** How it reaches memory of GPUs, in words. */
    public String gpuMemory() {
        return json.text("gpuMemory");
    }
}
