package trigon.cluster.facts;

import trigon.cluster.json.JsonObject;
import trigon.system.InterfaceAddress;

/** A link that the plugin would use. */
public record Link(JsonObject json) {

    public boolean isRdma() {
        return json.text("kind").equals("rdma");
    }

    public String device() {
        return json.text("device");
    }

    /** The network interface's name. */
    public String nic() {
        return json.text("interface");
    }

    public InterfaceAddress address() {
        return InterfaceAddress.parse(json.text("address"));
    }
}
