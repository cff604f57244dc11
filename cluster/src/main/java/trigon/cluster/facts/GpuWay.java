package trigon.cluster.facts;

import trigon.cluster.json.JsonObject;

/** What lies between a NIC and a GPU. */
public record GpuWay(JsonObject json) {

    public String gpu() {
        return json.text("gpu");
    }

    public String distance() {
        return json.text("distance");
    }

    public String accessControl() {
        return json.text("accessControl");
    }
}
