package trigon.transport.plugin;

import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import trigon.nccl.DeviceProperties;
import trigon.nccl.NetPlugin;
import trigon.routing.LocalLink;
import trigon.routing.hardware.NicHardware;
import trigon.transport.path.Link;
import trigon.verbs.LinkKind;

/**
 * A device that NCCL sees: it reaches every peer, whatever links lead there; see docs/design/decisions for why.
 *
 * @param properties what NCCL is told
 * @param preferred the link to take where it leads to the peer, and others do as directly
 */
record VirtualDevice(DeviceProperties properties, Optional<LocalLink> preferred) {

    private static final String NAME = "trigon";

    /**
     * What NCCL's model adds for each message. For TCP it has been made with nothing, which is what NCCL's own sockets
     * say: told the truth, 15 us, it sends twice as many bytes, by LL, up to lengths at which they count more than the
     * messages.
     */
    private static final float SOFTWARE_LATENCY = 0;

    private static final float RDMA_LATENCY = 2;
    private static final int MAX_COMMS = 1 << 16;

    /** NCCL makes two channels for each device; with more than eight its GPUs spend more than they gain. */
    private static final int MOST_DEVICES = 4;

    /** With two channels instead of four, messages from 8 MiB on take up to twice as long. */
    private static final int LEAST_DEVICES = 2;

    /**
     * The node's devices: one for each software link, or two for a single one, which NCCL takes for a NIC with two
     * ports; but one in all where there are RDMA links.
     *
     * @param hardware what is behind them
     * @param mostRdma RDMA links that a connection goes over at most
     */
    static List<VirtualDevice> over(List<Link> links, NicHardware hardware, int mostRdma) {
        boolean rdma = links.stream().anyMatch(link -> link.local().kind() == LinkKind.RDMA);
        if (rdma) {
            return List.of(new VirtualDevice(ofAll(links, hardware, mostRdma), Optional.empty()));
        }
        List<Link> cables =
                links.stream().filter(link -> !hasLinkLocal(link, links)).toList();
        return IntStream.range(0, Math.clamp(cables.size(), LEAST_DEVICES, MOST_DEVICES))
                .mapToObj(i -> ofSoftware(i, cables.get(i % cables.size()), 1 + i / cables.size()))
                .toList();
    }

    /** Whether its interface is another link by its link-local address, which goes first. */
    private static boolean hasLinkLocal(Link link, List<Link> links) {
        return !link.local().isLinkLocal()
                && links.stream()
                        .anyMatch(other -> other.local().isLinkLocal()
                                && other.local()
                                        .interfaceName()
                                        .equals(link.local().interfaceName()));
    }

    private static VirtualDevice ofSoftware(int index, Link link, int port) {
        long guid = link.device().attributes().nodeGuid();
        return new VirtualDevice(
                properties(index, "", guid, port, link.local().speedMbps(), SOFTWARE_LATENCY),
                Optional.of(link.local()));
    }

    private static DeviceProperties ofAll(List<Link> links, NicHardware hardware, int mostRdma) {
        Map<String, List<Link>> cables = links.stream()
                .filter(link -> link.local().kind() == LinkKind.RDMA || !hasRdma(link, links))
                .collect(Collectors.groupingBy(link -> hardware.cable(link.local())
                        .orElseGet(() -> link.local().address().toString())));
        // a ring goes over one cable in each direction, so it is as fast as the slowest
        int speed = cables.values().stream()
                .mapToInt(cable -> speedMbps(cable, mostRdma))
                .min()
                .orElseThrow();
        // the PCI function behind an RDMA device, which NCCL places by; none on SoftRoCE
        String path = links.stream()
                .filter(link -> link.local().kind() == LinkKind.RDMA)
                .flatMap(link -> hardware.pciFunction(link.local()).stream())
                .map(Path::toString)
                .findFirst()
                .orElse("");
        return properties(0, path, links.getFirst().device().attributes().nodeGuid(), 1, speed, RDMA_LATENCY);
    }

    private static boolean hasRdma(Link software, List<Link> links) {
        return links.stream()
                .anyMatch(link -> link.local().kind() == LinkKind.RDMA
                        && link.local().address().equals(software.local().address()));
    }

    /** Of a connection over a cable: by all functions that lead there, but no faster than the port that they share. */
    private static int speedMbps(List<Link> cable, int mostRdma) {
        Map<String, Integer> functions = cable.stream()
                .map(Link::local)
                .collect(Collectors.toMap(LocalLink::deviceName, LocalLink::speedMbps, Math::max));
        int together = functions.values().stream()
                .sorted(Comparator.reverseOrder())
                .limit(mostRdma)
                .mapToInt(Integer::intValue)
                .sum();
        int port = cable.stream()
                .mapToInt(link -> Math.max(link.port().speedMbps(), link.local().speedMbps()))
                .max()
                .orElseThrow();
        return Math.min(together, port);
    }

    private static DeviceProperties properties(
            int index, String pciPath, long guid, int port, int speed, float latency) {
        return new DeviceProperties(
                NAME + index,
                pciPath,
                guid,
                DeviceProperties.POINTER_HOST,
                speed,
                port,
                latency,
                MAX_COMMS,
                1,
                NetPlugin.MAX_MESSAGE_BYTES);
    }
}
