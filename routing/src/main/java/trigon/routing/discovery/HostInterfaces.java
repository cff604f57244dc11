package trigon.routing.discovery;

import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.routing.LinkUse;
import trigon.routing.LocalLink;
import trigon.routing.discovery.HostInterface.AddressState;
import trigon.system.InterfaceAddress;
import trigon.system.kernel.InterfaceNames;

/**
 * Snapshot of the machine's network interfaces.
 *
 * @param interfaces by index
 * @param inner those that lead nowhere else
 * @param otherNames alternative names that interfaces have besides, and their names
 */
public record HostInterfaces(List<HostInterface> interfaces, InnerInterfaces inner, Map<String, String> otherNames) {

    private static final Logger log = LoggerFactory.getLogger(HostInterfaces.class);

    public HostInterfaces {
        interfaces = interfaces.stream()
                .sorted(Comparator.comparingInt(HostInterface::index).thenComparing(HostInterface::name))
                .toList();
        otherNames = Map.copyOf(otherNames);
    }

    /** Interfaces, each of which may lead elsewhere. */
    public HostInterfaces(List<HostInterface> interfaces) {
        this(interfaces, InnerInterfaces.NONE, Map.of());
    }

    /** The same machine's, with each interface changed. */
    HostInterfaces map(UnaryOperator<HostInterface> change) {
        return new HostInterfaces(interfaces.stream().map(change).toList(), inner, otherNames);
    }

    /** The longest that the kernel takes to find out whether another machine has an address. */
    private static final Duration EXAMINED = Duration.ofSeconds(3);

    private static final Duration LOOK = Duration.ofMillis(50);

    /** Types of linux/if_arp.h: Ethernet, and IP over InfiniBand. */
    private static final Set<String> CABLES = Set.of("1", "32");

