package trigon.routing.hardware;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.routing.LocalLink;
import trigon.system.GpuVendor;
import trigon.system.file.Folder;
import trigon.verbs.LinkKind;

/**
 * The hardware behind links, as the kernel describes it: {@code /sys}, as sysfs-bus-pci, sysfs-class-infiniband and
 * sysfs-class-net of its ABI documentation have it. Where it says nothing, as of virtual devices, the answer is empty.
 * Thread-safe; reads each time that it is asked.
 */
public final class NicHardware {

    private static final Logger log = LoggerFactory.getLogger(NicHardware.class);

    /** Display and 3D controllers, and AMD's processing accelerators. */
    private static final Pattern GPU = Pattern.compile("0x(03(00|02|80)|1200).*");

    private final Path sysfs;

    /** Reads below that directory, which tests make themselves. */
    public NicHardware(Path sysfs) {
        this.sysfs = sysfs;
    }

    /** A reader of this machine's {@code /sys}, which reads with each question. */
    public static NicHardware ofThisMachine() {
        return new NicHardware(Path.of("/sys"));
    }

    /** The directory of the PCI function that a link's device is. */
    public Optional<Path> pciFunction(LocalLink link) {
        Path owner = link.kind() == LinkKind.RDMA ? device(link) : networkInterface(link);
        try {
            Path function = owner.resolve("device").toRealPath();
            return function.resolve("subsystem").toRealPath().endsWith("pci")
                    ? Optional.of(function)
                    : Optional.empty();
        } catch (IOException e) {
            log.debug("{} is no PCI function: {}", link, e.toString());
            return Optional.empty();
        }
    }

    /** The PCI functions of the GPUs that jobs use: AMD's only where there are none of NVIDIA's. */
    public List<Path> gpus() {
        return Stream.of(GpuVendor.values())
                .map(this::gpus)
                .filter(each -> !each.isEmpty())
                .findFirst()
                .orElse(List.of());
    }

    /** The PCI functions of a vendor's GPUs, by their addresses. */
    public List<Path> gpus(GpuVendor vendor) {
        String number = "0x%04x".formatted(vendor.pciNumber());
        try {
            return Folder.entries(sysfs.resolve("bus/pci/devices")).stream()
                    .filter(function -> text(function.resolve("vendor")).equals(number)
                            && GPU.matcher(text(function.resolve("class"))).matches())
                    .toList();
        } catch (IOException e) {
            log.debug("no GPUs: {}", e.toString());
            return List.of();
        }
    }

    private static String text(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (IOException _) {
            return "";
        }
    }

    /** The PCIe link of a function. */
    Optional<PciLink> pciLink(Path function) {
        try {
            int mbps = PciLink.carriesMbps(
                    Files.readString(function.resolve("current_link_speed")),
                    Files.readString(function.resolve("current_link_width")));
            return mbps > 0 ? Optional.of(new PciLink(function.resolveSibling(""), mbps)) : Optional.empty();
        } catch (IOException | NumberFormatException e) {
            log.debug("{} does not say what its PCIe link carries: {}", function, e.toString());
            return Optional.empty();
        }
    }

    /**
     * A name for the cable that an RDMA link leads to, the same for all functions of that port of the NIC: the NIC's
     * system image GUID, and the port's name.
     */
    public Optional<String> cable(LocalLink link) {
        if (link.kind() != LinkKind.RDMA) {
            return Optional.empty();
        }
        try {
            String nic =
                    Files.readString(device(link).resolve("sys_image_guid")).strip();
            String port = Files.readString(networkInterface(link).resolve("phys_port_name"))
                    .strip();
            return nic.isEmpty() || port.isEmpty() ? Optional.empty() : Optional.of(nic + " " + port);
        } catch (IOException e) {
            log.debug("{} does not say which port of which NIC it is: {}", link, e.toString());
            return Optional.empty();
        }
    }

    private Path device(LocalLink link) {
        return sysfs.resolve("class/infiniband").resolve(link.deviceName());
    }

    private Path networkInterface(LocalLink link) {
        return sysfs.resolve("class/net").resolve(link.interfaceName());
    }

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
         * Specification: 8b/10b to 5 GT/s, 128b/130b to 32 GT/s, flits beyond), times the lanes, less the packets'
         * headers.
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
}
