package trigon.cluster.diagnosis;

import static trigon.cluster.diagnosis.Finding.change;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import trigon.cluster.diagnosis.Cluster.Place;
import trigon.cluster.diagnosis.Finding.Remedy;
import trigon.cluster.facts.NodeFacts;
import trigon.system.InterfaceAddress;

/**
 * Free addresses, and the commands that give them to interfaces. It proposes to take none away that anything may depend
 * on: that of a bridge or of USB, that of the default route, of NCCL's bootstrap or of a login, and one with which the
 * kernel would take others away.
 *
 * <p>Interfaces that are in one subnet, though they are on several wires, or are several functions of a port, get new
 * subnets by lanes: of each node the first one on a wire, and then the second ones.
 */
final class Addressing {

    private static final int MAX_SUBNETS = 256;
    private static final int IPV4_BITS = 32;

    /** Prefix of a new subnet, where the old one had more addresses than a cable or a switch needs. */
    private static final int IPV4_PREFIX = 24;

    /** Prefix of where its next ones are looked for. */
    private static final int IPV4_BLOCK = 16;

    private final Cluster cluster;
    private final FreeAddresses free;

    Addressing(Cluster cluster) {
        this.cluster = cluster;
        free = new FreeAddresses(cluster.seen().facts().values().stream()
                .flatMap(facts -> facts.interfaces().stream())
                .flatMap(nic -> nic.ownAddresses().stream()));
    }

    /** Another address in that subnet, with its prefix. */
    Optional<InterfaceAddress> beside(InterfaceAddress address) {
        return free.beside(address);
    }

    /**
     * Addresses in a subnet that no node has anything in: the next one after that address's if it is private, else one
     * of those of {@code trigon plan}.
     *
     * @param count of addresses; the prefix is another one if they do not fit
     */
    List<InterfaceAddress> fresh(InterfaceAddress like, int count) {
        return free.fresh(like.address() instanceof Inet4Address ? ipv4(like, count) : ipv6(count))
                .orElseThrow(() -> new IllegalStateException("no subnet is free"));
    }

    private static Stream<List<InterfaceAddress>> ipv4(InterfaceAddress like, int count) {
        int room = like.prefixLength() < IPV4_BITS ? 1 << (IPV4_BITS - like.prefixLength()) : 0;
        boolean fits = like.prefixLength() == 31 ? count <= 2 : count <= room - 2;
        int prefix = fits ? Math.max(like.prefixLength(), IPV4_PREFIX) : IPV4_PREFIX;
        InetAddress own = InterfaceAddress.parse(new InterfaceAddress(like.address(), prefix).subnet())
                .address();
        return Stream.concat(
                like.address().isSiteLocalAddress()
                        ? FreeAddresses.subnets(new InterfaceAddress(own, IPV4_BLOCK), prefix, count)
                        : Stream.of(),
                FreeAddresses.subnets(FreeAddresses.USUAL_BASE, prefix, count));
    }

    /** Takes unique local addresses, RFC 4193. */
    private static Stream<List<InterfaceAddress>> ipv6(int count) {
        return IntStream.range(1, MAX_SUBNETS)
                .mapToObj(number ->
                        FreeAddresses.hosts(InterfaceAddress.parse("fd00:77:0:%x::/64".formatted(number)), count));
    }

    static Remedy add(String node, String nic, InterfaceAddress address) {
        return change(node, "ip addr add " + address + " dev " + nic);
    }

    /** One for another. In the same subnet the new one would go with the old one, if it were there first. */
    static Remedy replace(Place place, InterfaceAddress by) {
        String dev = " dev " + place.name();
        String add = "ip addr add " + by + dev;
        String delete = "ip addr del " + place.address() + dev;
        boolean oneSubnet = by.prefixLength() == place.address().prefixLength()
                && by.contains(place.address().address());
        return change(place.node(), oneSubnet ? delete + " && " + add : add + " && " + delete);
    }

    /** Tells whether nothing is known that may depend on this address. */
    boolean mayGo(Place place) {
        NodeFacts facts = cluster.seen().node(place.node());
        String bootstrap = facts.nccl().environment().getOrDefault("NCCL_SOCKET_IFNAME", "");
        boolean isOfBootstrap = !bootstrap.isEmpty()
                && !bootstrap.startsWith("^")
                && NcclChecks.bootstrapInterfaces(facts.interfaces(), bootstrap).stream()
                        .anyMatch(nic -> nic.name().equals(place.name()));
        return !place.isFixed()
                && !isOfBootstrap
                && !facts.networks().defaultRoutes().contains(place.name())
                && !facts.networks().loginAddress().equals(Optional.of(place.host()))
                && place.nic().ownAddresses().stream()
                        .noneMatch(other -> !other.equals(place.address())
                                && place.address().contains(other.address()));
    }

