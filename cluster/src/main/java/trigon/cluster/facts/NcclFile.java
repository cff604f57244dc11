package trigon.cluster.facts;

import trigon.cluster.json.JsonObject;

/** A file of NCCL's. */
public record NcclFile(JsonObject json) {

    public String file() {
        return json.text("file");
    }

    public JsonObject settings() {
        return json.object("settings");
    }
}
