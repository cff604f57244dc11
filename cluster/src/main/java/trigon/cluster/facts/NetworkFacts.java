package trigon.cluster.facts;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import trigon.cluster.machine.FirewallFacts;
import trigon.cluster.machine.Machine;
import trigon.cluster.machine.MachineLinks;
import trigon.cluster.machine.Nic;
import trigon.cluster.machine.NicManager;
import trigon.cluster.machine.Usb4Cable;
import trigon.routing.KernelRouteLookup;
import trigon.routing.LocalLink;
import trigon.routing.RouteLookup;
import trigon.routing.SharedSubnets;

/**
 * Routes, filters and other settings of a node's kernel for the interfaces.
 *
 * @param innerInterfaces those to containers or virtual machines, without a cable
 * @param defaultRoutes interfaces of default routes
 * @param loginAddress to which the user has logged in; empty if it is not known
 * @param reversePathFilter by interface; see the kernel's ip-sysctl
 * @param interfacesWithoutIpv6 that could have link-local addresses, had they not IPv6 switched off
 * @param loopbackName the loopback address that the node's own name has there; empty if it has another one
 * @param managers programs that keep what the interfaces have
 * @param interfacesToNeighbours by which the kernel sends from an address to others in its subnet, by address
 */
public record NetworkFacts(
        List<String> innerInterfaces,
        List<String> defaultRoutes,
        Optional<String> loginAddress,
        Map<String, Long> reversePathFilter,
        List<String> interfacesWithoutIpv6,
        Optional<String> loopbackName,
        Map<String, NicManager> managers,
        Map<String, String> interfacesToNeighbours,
        List<Usb4Cable> usb4Cables,
        Optional<FirewallFacts> firewall) {

    static NetworkFacts of(Machine machine, MachineLinks links) {
        String[] login =
                machine.environment().getOrDefault("SSH_CONNECTION", "").split(" ", -1);
        return new NetworkFacts(
                links.interfaces().inner().networks().stream().sorted().toList(),
                defaultRoutes(machine),
                login.length == 4 ? Optional.of(login[2]) : Optional.empty(), // of ssh(1): the server's, after 2 others
                filters(machine, links.nics()),
                withoutIpv6(machine, links.nics()),
                loopbackName(machine),
                NicManager.of(machine, links.nics()),
                interfacesToNeighbours(links),
                Usb4Cable.all(machine.file("sys")),
                Optional.of(FirewallFacts.of(machine)));
    }

    private static Map<String, String> interfacesToNeighbours(MachineLinks links) {
        RouteLookup kernel = new KernelRouteLookup();
        Map<String, String> found = new TreeMap<>();
        for (LocalLink link : links.discovered().links()) {
            SharedSubnets.interfaceToNeighbours(link.address(), kernel).stream()
                    .boxed()
                    .flatMap(index -> links.interfaces().withIndex(index).stream())
                    .forEach(each -> found.put(link.address().toString(), each.name()));
        }
        return found;
    }

    /**
     * The interfaces of IPv4's default routes, the least metric first (proc_net: route, whose first line has the names
     * of the columns).
     */
    public static List<String> defaultRoutes(Machine machine) {
        return Machine.text(machine.file("proc/self/net/route")).stream()
                .flatMap(String::lines)
                .skip(1)
                .map(line -> line.split("\\s+"))
                .filter(cells -> cells.length > 7 && cells[1].equals("00000000") && cells[7].equals("00000000"))
                .sorted(Comparator.comparingLong(cells -> Long.parseUnsignedLong(cells[6])))
                .map(cells -> cells[0])
                .distinct()
                .toList();
    }

    /** The stricter of an interface's own and the one for all, as the kernel takes it. */
    private static Map<String, Long> filters(Machine machine, List<Nic> nics) {
        long all = Machine.number(machine.file("proc/sys/net/ipv4/conf/all/rp_filter"))
                .orElse(0L);
        Map<String, Long> filters = new TreeMap<>();
        for (Nic nic : nics) {
            Machine.number(machine.file("proc/sys/net/ipv4/conf")
                            .resolve(nic.name())
                            .resolve("rp_filter"))
                    .ifPresent(own -> filters.put(nic.name(), Math.max(all, own)));
        }
        return filters;
    }

    private static List<String> withoutIpv6(Machine machine, List<Nic> nics) {
        return nics.stream()
                .map(Nic::name)
                .filter(name -> Machine.number(machine.file("proc/sys/net/ipv6/conf")
                                .resolve(name)
                                .resolve("disable_ipv6"))
                        .filter(off -> off == 1)
                        .isPresent())
                .toList();
    }

    /**
     * By the file alone (hosts(5)): a name server may take its time. A host without another name than localhost is not
     * meant to be reached by it.
     */
    private static Optional<String> loopbackName(Machine machine) {
        if (machine.hostName().equals("localhost")) {
            return Optional.empty();
        }
        return Machine.text(machine.file("etc/hosts")).stream()
                .flatMap(String::lines)
                .map(line -> List.of(line.replaceFirst("#.*", "").strip().split("\\s+")))
                .filter(words -> words.indexOf(machine.hostName()) > 0)
                .findFirst()
                .map(List::getFirst)
                .filter(address -> address.startsWith("127.") || address.equals("::1"));
    }
}
