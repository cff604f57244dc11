package trigon.tools.enable;

import java.net.Inet4Address;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import trigon.cluster.facts.NetworkFacts;
import trigon.cluster.machine.Machine;
import trigon.cluster.machine.Nic;
import trigon.routing.discovery.HostInterfaces;

/**
 * The interface for NCCL's bootstrap, on which all nodes must reach each other.
 *
 * @param setting of {@code NCCL_SOCKET_IFNAME}; empty where NCCL's own choice is right, or no other is known
 * @param doubt why no other is known, and what to do; empty if there is no doubt
 */
record Bootstrap(Optional<String> setting, Optional<String> doubt) {

    static final String VARIABLE = "NCCL_SOCKET_IFNAME";

    /** Beginnings of names that NCCL takes last: ncclFindInterfaces in NCCL's src/misc/socket.cc. */
    private static final List<String> LAST = List.of("docker", "lo", "virbr");

    /** Beginning of the names that it takes first. */
    private static final String FIRST = "ib";

    /** The choice on this machine, now. */
    static Bootstrap of(Machine machine) {
        return of(Nic.ofNccl(HostInterfaces.snapshot()), NetworkFacts.defaultRoutes(machine));
    }

    /**
     * The choice among these.
     *
     * @param nics by index, as getifaddrs(3) lists them
     * @param defaultRoutes interfaces of default routes, the preferred one first: a cable to a neighbour has none
     */
    static Bootstrap of(List<Nic> nics, List<String> defaultRoutes) {
        List<Nic> usable = nics.stream()
                .filter(nic -> !nic.isDown() && !nic.addresses().isEmpty())
                .toList();
        Optional<String> shared = defaultRoutes.stream()
                .filter(name -> usable.stream().anyMatch(nic -> nic.name().equals(name)))
                .findFirst();
        List<Nic> candidates = usable.stream()
                .filter(nic -> LAST.stream().noneMatch(nic.name()::startsWith))
                .toList();
        Optional<String> ownChoice =
                first(candidates, nic -> nic.name().startsWith(FIRST)).or(() -> first(candidates, _ -> true));
        if (shared.isPresent()) {
            return new Bootstrap(
                    shared.filter(name -> !ownChoice.equals(shared)).map(name -> "=" + name), Optional.empty());
        }
        return new Bootstrap(
                Optional.empty(), ownChoice.filter(_ -> candidates.size() > 1).map(Bootstrap::doubt));
    }

    private static String doubt(String ownChoice) {
        return ("%s is left to NCCL, which takes %s: no default route says which network all nodes share; if %2$s is a"
                        + " cable, write %1$s==INTERFACE above Trigon's lines")
                .formatted(VARIABLE, ownChoice);
    }

    /** IPv4's addresses come first. */
    private static Optional<String> first(List<Nic> nics, Predicate<Nic> among) {
        Predicate<Nic> hasIpv4 =
                nic -> nic.addresses().stream().anyMatch(each -> each.address() instanceof Inet4Address);
        return nics.stream()
                .filter(among.and(hasIpv4))
                .findFirst()
                .or(() -> nics.stream().filter(among).findFirst())
                .map(Nic::name);
    }
}
