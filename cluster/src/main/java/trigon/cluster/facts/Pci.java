package trigon.cluster.facts;

import trigon.cluster.json.JsonObject;

/** Where a card is plugged in. */
public record Pci(JsonObject json) {

    public String function() {
        return json.text("function");
    }

    public String negotiated() {
        return json.text("negotiated");
    }

    public String possible() {
        return json.text("possible");
    }

    /** Whether it has less than the card can do; where that is not said, whether it has something else. */
    public boolean isReduced() {
        return !possible().isEmpty()
                && !negotiated().equals(possible())
                && json.truth("reduced").orElse(true);
    }
}
