package trigon.routing.discovery;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import trigon.system.file.Folder;

/**
 * Interfaces that lead to containers, virtual machines or controllers of this machine, by what the kernel says that
 * they are (sysfs-class-net of its ABI documentation), whatever they are called.
 *
 * @param networks bridges without a way out, and USB gadgets; their addresses are often the same on every machine
 * @param cables ends of cables to containers: whoever is there has a better address than a link-local one, too
 */
public record InnerInterfaces(Set<String> networks, Set<String> cables) {

    /** No interface is one. */
    static final InnerInterfaces NONE = new InnerInterfaces(Set.of(), Set.of());

    /** USB's classes for networks: of a NIC, or of a computer that plays one. */
    private static final Set<String> USB_CLASSES =
            Set.of("cdc_ether", "cdc_eem", "cdc_ncm", "cdc_subset", "rndis_host");

    private static final Pattern MAC = Pattern.compile("\\p{XDigit}{2}(:\\p{XDigit}{2}){5}");

    /** A bit of IEEE 802: the address was made up, not bought. */
    private static final int LOCALLY_ADMINISTERED = 2;

    public InnerInterfaces {
        networks = Set.copyOf(networks);
        cables = Set.copyOf(cables);
    }

    /**
     * Asks the kernel.
     *
     * @param sysfs where it is mounted
     * @param names of this network namespace's interfaces
     */
    static InnerInterfaces of(Path sysfs, Collection<String> names) {
        Path all = sysfs.resolve("class/net");
        Set<String> networks = names.stream()
                .filter(name -> isBridgeWithoutWayOut(all, name) || isGadget(all.resolve(name)))
                .collect(Collectors.toSet());
        // in a container such an end is the way out itself
        boolean hasNics =
                names.stream().anyMatch(name -> Files.exists(all.resolve(name).resolve("device")));
        Set<String> cables = names.stream()
                .filter(name -> hasNics && isVirtualCable(all.resolve(name)))
                .collect(Collectors.toSet());
        return new InnerInterfaces(networks, cables);
    }

    private static boolean isBridgeWithoutWayOut(Path all, String name) {
        return Files.isDirectory(all.resolve(name).resolve("bridge"))
                && children(all.resolve(name).resolve("brif")).stream()
                        .map(all::resolve)
                        .allMatch(port -> isVirtualEnd(port) || isGadget(port));
    }

    /** One of a pair, a tap, or a dummy; tunnels, bonds and VLANs lead somewhere. */
    private static boolean isVirtualEnd(Path nic) {
        return Files.exists(nic.resolve("ifindex"))
                && !Files.exists(nic.resolve("device"))
                && deviceType(nic).isEmpty()
                && line(nic.resolve("iflink")).filter("0"::equals).isEmpty()
                && children(nic).stream().noneMatch(child -> child.startsWith("lower_"));
    }

    /** One of a pair: the kernel's number of the other end is another one than its own. */
    private static boolean isVirtualCable(Path nic) {
        return isVirtualEnd(nic)
                && !Files.isDirectory(nic.resolve("bridge"))
                && !line(nic.resolve("iflink")).equals(line(nic.resolve("ifindex")));
    }

    /** Either end of USB between two computers: to a management controller, or to whom this one plays a NIC. */
    private static boolean isGadget(Path nic) {
        return deviceType(nic).filter("gadget"::equals).isPresent()
                || (driver(nic).filter(USB_CLASSES::contains).isPresent() && hasMadeUpAddress(nic));
    }

    private static boolean hasMadeUpAddress(Path nic) {
        return line(nic.resolve("address"))
                .filter(address -> MAC.matcher(address).matches())
                .filter(address -> (Integer.parseInt(address.substring(0, 2), 16) & LOCALLY_ADMINISTERED) != 0)
                .isPresent();
    }

    private static Optional<String> driver(Path nic) {
        try {
            return Optional.of(
                    nic.resolve("device/driver").toRealPath().getFileName().toString());
        } catch (IOException _) {
            return Optional.empty(); // virtual
        }
    }

    private static Optional<String> deviceType(Path nic) {
        return text(nic.resolve("uevent"))
                .flatMap(text -> text.lines()
                        .filter(line -> line.startsWith("DEVTYPE="))
                        .map(line -> line.substring("DEVTYPE=".length()).strip())
                        .findFirst());
    }

    private static Optional<String> line(Path file) {
        return text(file).map(String::strip);
    }

    /** None where the interface goes away meanwhile. */
    private static Optional<String> text(Path file) {
        try {
            return Optional.of(Files.readString(file));
        } catch (IOException _) {
            return Optional.empty();
        }
    }

    private static List<String> children(Path folder) {
        try {
            return Folder.entries(folder).stream()
                    .map(child -> child.getFileName().toString())
                    .toList();
        } catch (IOException _) {
            return List.of();
        }
    }
}
