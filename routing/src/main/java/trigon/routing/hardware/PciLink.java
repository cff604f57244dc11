package trigon.routing.hardware;

import java.nio.file.Path;

/**
 * The PCIe link by which a NIC's functions reach memory.
 *
 * @param bridge the bridge above it, which tells it from others
 * @param mbps what it carries of data in each direction, in Mbit/s
 */
record PciLink(Path bridge, int mbps) {

    /** Bytes in a packet no longer than most platforms have them, and what is sent with it. */
    private static final double PACKET_BYTES = 256;

    private static final double PACKET_OVERHEAD_BYTES = 28;

    /**
     * The rate of a link as the kernel describes it: the rate of a lane less its encoding (PCI Express Base
     * Specification: 8b/10b to 5 GT/s, 128b/130b to 32 GT/s, flits beyond), times the lanes, less the packets' headers.
     *
     * @param speed {@code current_link_speed}, for example {@code 32.0 GT/s PCIe}
     * @param width {@code current_link_width}
     * @throws NumberFormatException if they are nothing of the kind; a virtual function's may be {@code Unknown}
     */
    static int carriesMbps(String speed, String width) {
        double megatransfers = Double.parseDouble(speed.strip().split(" ", 2)[0]) * 1000;
        double encoded = megatransfers <= 5_000 ? 8.0 / 10 : megatransfers <= 32_000 ? 128.0 / 130 : 236.0 / 256;
        double carried = PACKET_BYTES / (PACKET_BYTES + PACKET_OVERHEAD_BYTES);
        return (int) (megatransfers * encoded * carried * Integer.parseInt(width.strip()));
    }
}
