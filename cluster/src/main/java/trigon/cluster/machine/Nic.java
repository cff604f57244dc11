package trigon.cluster.machine;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import trigon.routing.discovery.HostInterface;
import trigon.routing.discovery.HostInterfaces;
import trigon.routing.discovery.Usb4;
import trigon.system.InterfaceAddress;

/**
 * A network interface, as described in sysfs (sysfs-class-net), with its addresses.
 *
 * @param name for example {@code enp1s0f0np0}
 * @param state {@code up}, {@code down}, {@code unknown} and so on, from the kernel; unknown for virtual interfaces
 * @param carrier true if the cable has a carrier; empty if the interface is down
 * @param speedMbps the negotiated speed; 0 if unknown
 * @param duplex {@code full} or {@code half}; empty if unknown
 * @param mtu in bytes
 * @param mac its hardware address
 * @param otherNames alternative names, which ip accepts and NCCL does not know
 * @param addresses those that are used
 * @param addressStates of IPv6 addresses that are failed, tentative or deprecated
 * @param driver empty for virtual ones
 * @param pci its place on PCI; empty for virtual ones
 * @param cable the same text for all functions that lead to the same cable; empty where it is not known
 * @param kind {@code bridge}, {@code tunnel}, or {@code usb}, as to a management controller; empty for others
 * @param counters of errors, drops and pauses, by the kernel's names
 */
