package trigon.cluster.facts;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.Locale;
import trigon.routing.LocalLink;
import trigon.system.InterfaceAddress;

/**
 * A link that the plugin uses.
 *
 * @param kind {@code rdma} or {@code software}
 * @param device of RDMA
 * @param nic the network interface's name
 * @param rank its place among the links, the best first
 */
public record Link(
        String name,
        String kind,
        String device,
        @JsonProperty("interface") String nic,
        InterfaceAddress address,
        int speedMbps,
        int rank) {

    static Link of(LocalLink link) {
        return new Link(
                link.name(),
                link.kind().name().toLowerCase(Locale.ROOT),
                link.deviceName(),
                link.interfaceName(),
                link.address(),
                link.speedMbps(),
                link.rank());
    }

    public boolean isRdma() {
        return kind.equals("rdma");
    }

    /** The address alone, without its prefix, as probes name ends. */
    public String host() {
        return InterfaceAddress.text(address.address());
    }
}