    /** Tells whether an interface of the node may have an address of that subnet: no other one of the node has. */
    boolean mayHave(String node, String nic, InterfaceAddress of) {
        return cluster.seen().node(node).interfaces().stream()
                .filter(other -> !other.name().equals(nic))
                .flatMap(other -> other.ownAddresses().stream())
                .noneMatch(other -> other.contains(of.address()) || of.contains(other.address()));
    }

    /**
     * Commands after which one lane is in the subnet that all are in now, and each other one has its own.
     *
     * @return nothing if it is not known who is on a wire with whom, or an address would go that may be needed
     */
    Optional<List<Remedy>> allButOneLane(List<Place> places) {
        Optional<List<List<Place>>> all = lanes(places);
        if (all.isEmpty()) {
            return Optional.empty();
        }
        List<List<Place>> needed = all.get().stream()
                .filter(lane -> !lane.stream().allMatch(this::mayGo))
                .toList();
        if (needed.size() > 1) {
            return Optional.empty();
        }
        List<Place> kept = needed.stream()
                .findFirst()
                .orElseGet(() -> all.get().stream()
                        .max(Comparator.comparingInt(List::size)) // the first of the largest
                        .orElse(List.of()));
        return moved(all.get().stream().filter(lane -> !lane.equals(kept)).toList());
    }

    /** Commands after which no lane is in the subnet that all are in now. */
    Optional<List<Remedy>> allLanes(List<Place> places) {
        return lanes(places)
                .filter(all -> all.stream().flatMap(List::stream).allMatch(this::mayGo))
                .flatMap(this::moved);
    }

    private Optional<List<Remedy>> moved(List<List<Place>> lanes) {
        List<Remedy> remedies = new ArrayList<>();
        for (List<Place> lane : lanes) {
            if (lane.size() > 1) {
                List<InterfaceAddress> fresh = fresh(lane.getFirst().address(), lane.size());
                for (int i = 0; i < lane.size(); i++) {
                    remedies.add(replace(lane.get(i), fresh.get(i)));
                }
                continue;
            }
            Place alone = lane.getFirst();
            Optional<Remedy> toPeer = cluster.places().stream()
                    .filter(peer -> cluster.heardBy(alone.end()).contains(peer.end())
                            && !peer.overlaps(alone)
                            && mayHave(alone.node(), alone.name(), peer.address()))
                    .findFirst()
                    .flatMap(peer -> beside(peer.address()))
                    .map(address -> replace(alone, address));
            if (toPeer.isEmpty()) {
                return Optional.empty(); // nobody would be there
            }
            remedies.add(toPeer.get());
        }
        return Optional.of(remedies);
    }

    /** By wire, and then by the order of addresses on each node. */
    private Optional<List<List<Place>>> lanes(List<Place> places) {
        boolean isHeard =
                places.stream().allMatch(place -> cluster.wireOf(place.end()).isPresent());
        if (!isHeard && !areTwins(places)) {
            return Optional.empty();
        }
        Map<String, Map<String, Map<String, Place>>> wires = new TreeMap<>();
        places.stream()
                .sorted(Comparator.comparing(Place::address))
                .forEach(place -> wires
                        // where each node has functions of one port alone in the subnet, the subnet is the wire
                        .computeIfAbsent(
                                isHeard ? cluster.wireOf(place.end()).orElseThrow() : "", _ -> new LinkedHashMap<>())
                        .computeIfAbsent(place.node(), _ -> new LinkedHashMap<>())
                        .putIfAbsent(place.name(), place));
        List<List<Place>> lanes = new ArrayList<>();
        for (Map<String, Map<String, Place>> wire : wires.values()) {
            int most = wire.values().stream().mapToInt(Map::size).max().orElse(0);
            for (int i = 0; i < most; i++) {
                int number = i;
                lanes.add(wire.values().stream()
                        .flatMap(nics -> nics.values().stream().skip(number).limit(1))
                        .toList());
            }
        }
        return Optional.of(lanes);
    }

    private static boolean areTwins(List<Place> places) {
        return places.stream()
                .allMatch(one -> places.stream()
                        .filter(other ->
                                other.node().equals(one.node()) && !other.end().equals(one.end()))
                        .allMatch(other -> one.nic().sharesCable(other.nic())));
    }
}
