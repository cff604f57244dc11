package trigon.cluster.facts;

import trigon.cluster.json.JsonObject;

/** A link that is not used, or not as it was found. */
public record LeftOut(JsonObject json) {

    public String name() {
        return json.text("name");
    }

    public String why() {
        return json.text("why");
    }

    /** Whether somebody probably wants it used. */
    public boolean isSuspect() {
        return json.text("weight").equals("suspect");
    }

    public boolean isDown() {
        return json.truth("down").orElse(false);
    }
}
