package trigon.transport.plugin;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import trigon.net.DeviceProperties;
import trigon.net.NetPlugin;
import trigon.routing.LocalLink;
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

    /** With two channels instead of four, messages from 8 MiB on take up to twice as long: docs/lab-notes. */
    private static final int LEAST_DEVICES = 2;

    /**
     * The node's devices: one for each software link, or two for a single one, which NCCL takes for a NIC with two
     * ports; but one in all where there are RDMA links.
     */
    static List<VirtualDevice> over(List<Link> links) {
        boolean rdma = links.stream().anyMatch(link -> link.local().kind() == LinkKind.RDMA);
        if (rdma) {
            return List.of(new VirtualDevice(ofAll(links), Optional.empty()));
        }
        return IntStream.range(0, Math.clamp(links.size(), LEAST_DEVICES, MOST_DEVICES))
                .mapToObj(i -> ofSoftware(i, links.get(i % links.size()), 1 + i / links.size()))
                .toList();
    }

    private static VirtualDevice ofSoftware(int index, Link link, int port) {
        long guid = link.device().attributes().nodeGuid();
        return new VirtualDevice(
                properties(index, "", guid, port, link.local().speedMbps(), SOFTWARE_LATENCY),
                Optional.of(link.local()));
    }

    private static DeviceProperties ofAll(List<Link> links) {
        // a ring goes over one link in each direction, so it is as fast as the slowest
        int speed =
                links.stream().mapToInt(link -> link.local().speedMbps()).min().orElseThrow();
        String path = links.stream()
                .filter(link -> link.local().kind() == LinkKind.RDMA)
                .map(link -> pciPath(link.local().deviceName()))
                .filter(found -> !found.isEmpty())
                .findFirst()
                .orElse("");
        return properties(0, path, links.getFirst().device().attributes().nodeGuid(), 1, speed, RDMA_LATENCY);
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

    /** The PCI function behind an RDMA device, which NCCL places by; empty where there is none, as on SoftRoCE. */
    private static String pciPath(String deviceName) {
        try {
            Path device = Path.of("/sys/class/infiniband", deviceName, "device").toRealPath();
            boolean pci = Files.exists(device.resolve("subsystem"))
                    && device.resolve("subsystem").toRealPath().endsWith("pci");
            return pci ? device.toString() : "";
        } catch (IOException e) {
            return "";
        }
    }
}
