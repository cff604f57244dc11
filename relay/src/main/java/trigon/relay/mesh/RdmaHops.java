package trigon.relay.mesh;

import java.util.List;
import org.jspecify.annotations.Nullable;
import trigon.config.PluginConfig;
import trigon.config.Settings;
import trigon.config.setting.CircuitCarrier;
import trigon.routing.LocalLink;
import trigon.stream.hop.HopDevices;
import trigon.stream.hop.HopPort;
import trigon.verbs.LinkKind;
import trigon.verbs.VerbsProvider;

/** This node's RDMA links as what may carry hops. */
public final class RdmaHops {

    private RdmaHops() {}

    /**
     * Those that have an address.
     *
     * @param config says whether there are to be any
     * @param links this node's
     * @param provider of their devices; null if there are none
     */
    public static HopDevices of(PluginConfig config, List<LocalLink> links, @Nullable VerbsProvider provider) {
        if (provider == null || config.value(Settings.CIRCUITS_CARRIER) == CircuitCarrier.TCP) {
            return new HopDevices(List.of(), 0);
        }
        List<HopPort> ports = links.stream()
                .filter(link -> link.kind() == LinkKind.RDMA && !link.isLinkLocal())
                .map(link ->
                        new HopPort(provider, link.address().address(), link.deviceName(), link.port(), link.gid()))
                .toList();
        return new HopDevices(ports, (long) config.value(Settings.CIRCUITS_MEMORY) << 20);
    }
}
