package trigon.transport.plugin;

import trigon.nccl.DeviceProperties;
import trigon.nccl.NetPlugin;

/**
 * The one device that NCCL sees: it reaches every peer, whatever links lead there. What it says of itself is the same
 * on all nodes, since NCCL decides on each node by itself what both ends have to agree on; see
 * docs/design/decisions/0039.
 */
final class VirtualDevice {

    private static final String NAME = "trigon0";

    /** All nodes of a job have the same place: a device that stands for all NICs is near no GPU, and far from none. */
    private static final String NO_PCI_FUNCTION = "";

    /**
     * Mbit/s. For 4.875 GB/s NCCL's search finds two channels of 2.4 GB/s on GPUs of any kind, of which it makes four;
     * two would take up to twice as long for messages from 8 MiB on. From 15 GB/s on, NCCL 2.29 and later would make
     * more than one channel for each peer.
     */
    private static final int SPEED_MBPS = 39_000;

    /**
     * What NCCL's model adds for each message: nothing, as of NCCL's own transports. Told the truth, 15 us over TCP, it
     * sends twice as many bytes, by LL, up to lengths at which they count more than the messages. Ranks never compare
     * it, so with unequal values they would choose unequal algorithms.
     */
    private static final float LATENCY_US = 0;

    private static final int PORT = 1;
    private static final int MAX_COMMS = 1 << 16;

    private VirtualDevice() {}

    /** What NCCL is told on the node of that name, by which processes that share a node know its device. */
    static DeviceProperties on(String node) {
        return new DeviceProperties(
                NAME,
                NO_PCI_FUNCTION,
                Integer.toUnsignedLong(node.hashCode()),
                DeviceProperties.POINTER_HOST,
                SPEED_MBPS,
                PORT,
                LATENCY_US,
                MAX_COMMS,
                1,
                NetPlugin.MAX_MESSAGE_BYTES);
    }
}