    /**
     * The same as {@link #snapshot}, once the kernel has examined the addresses of interfaces that are up: for seconds
     * after an interface came up, its IPv6 addresses cannot be used. Waits for that, on a thread that may block.
     */
    public static HostInterfaces settled() {
        long start = System.nanoTime();
        try {
            while (isExamining() && System.nanoTime() - start < EXAMINED.toNanos()) {
                Thread.sleep(LOOK);
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt(); // with what there is
        }
        return snapshot();
    }

    private static boolean isExamining() {
        AddressStates states = AddressStates.now();
        try {
            return !states.byInterface().isEmpty()
                    && NetworkInterface.networkInterfaces()
                            .anyMatch(each -> answer(each::isUp) && states.areTentative(each.getIndex()));
        } catch (SocketException _) {
            return false;
        }
    }

    /** The kernel's word of an interface. Containers come and go: one that has just gone answers nothing more. */
    private static boolean answer(Question question) {
        try {
            return question.ask();
        } catch (SocketException _) {
            return false;
        }
    }

    @FunctionalInterface
    private interface Question {
        boolean ask() throws SocketException;
    }

    /** Asks the kernel. None, with a warning, where Java finds none: not even the loopback is up in a new namespace. */
    public static HostInterfaces snapshot() {
        List<HostInterface> interfaces = new ArrayList<>();
        AddressStates states = AddressStates.now();
        try {
            for (NetworkInterface each : NetworkInterface.networkInterfaces().toList()) {
                interfaces.add(snapshot(each, states));
            }
        } catch (SocketException e) {
            log.warn("the network interfaces cannot be listed: {}", e.getMessage());
        }
        Set<String> known = interfaces.stream().map(HostInterface::name).collect(Collectors.toSet());
        names().stream().filter(name -> !known.contains(name)).forEach(name -> interfaces.add(bare(name)));
        return new HostInterfaces(
                interfaces,
                InnerInterfaces.of(
                        Path.of("/sys"),
                        interfaces.stream().map(HostInterface::name).toList()),
                InterfaceNames.alternative());
    }

    /** All that this process's network namespace has; Java leaves out those without an address. */
    private static List<String> names() {
        try {
            return Files.readString(Path.of("/proc/self/net/dev"))
                    .lines()
                    .filter(line -> line.contains(":"))
                    .map(line -> line.substring(0, line.indexOf(':')).strip())
                    .toList();
        } catch (IOException _) {
            return List.of();
        }
    }

    private static HostInterface bare(String name) {
        boolean up = false;
        try {
            up = Files.readString(Path.of("/sys/class/net", name, "operstate"))
                    .strip()
                    .equals("up");
        } catch (IOException _) {
            // as if it were down
        }
        return new HostInterface(name, 0, up, name.equals("lo"), List.of(), speedMbps(name), use(name), Map.of());
    }

    private static HostInterface snapshot(NetworkInterface of, AddressStates all) {
        boolean up = answer(of::isUp);
        boolean cable = isCable(of.getName());
        Map<InterfaceAddress, AddressState> states = up ? all.of(of.getIndex()) : Map.of();
        List<InterfaceAddress> addresses = of.getInterfaceAddresses().stream()
                .map(address -> interfaceAddress(address.getAddress(), address.getNetworkPrefixLength()))
                .filter(address -> states.getOrDefault(address, AddressState.DEPRECATED) == AddressState.DEPRECATED)
                .filter(address -> cable || !address.isLinkLocal())
                .toList();
        return new HostInterface(
                of.getName(),
                of.getIndex(),
                up,
                answer(of::isLoopback),
                addresses,
                speedMbps(of.getName()),
                use(of.getName()),
                states);
    }

    /**
     * Returns whether there may be a machine at the other end: not for a bridge's port, a bond's member, or a tunnel.
     */
    private static boolean isCable(String name) {
        Path of = Path.of("/sys/class/net", name);
        try {
            return !Files.exists(of.resolve("master"))
                    && CABLES.contains(Files.readString(of.resolve("type")).strip());
        } catch (IOException _) {
            return true; // for all that is known
        }
    }

    /** Without a sensible prefix, an address alone in its subnet. */
    private static InterfaceAddress interfaceAddress(InetAddress address, int prefixLength) {
        int bits = address.getAddress().length * Byte.SIZE;
        return new InterfaceAddress(address, prefixLength >= 0 && prefixLength <= bits ? prefixLength : bits);
    }

    private static int speedMbps(String name) {
        return speedMbps(Path.of("/sys/class/net", name));
    }

    /**
     * The kernel's word, of the interface or of its USB4 cable: 0 where it tells nothing, as of virtual interfaces.
     * Without carrier it cannot know yet, and the usual speed is assumed: the cable may come.
     *
     * @param of the interface's directory in /sys
     */
    static int speedMbps(Path of) {
        int speed = 0;
        try {
            speed = Integer.parseInt(Files.readString(of.resolve("speed")).strip());
        } catch (IOException | NumberFormatException _) {
            // unreadable, or -1, for virtual interfaces and without carrier
        }
        if (speed <= 0) {
            speed = Usb4.megabitsPerSecond(of);
        }
        return speed > 0 ? speed : isWithoutCarrier(of) ? LocalLink.ASSUMED_MBPS : 0;
    }

    private static boolean isWithoutCarrier(Path of) {
        try {
            return Files.readString(of.resolve("operstate")).strip().endsWith("down");
        } catch (IOException _) {
            return false;
        }
    }

    private static LinkUse use(String name) {
        return LinkUse.of(Path.of("/sys/class/net", name));
    }

    /** The interface with that index; empty for 0. */
    public Optional<HostInterface> withIndex(int index) {
        return interfaces.stream()
                .filter(each -> index != 0 && each.index() == index)
                .findFirst();
    }

    /** By its name or an alternative one; empty if this machine had no such interface when this was taken. */
    public Optional<HostInterface> withName(String name) {
        String known = nameOf(name);
        return interfaces.stream().filter(each -> each.name().equals(known)).findFirst();
    }

    /** The name of the interface that has this alternative name; any other name unchanged. */
    String nameOf(String name) {
        return otherNames.getOrDefault(name, name);
    }

    /** The alternative names of an interface, sorted. */
    public List<String> otherNamesOf(String name) {
        return otherNames.entrySet().stream()
                .filter(each -> each.getValue().equals(name))
                .map(Map.Entry::getKey)
                .sorted()
                .toList();
    }

    /**
     * The interface that has an address; one that is up goes first. IPv4 loopback addresses need not be configured:
     * Linux takes all of 127.0.0.0/8 for its own, so they belong to the loopback interface.
     */
    public Optional<HostInterface> withAddress(InetAddress address) {
        Optional<HostInterface> owner = interfaces.stream()
                .filter(each -> addressOf(each, address).isPresent())
                .min(Comparator.comparing(HostInterface::up).reversed());
        if (owner.isPresent() || address.getAddress().length != 4 || !address.isLoopbackAddress()) {
            return owner;
        }
        return interfaces.stream().filter(HostInterface::loopback).findFirst();
    }

    /** The address with its prefix, as the interface has it. */
    static Optional<InterfaceAddress> addressOf(HostInterface of, InetAddress address) {
        return of.addresses().stream()
                .filter(each -> each.address().equals(address))
                .findFirst();
    }

    /** For messages. */
    @Override
    public String toString() {
        return interfaces.isEmpty()
                ? "none"
                : interfaces.stream().map(HostInterface::toString).collect(Collectors.joining(", "));
    }
}
