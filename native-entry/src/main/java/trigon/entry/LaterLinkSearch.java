package trigon.entry;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.config.PluginConfig;
import trigon.config.setting.ConfigException;
import trigon.routing.LinkSearch;
import trigon.routing.LocalLink;
import trigon.routing.discovery.HostInterface;
import trigon.routing.discovery.HostInterfaces;
import trigon.routing.discovery.LinkDiscovery;
import trigon.routing.discovery.RdmaPort;
import trigon.routing.discovery.RdmaPorts;
import trigon.routing.hardware.LinkSpeeds;
import trigon.routing.hardware.NicHardware;
import trigon.software.SoftwareDevice;
import trigon.software.device.SoftwareVerbs;
import trigon.verbs.LinkKind;
import trigon.verbs.VerbsProvider;

/** Finds links as the start does, by the same settings. RDMA devices are looked for where there were some then. */
final class LaterLinkSearch implements LinkSearch {

    private static final Logger log = LoggerFactory.getLogger(LaterLinkSearch.class);

    /** The changes that a link depends on: machines with containers change in other ways all the time. */
    private record Place(int index, String address, boolean up) {}

    private final PluginConfig settings;
    private final NicHardware hardware;
    private final @Nullable VerbsProvider rdma;
    private final SoftwareVerbs software;
    private final UnaryOperator<HostInterfaces> marked;
    private Set<Place> places = Set.of();

    /**
     * A search.
     *
     * @param providers all there are; software devices are added to theirs
     * @param marked marks the bootstrap's network, as at the start
     */
    LaterLinkSearch(
            PluginConfig settings,
            NicHardware hardware,
            Map<LinkKind, VerbsProvider> providers,
            SoftwareVerbs software,
            UnaryOperator<HostInterfaces> marked) {
        this.marked = marked;
        this.settings = settings;
        this.hardware = hardware;
        this.software = software;
        rdma = providers.get(LinkKind.RDMA);
    }

    @Override
    public List<LocalLink> beyond(List<LocalLink> known) {
        HostInterfaces interfaces = marked.apply(HostInterfaces.snapshot());
        Set<Place> now = places(interfaces);
        if (now.equals(places)) {
            return List.of();
        }
        places = now;
        List<LocalLink> found;
        try {
            List<RdmaPort> ports =
                    rdma == null ? List.of() : RdmaPorts.snapshot(rdma).ports();
            found = new LinkSpeeds(hardware)
                    .limit(settings, LinkDiscovery.discover(settings, ports, interfaces))
                    .beyond(known);
        } catch (ConfigException e) {
            log.debug("no links beyond those of the start: {}", e.getMessage());
            return List.of();
        }
        if (!found.isEmpty()) {
            places = Set.of(); // what cannot be opened yet is looked for again
        }
        found.stream()
                .filter(link -> link.kind() == LinkKind.SOFTWARE)
                .forEach(link -> software.put(softwareDevice(link))); // an earlier try may have had another address
        return found;
    }

    private static Set<Place> places(HostInterfaces interfaces) {
        Set<Place> places = new HashSet<>();
        for (HostInterface each : interfaces.interfaces()) {
            each.addresses().forEach(address -> places.add(new Place(each.index(), address.toString(), each.up())));
        }
        return places;
    }

    /** The device behind a software link. */
    static SoftwareDevice softwareDevice(LocalLink link) {
        return new SoftwareDevice(
                link.deviceName(),
                link.bindAddress(),
                link.address().prefixLength(),
                link.assumedMbps(),
                link.interfaceIndex());
    }
}
