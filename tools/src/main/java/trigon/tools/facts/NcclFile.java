package trigon.tools.facts;

import trigon.tools.console.JsonObject;

/** A file of NCCL's. */
public record NcclFile(JsonObject json) {

    public String file() {
        return json.text("file");
    }

    public JsonObject settings() {
        return json.object("settings");
    }
}
