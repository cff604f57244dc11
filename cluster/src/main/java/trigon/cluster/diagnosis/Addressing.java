package trigon.cluster.diagnosis;

import static trigon.cluster.diagnosis.Finding.change;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import trigon.cluster.diagnosis.Cluster.Place;
import trigon.cluster.diagnosis.Finding.Remedy;
import trigon.cluster.facts.NodeFacts;
import trigon.system.InterfaceAddress;

/**
 * Addresses that are free on all nodes, and the commands that give them to interfaces. What it has proposed once is
 * taken from then on. It proposes to take none away that anything may depend on: that of a bridge or of USB, that of
 * the default route, of NCCL's bootstrap or of a login, and one with which the kernel would take others away.
 *
 * <p>Interfaces that are in one subnet, though they are on several wires, or are several functions of a port, get new
 * subnets by lanes: of each node the first one on a wire, and then the second ones.
 */
final class Addressing {

    private static final int MAX_SUBNETS = 256;
    private static final int IPV4_BITS = 32;

    /** Prefix of a new subnet, where the old one had more addresses than a cable or a switch needs. */
    private static final int IPV4_PREFIX = 24;

    private static final int IPV6_PREFIX = 64;

    private final Cluster cluster;
    private final List<InterfaceAddress> taken;

    Addressing(Cluster cluster) {
        this.cluster = cluster;
        taken = cluster.seen().facts().values().stream()
                .flatMap(facts -> facts.interfaces().stream())
                .flatMap(nic -> nic.ownAddresses().stream())
                .collect(Collectors.toCollection(ArrayList::new));
    }

    /** Another address in that subnet, with its prefix: the lowest bits the other way round. */
    Optional<InterfaceAddress> beside(InterfaceAddress address) {
        byte[] bytes = address.address().getAddress();
        Optional<InterfaceAddress> free = IntStream.range(1, MAX_SUBNETS)
                .mapToObj(change -> {
                    byte[] changed = bytes.clone();
                    changed[changed.length - 1] ^= (byte) change;
                    return new InterfaceAddress(address(changed), address.prefixLength());
                })
                .filter(each -> address.contains(each.address())
                        && each.flaw().isEmpty()
                        && taken.stream().noneMatch(other -> other.address().equals(each.address())))
                .findFirst();
        free.ifPresent(taken::add);
        return free;
    }

    /**
     * Addresses in a subnet that no node has anything in: the next one after that address's if it is private, else one
     * of those of {@code trigon plan}.
     *
     * @param count of addresses; the prefix is another one if they do not fit
     */
    List<InterfaceAddress> fresh(InterfaceAddress like, int count) {
        boolean isIpv4 = like.address().getAddress().length == 4;
        int room = isIpv4 && like.prefixLength() < IPV4_BITS ? 1 << (IPV4_BITS - like.prefixLength()) : 0;
        boolean fits = like.prefixLength() == 31 ? count <= 2 : count <= room - 2;
        int prefix = fits ? Math.max(like.prefixLength(), IPV4_PREFIX) : IPV4_PREFIX;
        for (int i = 1; i < MAX_SUBNETS; i++) {
            List<InterfaceAddress> candidates = isIpv4 ? ipv4(like, prefix, i, count) : ipv6(i, count);
            if (candidates.stream().noneMatch(this::isNearAnother)) {
                taken.addAll(candidates);
                return candidates;
            }
        }
        throw new IllegalStateException("no subnet of " + MAX_SUBNETS + " is free");
    }

    private boolean isNearAnother(InterfaceAddress candidate) {
        return taken.stream()
                .anyMatch(other -> candidate.contains(other.address()) || other.contains(candidate.address()));
    }

    private static List<InterfaceAddress> ipv4(InterfaceAddress like, int prefix, int number, int count) {
        byte[] bytes = like.address().getAddress();
        int size = 1 << (IPV4_BITS - prefix);
        long base =
                ((long) (bytes[0] & 0xFF) << 24 | (bytes[1] & 0xFF) << 16 | (bytes[2] & 0xFF) << 8 | (bytes[3] & 0xFF))
                        & -size;
        long next = base + (long) number * size;
        if (!like.address().isSiteLocalAddress() || next >> 16 != base >> 16) {
            next = (10L << 24 | 77 << 16) + (long) number * size; // 10.77.0.0/16, where plan's are
        }
        List<InterfaceAddress> addresses = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            long address = next + i + (size == 2 ? 0 : 1);
            addresses.add(new InterfaceAddress(
                    address(new byte[] {
                        (byte) (address >> 24), (byte) (address >> 16), (byte) (address >> 8), (byte) address
                    }),
                    prefix));
        }
        return addresses;
    }

    /** Takes unique local addresses, RFC 4193. */
    private static List<InterfaceAddress> ipv6(int number, int count) {
        return IntStream.rangeClosed(1, count)
                .mapToObj(host -> InterfaceAddress.parse("fd00:77:0:%x::%x/%d".formatted(number, host, IPV6_PREFIX)))
                .toList();
    }

    private static InetAddress address(byte[] bytes) {
        try {
            return InetAddress.getByAddress(bytes);
        } catch (UnknownHostException e) {
            throw new AssertionError("an address with as many bytes as before", e);
        }
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
