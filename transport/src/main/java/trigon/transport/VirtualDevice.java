package trigon.transport;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import trigon.verbs.LinkKind;

/** The one device that NCCL sees, made of all links; see docs/decisions for why. */
final class VirtualDevice {

    private static final String NAME = "trigon0";

    /** What NCCL's model adds per message. It takes whole microseconds; TCP's order of magnitude, and RDMA's. */
    private static final float SOFTWARE_LATENCY = 15;

    private static final float RDMA_LATENCY = 2;
    private static final int MAX_COMMS = 1 << 16;

    private VirtualDevice() {}

    /** Its properties; there is at least one link. */
    static DeviceProperties properties(List<Link> links) {
        // a ring goes over one link in each direction, so it is as fast as the slowest
        int speed =
                links.stream().mapToInt(link -> link.local().speedMbps()).min().orElseThrow();
        boolean rdma = links.stream().anyMatch(link -> link.local().kind() == LinkKind.RDMA);
        return new DeviceProperties(
                NAME,
                links.stream()
                        .filter(link -> link.local().kind() == LinkKind.RDMA)
                        .map(link -> pciPath(link.local().deviceName()))
                        .filter(path -> !path.isEmpty())
                        .findFirst()
                        .orElse(""),
                links.getFirst().device().attributes().nodeGuid(),
                DeviceProperties.POINTER_HOST,
                speed,
                1,
                rdma ? RDMA_LATENCY : SOFTWARE_LATENCY,
                MAX_COMMS,
                1,
                Comm.MAX_MESSAGE_BYTES);
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
