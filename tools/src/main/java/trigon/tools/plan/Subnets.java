package trigon.tools.plan;

import java.net.Inet4Address;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import trigon.cluster.diagnosis.FreeAddresses;
import trigon.system.InterfaceAddress;
import trigon.tools.console.CommandFailure;
import trigon.tools.plan.Cabling.Cable;

/**
 * A subnet of its own for each cable. A cable that has one keeps it; if one end has one, the other end joins it.
 *
 * @param byNode the interfaces of each node, with their addresses
 * @param names of the subnets, in the order of the cables
 */
record Subnets(Map<String, List<NicAddress>> byNode, List<String> names) {

    /**
     * An interface and its address.
     *
     * @param replaced addresses that it has now, and must lose; a single address without a subnet stays
     */
    record NicAddress(String nic, String address, List<String> replaced) {}

    /** The addresses of a cable's ends. */
    private record Ends(InterfaceAddress from, InterfaceAddress to) {

        static Ends of(List<InterfaceAddress> both) {
            return new Ends(both.getFirst(), both.getLast());
        }
    }

    private static final int MAX_OF_24 = 250;

    /**
     * In 10.BASE.0.0/16, without subnets that a node has elsewhere.
     *
     * @throws IllegalArgumentException if there is no such base or prefix
     * @throws CommandFailure if there are too many cables for it
     */
    static Subnets of(Cabling cabling, int base, int wanted) {
        int prefix = wanted > 0 ? wanted : cabling.cables().size() <= MAX_OF_24 ? 24 : 31;
        if (base < 0 || base > 255 || (prefix != 24 && prefix != 30 && prefix != 31)) {
            throw new IllegalArgumentException("--base must be 0 to 255, and --prefix 24, 30 or 31");
        }
        Map<String, List<NicAddress>> byNode = new LinkedHashMap<>();
        cabling.nodes().forEach(node -> byNode.put(node, new ArrayList<>()));
        List<String> names = new ArrayList<>();
        FreeAddresses free = new FreeAddresses(cabling.machines().without("", ""));
        Iterator<List<InterfaceAddress>> fresh =
                FreeAddresses.subnets(base, prefix, 2).filter(free::areFree).iterator();
        for (Cable cable : cabling.cables()) {
            Optional<Ends> kept = kept(cabling.machines(), cable);
            Ends ends = kept.or(() -> joined(cabling.machines(), cable, free))
                    .or(() -> fresh.hasNext() ? Optional.of(Ends.of(fresh.next())) : Optional.empty())
                    .orElseThrow(
                            () -> new CommandFailure("%d subnets of /%d do not fit into 10.%d.0.0/16: take --prefix 31"
                                    .formatted(cabling.cables().size(), prefix, base)));
            names.add(ends.from().subnet());
            add(byNode, cabling.machines(), cable.from(), cable.fromNic(), ends.from(), kept.isPresent());
            add(byNode, cabling.machines(), cable.to(), cable.toNic(), ends.to(), kept.isPresent());
        }
        return new Subnets(byNode, names);
    }

    private static void add(
            Map<String, List<NicAddress>> byNode,
            Machines machines,
            String node,
            String nic,
            InterfaceAddress address,
            boolean kept) {
        List<String> replaced = kept
                ? List.of()
                : machines.of(node, nic).stream()
                        .filter(each -> !each.equals(address)
                                && each.prefixLength() < each.address().getAddress().length * Byte.SIZE)
                        .map(InterfaceAddress::toString)
                        .toList();
        byNode.computeIfAbsent(node, _ -> new ArrayList<>()).add(new NicAddress(nic, address.toString(), replaced));
    }

    /** Addresses that the ends have now, in a subnet that no other interface has; empty if there are none. */
    private static Optional<Ends> kept(Machines machines, Cable cable) {
        for (InterfaceAddress from : machines.of(cable.from(), cable.fromNic())) {
            for (InterfaceAddress to : machines.of(cable.to(), cable.toNic())) {
                boolean common = from.prefixLength() == to.prefixLength()
                        && from.contains(to.address())
                        && !from.address().equals(to.address())
                        && from.flaw().isEmpty()
                        && to.flaw().isEmpty();
                if (common
                        && machines.without(cable.from() + ":" + cable.fromNic(), cable.to() + ":" + cable.toNic())
                                .noneMatch(other -> areNear(from, other))) {
                    return Optional.of(new Ends(from, to));
                }
            }
        }
        return Optional.empty();
    }

    /** Gives an end an address beside the other's, whose subnet no other interface has; empty if neither has one. */
    private static Optional<Ends> joined(Machines machines, Cable cable, FreeAddresses free) {
        List<InterfaceAddress> from = machines.of(cable.from(), cable.fromNic());
        List<InterfaceAddress> to = machines.of(cable.to(), cable.toNic());
        return to.isEmpty()
                ? alone(machines, cable, from)
                        .flatMap(right -> free.beside(right).map(next -> new Ends(right, next)))
                : from.isEmpty()
                        ? alone(machines, cable, to)
                                .flatMap(right -> free.beside(right).map(next -> new Ends(next, right)))
                        : Optional.empty();
    }

    private static Optional<InterfaceAddress> alone(Machines machines, Cable cable, List<InterfaceAddress> of) {
        return of.stream()
                .filter(each ->
                        each.address() instanceof Inet4Address && each.flaw().isEmpty())
                .filter(each -> machines.without(cable.from() + ":" + cable.fromNic(), cable.to() + ":" + cable.toNic())
                        .noneMatch(other -> areNear(each, other)))
                .findFirst();
    }

    private static boolean areNear(InterfaceAddress one, InterfaceAddress other) {
        return one.contains(other.address()) || other.contains(one.address());
    }

    /** The interfaces of all nodes that lose addresses, as {@code a eth1 192.168.0.1/24}. */
    List<String> replaced() {
        return byNode.entrySet().stream()
                .flatMap(node -> node.getValue().stream()
                        .filter(nic -> !nic.replaced().isEmpty())
                        .map(nic -> node.getKey() + " " + nic.nic() + " " + String.join(" ", nic.replaced())))
                .toList();
    }
}
