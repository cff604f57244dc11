package trigon.transport.plugin;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.config.setting.ConfigException;
import trigon.config.setting.GpuMemoryUse;
import trigon.nccl.DeviceProperties;
import trigon.nccl.NetPlugin;
import trigon.routing.LocalLink;
import trigon.routing.hardware.NicHardware;
import trigon.transport.path.Link;
import trigon.transport.path.LoopbackProbe;
import trigon.verbs.DeviceMemory;
import trigon.verbs.LinkKind;

/**
 * A device that NCCL sees. It reaches every peer, whatever links lead there.
 *
 * <p>With memory of GPUs there is one for each RDMA NIC, since NCCL decides by the distance from a GPU to its NIC; see
 * docs/design/decisions/0006. {@link VirtualDevices} has the others.
 *
 * @param preferred the links that its connections take, where they lead to the peer as directly as others
 */
record VirtualDevice(DeviceProperties properties, Set<LocalLink> preferred) {

    private static final Logger log = LoggerFactory.getLogger(VirtualDevice.class);

    private static final String PREFIX = "trigon";

    /** All nodes of a job have the same place: a device that stands for all NICs is near no GPU, and far from none. */
    private static final String NO_PCI_FUNCTION = "";

    /**
     * Mbit/s. For 4.875 GB/s NCCL's search finds two channels of 2.4 GB/s on GPUs of any kind, of which it makes four;
     * two would take up to twice as long for messages from 8 MiB on. From 15 GB/s on, NCCL 2.29 and later would make
     * more than one channel for each peer.
     */
    private static final int SPEED_MBPS = 39_000;

    /**
     * Time that NCCL's model adds for each message: nothing, as of NCCL's own transports. Told the truth, 15 us over
     * TCP, it sends twice as many bytes, by LL, up to lengths at which they count more than the messages. Ranks never
     * compare it, so with unequal values they would choose unequal algorithms.
     */
    private static final float LATENCY_US = 0;

    private static final int NUMBER_BITS = 8;
    private static final int PORT = 1;
    private static final int MAX_COMMS = 1 << 16;

    /**
     * One for each RDMA NIC, if NCCL is to have memory of GPUs, and all NICs reach it; else none.
     *
     * @param noGpus why NICs leave memory of GPUs alone, whatever they reach; empty if there is no such reason
     * @param node its name, by which processes that share a node know its devices
     * @param links those that are open
     * @throws ConfigException if memory of GPUs is required, and a NIC does not reach it
     */
    static List<VirtualDevice> withGpuMemory(
            GpuMemoryUse use, Optional<String> noGpus, String node, List<Link> links, NicHardware hardware) {
        return withGpuMemory(use, noGpus, node, links, hardware, LoopbackProbe::passes);
    }

    /** The same with a question to a NIC whether it passes anything to itself: else it cannot flush. */
    static List<VirtualDevice> withGpuMemory(
            GpuMemoryUse use,
            Optional<String> noGpus,
            String node,
            List<Link> links,
            NicHardware hardware,
            Predicate<Link> passesToItself) {
        if (use == GpuMemoryUse.OFF) {
            return List.of();
        }
        Map<String, Link> nics = new LinkedHashMap<>();
        links.stream()
                .filter(link -> link.local().kind() == LinkKind.RDMA)
                .forEach(link -> nics.putIfAbsent(link.local().deviceName(), link));
        Map<Link, DeviceMemory> memory = new LinkedHashMap<>();
        nics.values().forEach(link -> memory.put(link, link.device().deviceMemory()));
        Optional<String> obstacle = noGpus.or(() -> obstacle(use, links, memory))
                .or(() -> memory.keySet().stream()
                        .filter(link -> !passesToItself.test(link))
                        .findFirst()
                        .map(link -> link.device().deviceName()
                                + " passes nothing to itself, and so cannot flush what it"
                                + " has written: see whether its settings, or those of its switch, forbid loopback"));
        if (obstacle.isPresent()) {
            if (use == GpuMemoryUse.ON) {
                throw new ConfigException("gpuMemory is on, but " + obstacle.get());
            }
            log.info("GPU memory is off: {}", obstacle.get());
            return List.of();
        }
        List<VirtualDevice> devices = new ArrayList<>();
        memory.forEach((link, reach) -> devices.add(ofNic(node, devices.size(), link, reach, hardware)));
        return List.copyOf(devices);
    }

    /** NCCL decides before it knows over which link its peer is reached. */
    private static Optional<String> obstacle(GpuMemoryUse use, List<Link> links, Map<Link, DeviceMemory> memory) {
        Optional<String> withoutRdma = links.stream()
                .filter(link -> use == GpuMemoryUse.AUTO && link.local().kind() != LinkKind.RDMA)
                .map(link -> link.local().interfaceName() + " has no RDMA. TRIGON_LINKS=rdma leaves it out")
                .findFirst();
        if (withoutRdma.isPresent() || memory.isEmpty()) {
            return withoutRdma.or(() -> Optional.of("there is no RDMA link"));
        }
        return memory.entrySet().stream()
                .filter(each -> !each.getValue().isReachable())
                .map(each -> "%s does not reach it: %s"
                        .formatted(
                                each.getKey().device().deviceName(),
                                each.getValue().obstacle()))
                .findFirst();
    }

    private static VirtualDevice ofNic(String node, int number, Link link, DeviceMemory memory, NicHardware hardware) {
        LocalLink local = link.local();
        log.info("{}{} ({}): GPU memory by {}", PREFIX, number, local.deviceName(), memory);
        int pointers = DeviceProperties.POINTER_HOST
                | (memory.dmaBuf() ? DeviceProperties.POINTER_DMA_BUF : 0)
                | (memory.peerMemory() ? DeviceProperties.POINTER_CUDA : 0);
        return of(node, number, function(local, hardware), pointers, local.assumedMbps(), Set.of(local));
    }

    /** A device for links of NICs that are near to a GPU; it is as fast as all of them. */
    static VirtualDevice ofGroup(String node, int number, List<LocalLink> group, NicHardware hardware) {
        Map<String, Integer> speeds = new HashMap<>();
        group.forEach(link -> speeds.merge(link.interfaceName(), link.assumedMbps(), Math::max));
        int mbps = speeds.values().stream().mapToInt(Integer::intValue).sum();
        log.info("{}{}: {} Gb/s by {}", PREFIX, number, mbps / 1000, group);
        String function = function(group.getFirst(), hardware);
        return of(node, number, function, DeviceProperties.POINTER_HOST, mbps, Set.copyOf(group));
    }

    /** One that takes whatever link leads to a peer; its properties are constant. */
    static VirtualDevice ofAllLinks(String node) {
        return of(node, 0, NO_PCI_FUNCTION, DeviceProperties.POINTER_HOST, SPEED_MBPS, Set.of());
    }

    private static String function(LocalLink link, NicHardware hardware) {
        return hardware.pciFunction(link).map(Path::toString).orElse(NO_PCI_FUNCTION);
    }

    private static VirtualDevice of(
            String node, int number, String function, int pointers, int mbps, Set<LocalLink> preferred) {
        return new VirtualDevice(
                new DeviceProperties(
                        PREFIX + number,
                        function,
                        Integer.toUnsignedLong(node.hashCode()) << NUMBER_BITS | number,
                        pointers,
                        mbps,
                        PORT,
                        LATENCY_US,
                        MAX_COMMS,
                        1,
                        NetPlugin.MAX_MESSAGE_BYTES),
                preferred);
    }
}
