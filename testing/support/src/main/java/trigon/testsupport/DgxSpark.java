package trigon.testsupport;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import trigon.verbs.Gid;
import trigon.verbs.GidEntry;
import trigon.verbs.LinkLayer;
import trigon.verbs.Mtu;
import trigon.verbs.PortAttributes;
import trigon.verbs.PortState;

/**
 * A DGX Spark's view of its ConnectX-7: four functions, two for each port, each with the port's 200 Gbit/s; two PCIe
 * links of Gen5 x4, of which each is shared by a function of either port. From public listings of such machines.
 */
public final class DgxSpark {

    /** The RDMA devices: the twins of port 0, then those of port 1. */
    public static final List<String> DEVICES = List.of("rocep1s0f0", "roceP2p1s0f0", "rocep1s0f1", "roceP2p1s0f1");

    /** A configuration of its interfaces, as {@code ip -br addr} prints it. */
    public enum Setup {
        /** One cable; the twins are in subnets of their own. */
        PAIR_A("ip-pair-a.txt"),
        /** The other end of that. */
        PAIR_B("ip-pair-b.txt"),
        /** One cable; the twins are wrongly in one subnet. */
        PAIR_ONE_SUBNET("ip-pair-one-subnet.txt"),
        /** Two cables, as in a ring of three. */
        RING("ip-ring.txt");

        private final String file;

        Setup(String file) {
            this.file = file;
        }
    }

    /**
     * A network interface, as {@code ip -br addr} prints it.
     *
     * @param addresses as {@code ip} prints them
     */
    public record Interface(String name, int index, boolean up, List<String> addresses) {}

    /** An RDMA device, its port, and the port's GID table. */
    public record Function(String device, PortAttributes port, List<GidEntry> gidTable) {}

    private DgxSpark() {}

    /** Makes its {@code /sys} in that directory. */
    public static void writeSysfs(Path root) throws IOException {
        for (String line : lines("sysfs.txt")) {
            boolean isLink = line.contains(" -> ");
            String[] parts = line.split(isLink ? " -> " : " = ", 2);
            Path path = root.resolve(parts[0]);
            Files.createDirectories(path.resolveSibling(""));
            if (isLink) {
                Files.createSymbolicLink(path, Path.of(parts[1]));
            } else {
                Files.writeString(path, parts[1] + "\n");
            }
        }
    }

    /** The interfaces that {@code ip -br addr} prints in such a setup, in its order; indexes count from 1. */
    public static List<Interface> interfaces(Setup setup) throws IOException {
        List<Interface> interfaces = new ArrayList<>();
        for (String line : lines(setup.file)) {
            List<String> words = List.of(line.split("\\s+"));
            boolean up = !words.get(1).equals("DOWN");
            interfaces.add(new Interface(words.getFirst(), interfaces.size() + 1, up, words.subList(2, words.size())));
        }
        return interfaces;
    }

    /** Its RDMA devices, as {@code ibv_devinfo -v} shows them: a port without a cable is down, and says 40 Gbit/s. */
    public static List<Function> functions(Setup setup) throws IOException {
        List<Function> functions = new ArrayList<>();
        for (Interface each : interfaces(setup)) {
            String device = "roce" + each.name().replaceFirst("^en", "").replaceFirst("np\\d$", "");
            if (DEVICES.contains(device)) {
                functions.add(new Function(device, port(each.up()), gidTable(each)));
            }
        }
        return functions;
    }

    private static PortAttributes port(boolean up) {
        PortState state = up ? PortState.ACTIVE : PortState.DOWN;
        return new PortAttributes(state, Mtu.MTU_4096, 1L << 30, 0, LinkLayer.ETHERNET, up ? 200_000 : 40_000);
    }

    /** The link-local address first, so that the one to use is entry 3. */
    private static List<GidEntry> gidTable(Interface of) throws IOException {
        List<GidEntry> table = new ArrayList<>();
        for (String address : of.addresses().reversed()) {
            Gid gid = Gid.of(InetAddress.getByName(address.replaceFirst("/.*", "")));
            table.add(new GidEntry(table.size(), gid, GidEntry.Type.ROCE_V1, of.index()));
            table.add(new GidEntry(table.size(), gid, GidEntry.Type.ROCE_V2, of.index()));
        }
        return table;
    }

    private static List<String> lines(String file) throws IOException {
        try (InputStream resource = DgxSpark.class.getResourceAsStream("dgx-spark/" + file)) {
            if (resource == null) {
                throw new IOException("no dgx-spark/" + file + " beside " + DgxSpark.class.getName());
            }
            return new String(resource.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.isBlank() && !line.startsWith("#"))
                    .toList();
        }
    }
}
