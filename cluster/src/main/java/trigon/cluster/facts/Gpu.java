package trigon.cluster.facts;

import trigon.cluster.json.JsonObject;

/** A GPU of NVIDIA, as its PCI function and its driver say. */
public record Gpu(JsonObject json) {

    public String function() {
        return json.text("function");
    }

    public String model() {
        return json.text("model");
    }

    /** True for the GPU of a DGX Spark, which no other board has. */
    public boolean isOfDgxSpark() {
        return model().contains("GB10");
    }

    /** Whether an IOMMU translates its addresses. */
    public boolean isTranslated() {
        return translates(json);
    }

    static boolean translates(JsonObject function) {
        return function.find("iommu").filter(type -> !type.equals("identity")).isPresent();
    }
}
