package trigon.verbs.ffm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.system.file.Folder;
import trigon.verbs.Gid;
import trigon.verbs.GidEntry;

/** The facts about RDMA devices that sysfs has beyond the verbs. Control path only. */
final class Sysfs {

    private static final Logger LOG = LoggerFactory.getLogger(Sysfs.class);

    /** Kernel drivers of NICs whose user-space provider posts and polls without entering the kernel. */
    private static final Set<String> KERNEL_BYPASS_DRIVERS = Set.of(
            "mlx5_core",
            "mlx4_core",
            "bnxt_en",
            "efa",
            "erdma",
            "hns3",
            "hns_roce_hw_v2",
            "i40e",
            "ice",
            "mana",
            "qede");

    /** Kernel modules by which NICs take memory of GPUs by address; the older two are Mellanox's. */
    private static final List<String> PEER_MEMORY_MODULES = List.of(
            "module/nvidia_peermem/version",
            "kernel/mm/memory_peers/nv_mem/version",
            "kernel/mm/memory_peers/nv_mem_nc/version");

    private static final Pattern RATE = Pattern.compile("(\\d{1,6}(\\.\\d{1,3})?) Gb/sec");

    private final Path root;
    private final Path infinibandClass;

    /** Reads below that directory. */
    Sysfs(Path root) {
        this.root = root;
        infinibandClass = root.resolve("class/infiniband");
    }

    /** A reader of this machine's {@code /sys}, which reads with each question. */
    static Sysfs ofThisMachine() {
        return new Sysfs(Path.of("/sys"));
    }

    /** Names of the devices the kernel has, sorted; with or without a driver in user space. */
    List<String> deviceNames() {
        List<String> names = new ArrayList<>();
        if (Files.isDirectory(infinibandClass)) {
            try {
                Folder.entries(infinibandClass).forEach(device -> names.add(String.valueOf(device.getFileName())));
            } catch (IOException e) {
                LOG.debug("{} cannot be read", infinibandClass, e);
            }
        }
        return names;
    }

    /**
     * Returns whether posting a send to the device stays in user space. Decided by the kernel driver of its bus
     * device, since device names are given by udev and say little. Virtual devices (rxe, siw) have no bus device and
     * post by system call; for those, and for drivers that are not known here, the answer is no.
     */
    boolean bypassesKernel(String deviceName) {
        Path driver = infinibandClass.resolve(deviceName).resolve("device").resolve("driver");
        try {
            return KERNEL_BYPASS_DRIVERS.contains(
                    String.valueOf(driver.toRealPath().getFileName()));
        } catch (IOException e) {
            LOG.debug("{} has no bus driver", deviceName, e);
            return false;
        }
    }

    /**
     * Data rate of a port in Mbit/s, which the kernel writes as {@code 800 Gb/sec (4X XDR)}; 0 if it says none. What
     * the verbs say of a port ends at 100 Gbit/s a lane (NDR).
     */
    int megabitsPerSecond(String deviceName, int port) {
        Path rate = infinibandClass.resolve(deviceName, "ports", Integer.toString(port), "rate");
        try {
            Matcher matcher = RATE.matcher(Files.readString(rate));
            return matcher.lookingAt() ? (int) Math.round(Double.parseDouble(matcher.group(1)) * 1000) : 0;
        } catch (IOException e) {
            LOG.debug("{} cannot be read", rate, e);
            return 0;
        }
    }

    /** The valid entries of a port's GID table. */
    List<GidEntry> gidTable(String deviceName, int port) {
        Path folder = infinibandClass.resolve(deviceName, "ports", Integer.toString(port));
        boolean ethernet = line(folder.resolve("link_layer")).equals(Optional.of("Ethernet"));
        List<GidEntry> entries = new ArrayList<>();
        for (int index = 0; true; index++) {
            Optional<String> gid = line(folder.resolve("gids", Integer.toString(index)));
            if (gid.isEmpty()) {
                return List.copyOf(entries);
            }
            Gid value = Gid.ofBytes(HexFormat.of().parseHex(gid.get().replace(":", "")));
            Optional<String> type = line(folder.resolve("gid_attrs", "types", Integer.toString(index)));
            if (type.isPresent() && !value.isZero()) { // an empty place has no type
                entries.add(new GidEntry(index, value, gidType(type.get(), ethernet), interfaceOf(folder, index)));
            }
        }
    }

    private static GidEntry.Type gidType(String words, boolean ethernet) {
        if (words.equals("RoCE v2")) {
            return GidEntry.Type.ROCE_V2;
        }
        return ethernet ? GidEntry.Type.ROCE_V1 : GidEntry.Type.INFINIBAND; // the kernel has one word for both
    }

    /** Index of the network interface behind an entry; 0 if the kernel does not say. */
    private int interfaceOf(Path port, int index) {
        return line(port.resolve("gid_attrs", "ndevs", Integer.toString(index)))
                .flatMap(name -> line(root.resolve("class/net", name, "ifindex")))
                .map(Integer::parseInt)
                .orElse(0);
    }

    private static Optional<String> line(Path file) {
        try {
            return Optional.of(Files.readString(file).strip());
        } catch (IOException e) {
            LOG.debug("{} cannot be read", file, e);
            return Optional.empty();
        }
    }

    /** Returns whether a kernel module lets NICs take memory of GPUs by address. */
    boolean hasPeerMemory() {
        return PEER_MEMORY_MODULES.stream().anyMatch(module -> Files.exists(root.resolve(module)));
    }
}
