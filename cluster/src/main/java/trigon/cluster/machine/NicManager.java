package trigon.cluster.machine;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Programs that keep an interface's addresses after a restart, by the files that they leave for others. */
public enum NicManager {
    NETWORK_MANAGER,
    NETWORKD,
    /** Writes the files of one of the two before it. */
    NETPLAN,
    IFUPDOWN,
    WICKED,
    CONNMAN,
    /** Means that the kernel alone knows what the interface has. */
    NOBODY;

    private static final Pattern NETWORK_FILE = Pattern.compile("(?m)^NETWORK_FILE=(/\\S+)$");

    /** The program in charge of each of these interfaces. */
    public static Map<String, NicManager> of(Machine machine, List<Nic> nics) {
        Map<String, NicManager> found = new TreeMap<>();
        Optional<NicManager> ofAll = isActive(machine, "wickedd")
                ? Optional.of(WICKED)
                : isActive(machine, "connman") ? Optional.of(CONNMAN) : Optional.empty();
        String ifupdown = interfacesFiles(machine);
        for (Nic nic : nics) {
            found.put(nic.name(), ofAll.orElseGet(() -> of(machine, nic.name(), ifupdown)));
        }
        return found;
    }

    private static boolean isActive(Machine machine, String service) {
        return Files.isDirectory(machine.file("sys/fs/cgroup/system.slice/" + service + ".service"));
    }

    private static NicManager of(Machine machine, String nic, String ifupdown) {
        Optional<Long> index =
                Machine.number(machine.file("sys/class/net").resolve(nic).resolve("ifindex"));
        boolean isOfNetworkManager = text(machine, "run/NetworkManager/devices", index)
                .filter(text -> text.lines().anyMatch("managed=true"::equals))
                .isPresent();
        if (isOfNetworkManager) {
            Path profile = machine.file("run/NetworkManager/system-connections/netplan-" + nic + ".nmconnection");
            return Files.exists(profile) ? NETPLAN : NETWORK_MANAGER;
        }
        Optional<String> networkFile = text(machine, "run/systemd/netif/links", index)
                .flatMap(text -> NETWORK_FILE.matcher(text).results().findFirst())
                .map(found -> found.group(1));
        if (networkFile.isPresent()) {
            return networkFile.get().contains("/10-netplan-") ? NETPLAN : NETWORKD;
        }
        String name = Pattern.quote(nic);
        return Pattern.compile("(?m)^\\s*iface\\s+" + name + "\\s|^" + name + "=")
                        .matcher(ifupdown)
                        .find()
                ? IFUPDOWN
                : NOBODY;
    }

    private static Optional<String> text(Machine machine, String folder, Optional<Long> index) {
        return index.flatMap(number -> Machine.text(machine.file(folder).resolve(Long.toString(number))));
    }

    /** What interfaces(5) has, and what ifup(8) has brought up. */
    private static String interfacesFiles(Machine machine) {
        StringBuilder all = new StringBuilder();
        Stream.concat(
                        Stream.of(machine.file("etc/network/interfaces"), machine.file("run/network/ifstate")),
                        Machine.entries(machine.file("etc/network/interfaces.d")).stream())
                .flatMap(file -> Machine.text(file).stream())
                .forEach(text -> all.append(text).append('\n'));
        return all.toString();
    }
}