public record Nic(
        String name,
        String state,
        Optional<Boolean> carrier,
        @JsonInclude(Include.NON_DEFAULT) int speedMbps,
        @JsonInclude(Include.NON_EMPTY) String duplex,
        int mtu,
        String mac,
        List<String> otherNames,
        List<InterfaceAddress> addresses,
        Map<String, String> addressStates,
        @JsonInclude(Include.NON_EMPTY) String driver,
        Optional<Pci> pci,
        Optional<String> cable,
        @JsonInclude(Include.NON_EMPTY) String kind,
        Map<String, Long> counters) {

    /**
     * The place of a PCI function, in the terms of the kernel's sysfs-bus-pci.
     *
     * @param function its address, for example {@code 0000:01:00.0}
     * @param bridge of the PCIe link that it shares with its siblings
     * @param negotiated for example {@code 32 GT/s x4}; empty if unknown
     * @param possible the same of what the card can do
     * @param reduced true if it has less than the card can do; empty if a node does not say
     */
    public record Pci(String function, String bridge, String negotiated, String possible, Optional<Boolean> reduced) {

        /** Reads that of a device in sysfs; empty if it is none of PCI. */
        static Optional<Pci> of(Path device) {
            try {
                Path function = device.toRealPath();
                if (!function.resolve("subsystem").toRealPath().endsWith("pci")) {
                    return Optional.empty();
                }
                Path above = function.getParent();
                Optional<String> speed = known(function.resolve("current_link_speed"));
                Optional<String> width = known(function.resolve("current_link_width"));
                Optional<String> maxSpeed = known(function.resolve("max_link_speed"));
                Optional<String> maxWidth = known(function.resolve("max_link_width"));
                return Optional.of(new Pci(
                        function.getFileName().toString(),
                        above == null ? "" : above.getFileName().toString(),
                        text(speed, width),
                        text(maxSpeed, maxWidth),
                        Optional.of(isLess(speed, maxSpeed) || isLess(width, maxWidth))));
            } catch (IOException _) {
                return Optional.empty();
            }
        }

        /** Tells whether it has less than the card can do; where that is not said, whether it has something else. */
        public boolean isReduced() {
            return !possible.isEmpty() && !negotiated.equals(possible) && reduced.orElse(true);
        }

        private static Optional<String> known(Path file) {
            return Machine.line(file)
                    .filter(text -> !text.contains("Unknown") && !text.equals("0") && !text.equals("255"));
        }

        private static boolean isLess(Optional<String> actual, Optional<String> most) {
            return actual.isPresent() && most.isPresent() && number(actual.get()) < number(most.get());
        }

        private static double number(String text) {
            try {
                return Double.parseDouble(text.split(" ", 2)[0]);
            } catch (NumberFormatException _) {
                return Double.NaN;
            }
        }

        private static String text(Optional<String> speed, Optional<String> width) {
            return speed.map(each -> each.replace(".0 ", " ").replace(" PCIe", "") + " ")
                            .orElse("")
                    + width.map(lanes -> "x" + lanes).orElse("");
        }
    }

    /** One that nothing is known of. */
    public static final Nic NONE = named("");

    /** The kernel's counters of errors. */
    private static final List<String> TROUBLES = List.of(
            "rx_errors", "tx_errors", "rx_dropped", "tx_dropped", "rx_crc_errors", "rx_missed_errors", "collisions");

    /** No hardware, IP in IP, IPv6 in IPv4, GRE, and IPv6's. */
    private static final Set<String> TUNNELS = Set.of("65534", "768", "769", "776", "778", "823");

    private static final Set<String> TUNNEL_DRIVERS =
            Set.of("DEVTYPE=wireguard", "DEVTYPE=vxlan", "DEVTYPE=geneve", "DEVTYPE=gretap");

    private static final Pattern OVERLAYS = Pattern.compile("(tailscale|wg|nebula|wt)[0-9]+|zt[0-9a-z]{8}");

    public Nic {
        otherNames = List.copyOf(otherNames);
        addresses = List.copyOf(addresses);
        addressStates = Collections.unmodifiableMap(new TreeMap<>(addressStates));
        counters = Collections.unmodifiableMap(new TreeMap<>(counters));
    }

    /** One of which nothing but its name is known. */
    public static Nic named(String name) {
        return bare(name, "", List.of(), List.of());
    }

    /** All of those that NCCL may be told to use, with what getifaddrs(3) knows of them. */
    public static List<Nic> ofNccl(HostInterfaces all) {
        return all.interfaces().stream()
                .map(each ->
                        bare(each.name(), each.up() ? "up" : "down", all.otherNamesOf(each.name()), each.addresses()))
                .toList();
    }

    private static Nic bare(String name, String state, List<String> otherNames, List<InterfaceAddress> addresses) {
        return new Nic(
                name,
                state,
                Optional.empty(),
                0,
                "",
                0,
                "",
                otherNames,
                addresses,
                Map.of(),
                "",
                Optional.empty(),
                Optional.empty(),
                "",
                Map.of());
    }

    /** All of them, by index. */
    static List<Nic> all(Path sysfs, HostInterfaces interfaces) {
        return Machine.entries(sysfs.resolve("class/net")).stream()
                .filter(nic -> Machine.number(nic.resolve("ifindex")).isPresent())
                .sorted(Comparator.comparing(
                        nic -> Machine.number(nic.resolve("ifindex")).orElse(0L)))
                .map(nic -> of(nic, interfaces))
                .toList();
    }

    private static Nic of(Path nic, HostInterfaces interfaces) {
        String name = nic.getFileName().toString();
        Optional<HostInterface> known = interfaces.withName(name);
        Map<String, String> states = new TreeMap<>();
        known.map(HostInterface::states)
                .orElse(Map.of())
                .forEach((address, state) -> states.put(address.toString(), state.word()));
        long speed = Machine.number(nic.resolve("speed"))
                .filter(mbps -> mbps > 0 && mbps < 10_000_000)
                .orElseGet(() -> (long) Usb4.megabitsPerSecond(nic));
        Optional<String> port = Machine.line(nic.resolve("phys_port_name"));
        return new Nic(
                name,
                Machine.line(nic.resolve("operstate")).orElse("unknown"),
                Machine.number(nic.resolve("carrier")).map(carrier -> carrier == 1),
                (int) speed,
                Machine.line(nic.resolve("duplex"))
                        .filter(text -> !text.equals("unknown"))
                        .orElse(""),
                Machine.number(nic.resolve("mtu")).orElse(0L).intValue(),
                Machine.line(nic.resolve("address")).orElse(""),
                interfaces.otherNamesOf(name),
                known.map(HostInterface::addresses).orElse(List.of()),
                states,
                Machine.target(nic.resolve("device/driver")).orElse(""),
                Pci.of(nic.resolve("device")),
                systemImage(nic).flatMap(image -> port.map(each -> image + " " + each)),
                kindOf(nic),
                counters(nic));
    }

    private static Map<String, Long> counters(Path nic) {
        Map<String, Long> counters = new TreeMap<>();
        for (String trouble : TROUBLES) {
            Machine.number(nic.resolve("statistics").resolve(trouble)).ifPresent(count -> counters.put(trouble, count));
        }
        for (Path file : Machine.entries(nic.resolve("statistics"))) { // few drivers have some
            String counter = file.getFileName().toString();
            if (RdmaPort.isOfCongestion(counter)) {
                Machine.number(file).ifPresent(count -> counters.put(counter, count));
            }
        }
        return counters;
    }

    private static String kindOf(Path nic) {
        boolean isUsb = Machine.target(nic.resolve("device/subsystem"))
                        .filter("usb"::equals)
                        .isPresent()
                || Machine.text(nic.resolve("uevent"))
                        .filter(text -> text.contains("DEVTYPE=gadget"))
                        .isPresent();
        if (Files.isDirectory(nic.resolve("bridge"))) {
            return "bridge";
        }
        return isTunnel(nic) ? "tunnel" : isUsb ? "usb" : "";
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

    /** True if something is known to be at the other end of its cable. */
    public boolean hasCarrier() {
        return carrier.orElse(false);
    }

    /** Tells whether nothing is known to be there. */
    public boolean lacksCarrier() {
        return !carrier.orElse(true);
    }

    /** Tells whether somebody or something has set it down, so that its cable tells nothing. */
    public boolean isDown() {
        return state.equals("down");
    }

    /** Those that somebody, or something, has given it, but for the loopback's. */
    public List<InterfaceAddress> ownAddresses() {
        return addresses.stream()
                .filter(each -> !each.isLinkLocal() && !each.address().isLoopbackAddress())
                .toList();
    }

    /** Its IPv6 addresses that are failed, tentative or deprecated. */
    public List<String> addressesIn(String wanted) {
        return addressStates.keySet().stream()
                .filter(address -> wanted.equals(addressStates.get(address)))
                .toList();
    }

    /** True if there is no NIC behind it. */
    public boolean isVirtual() {
        return driver.isEmpty();
    }

    /** Tells whether packets go through a program or another interface of this machine, as those of an overlay do. */
    public boolean isTunnel() {
        return kind.equals("tunnel");
    }

    /** Tells whether both are functions of one port, by the kernel's word; names of interfaces say nothing. */
    public boolean sharesCable(Nic other) {
        return cable.isPresent() && cable.equals(other.cable);
    }
}
