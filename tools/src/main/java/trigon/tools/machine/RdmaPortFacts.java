package trigon.tools.machine;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * An RDMA port as sysfs has it (sysfs-class-infiniband), so that it is known without a library.
 *
 * @param device for example {@code mlx5_0}
 * @param port from 1
 * @param state for example {@code ACTIVE}
 * @param rate as the kernel writes it, for example {@code 100 Gb/sec (4X EDR)}
 * @param linkLayer {@code Ethernet} or {@code InfiniBand}
 * @param gids entries of the GID table that are filled
 * @param interfaces network interfaces of the port
 */
public record RdmaPortFacts(
        String device,
        int port,
        String state,
        String rate,
        String linkLayer,
        List<GidFacts> gids,
        List<String> interfaces) {

    /**
     * An entry of the GID table.
     *
     * @param type for example {@code RoCE v2}
     * @param interfaceName behind it; empty if the kernel does not say
     */
    public record GidFacts(int index, String gid, String type, Optional<String> interfaceName) {}

    private static final int MOST_GIDS = 256;

    public RdmaPortFacts {
        gids = List.copyOf(gids);
        interfaces = List.copyOf(interfaces);
    }

    /** All ports of all devices. */
    static List<RdmaPortFacts> all(Path sysfs) {
        List<RdmaPortFacts> found = new ArrayList<>();
        for (Path device : Machine.entries(sysfs.resolve("class/infiniband"))) {
            for (Path port : Machine.entries(device.resolve("ports"))) {
                found.add(of(device, port));
            }
        }
        return found;
    }

    private static RdmaPortFacts of(Path device, Path port) {
        List<GidFacts> gids = new ArrayList<>();
        List<String> interfaces = new ArrayList<>();
        for (int i = 0; i < MOST_GIDS; i++) {
            String index = Integer.toString(i);
            Optional<String> gid = Machine.line(port.resolve("gids").resolve(index));
            if (gid.isEmpty()) {
                break;
            }
            Optional<String> behind =
                    Machine.line(port.resolve("gid_attrs/ndevs").resolve(index));
            if (!gid.get().matches("[0:]*") && !gid.get().matches("fe80:[0:]*")) {
                gids.add(new GidFacts(
                        i,
                        gid.get(),
                        Machine.line(port.resolve("gid_attrs/types").resolve(index))
                                .orElse("unknown"),
                        behind));
            }
            behind.filter(name -> !interfaces.contains(name)).ifPresent(interfaces::add);
        }
        if (interfaces.isEmpty()) {
            Machine.entries(device.resolve("device/net"))
                    .forEach(each -> interfaces.add(each.getFileName().toString()));
            Machine.line(device.resolve("parent")).ifPresent(interfaces::add); // SoftRoCE's
        }
        return new RdmaPortFacts(
                device.getFileName().toString(),
                portNumber(port.getFileName().toString()),
                Machine.line(port.resolve("state"))
                        .map(text -> text.replaceFirst("^\\d+: ", ""))
                        .orElse("unknown"),
                Machine.line(port.resolve("rate")).orElse("unknown"),
                Machine.line(port.resolve("link_layer")).orElse("unknown"),
                gids,
                interfaces);
    }

    private static int portNumber(String name) {
        return name.matches("\\d{1,3}") ? Integer.parseInt(name) : 1;
    }

    /** The device, and the port's number unless it is the first. */
    public String label() {
        return port == 1 ? device : device + ":" + port;
    }
}
