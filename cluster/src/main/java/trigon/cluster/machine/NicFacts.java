package trigon.cluster.machine;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * A network interface, as described in sysfs (sysfs-class-net).
 *
 * @param name for example {@code enp1s0f0np0}
 * @param index the kernel's number
 * @param state {@code up}, {@code down}, {@code unknown} and so on, from the kernel; unknown for virtual interfaces
 * @param carrier whether the cable has a carrier; empty if the interface is down
 * @param speedMbps the negotiated speed; empty if unknown
 * @param duplex {@code full} or {@code half}; empty if unknown
 * @param mtu in bytes
 * @param mac its hardware address
 * @param driver empty for virtual ones
 * @param pci where it is plugged in; empty for virtual ones
 * @param cable the same text for all functions that lead to the same cable; empty where it is not known
 * @param kind {@code bridge}, {@code tunnel} or {@code usb}; empty for others
 * @param counters of errors, drops and pauses, by the kernel's names
 */
public record NicFacts(
        String name,
        int index,
        String state,
        Optional<Boolean> carrier,
        Optional<Integer> speedMbps,
        Optional<String> duplex,
        int mtu,
        String mac,
        Optional<String> driver,
        Optional<PciSlot> pci,
        Optional<String> cable,
        Optional<String> kind,
        Map<String, Long> counters) {

    /** The kernel's counters of errors. */
    private static final List<String> TROUBLES = List.of(
            "rx_errors", "tx_errors", "rx_dropped", "tx_dropped", "rx_crc_errors", "rx_missed_errors", "collisions");

    /** No hardware, IP in IP, IPv6 in IPv4, GRE, and IPv6's. */
    private static final Set<String> TUNNELS = Set.of("65534", "768", "769", "776", "778", "823");

    private static final Set<String> TUNNEL_DRIVERS =
            Set.of("DEVTYPE=wireguard", "DEVTYPE=vxlan", "DEVTYPE=geneve", "DEVTYPE=gretap");

    private static final Pattern OVERLAYS = Pattern.compile("(tailscale|wg|nebula|wt)[0-9]+|zt[0-9a-z]{8}");

    public NicFacts {
        counters = Collections.unmodifiableMap(new TreeMap<>(counters));
    }

    /** All of them, by index. */
    static List<NicFacts> all(Path sysfs) {
        List<NicFacts> found = new ArrayList<>();
        for (Path each : Machine.entries(sysfs.resolve("class/net"))) {
            if (Machine.number(each.resolve("ifindex")).isPresent()) {
                found.add(of(each));
            }
        }
        found.sort((one, other) -> Integer.compare(one.index(), other.index()));
        return found;
    }

    private static NicFacts of(Path nic) {
        Optional<Long> speed = Machine.number(nic.resolve("speed")).filter(mbps -> mbps > 0 && mbps < 10_000_000);
        Optional<String> port = Machine.line(nic.resolve("phys_port_name"));
        Map<String, Long> counters = new TreeMap<>();
        for (String trouble : TROUBLES) {
            Machine.number(nic.resolve("statistics").resolve(trouble)).ifPresent(count -> counters.put(trouble, count));
        }
        for (Path file : Machine.entries(nic.resolve("statistics"))) { // few drivers have some
            String name = file.getFileName().toString();
            if (RdmaPortFacts.isOfCongestion(name)) {
                Machine.number(file).ifPresent(count -> counters.put(name, count));
            }
        }
        return new NicFacts(
                nic.getFileName().toString(),
                Machine.number(nic.resolve("ifindex")).orElse(0L).intValue(),
                Machine.line(nic.resolve("operstate")).orElse("unknown"),
                Machine.number(nic.resolve("carrier")).map(carrier -> carrier == 1),
                speed.map(Long::intValue),
                Machine.line(nic.resolve("duplex")).filter(text -> !text.equals("unknown")),
                Machine.number(nic.resolve("mtu")).orElse(0L).intValue(),
                Machine.line(nic.resolve("address")).orElse(""),
                Machine.target(nic.resolve("device/driver")),
                PciSlot.of(nic.resolve("device")),
                systemImage(nic).flatMap(image -> port.map(name -> image + " " + name)),
                kind(nic),
                counters);
    }

    private static Optional<String> kind(Path nic) {
        boolean isUsb = Machine.target(nic.resolve("device/subsystem"))
                        .filter("usb"::equals)
                        .isPresent()
                || Machine.text(nic.resolve("uevent"))
                        .filter(text -> text.contains("DEVTYPE=gadget"))
                        .isPresent();
        if (Files.isDirectory(nic.resolve("bridge"))) {
            return Optional.of("bridge");
        }
        return isTunnel(nic) ? Optional.of("tunnel") : isUsb ? Optional.of("usb") : Optional.empty();
    }

    /** By the kernel's type (linux/if_arp.h), by that of its driver, or by the name that an overlay gives. */
    private static boolean isTunnel(Path nic) {
        return Files.exists(nic.resolve("tun_flags"))
                || Machine.line(nic.resolve("type")).filter(TUNNELS::contains).isPresent()
                || Machine.text(nic.resolve("uevent"))
                        .filter(text -> text.lines().anyMatch(TUNNEL_DRIVERS::contains))
                        .isPresent()
                || OVERLAYS.matcher(nic.getFileName().toString()).matches();
    }

    /** Identifies a NIC: the same for all its functions. */
    private static Optional<String> systemImage(Path nic) {
        return Machine.entries(nic.resolve("device/infiniband")).stream()
                .findFirst()
                .flatMap(device -> Machine.line(device.resolve("sys_image_guid")))
                .or(() -> Machine.line(nic.resolve("phys_switch_id")));
    }
}
