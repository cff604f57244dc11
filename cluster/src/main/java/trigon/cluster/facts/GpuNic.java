package trigon.cluster.facts;

import java.util.Optional;
import trigon.cluster.json.JsonObject;

/** An RDMA device, as it is seen from the GPUs. */
public record GpuNic(JsonObject json) {

    /** Whether an IOMMU translates its addresses. */
    public boolean isTranslated() {
        return Gpu.translates(json);
    }

    /** What lies between it and the nearest GPU. */
    public Optional<GpuWay> nearest() {
        return json.objects("gpus").stream().findFirst().map(GpuWay::new);
    }
}
