package trigon.routing.table;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import trigon.routing.Bandwidth;
import trigon.routing.LocalLink;
import trigon.routing.Path;

/** Chooses, of the candidate paths to one peer, those that can be used at the same time. */
public final class DisjointPaths {

    private DisjointPaths() {}

    /**
     * The first candidate, and those that lead to the peer as directly: of the same kind, in a subnet with as long a
     * prefix. No two have an interface here or an address there in common, so each is a cable of its own; where the
     * links of both ends are all in one subnet, they are paired in their order. Along the kernel's routes there is one
     * path, as they may all lead over the same cable.
     *
     * @param candidates in the order in which they would be tried, of {@link RoutingTable#pathsTo}; at least one
     * @param most how many there may be, 1 or more
     * @return in the order of the candidates
     */
    public static List<Path> among(List<Path> candidates, int most) {
        Path first = candidates.getFirst();
        List<Path> chosen = new ArrayList<>(List.of(first));
        Set<String> here = new HashSet<>(Set.of(end(first.local())));
        Set<InetAddress> there = new HashSet<>(Set.of(first.remote().address()));
        for (Path path : candidates) {
            boolean free = !here.contains(end(path.local()))
                    && !there.contains(path.remote().address());
            if (chosen.size() < most && free && isAsDirectAs(first, path)) {
                chosen.add(path);
                here.add(end(path.local()));
                there.add(path.remote().address());
            }
        }
        return List.copyOf(chosen);
    }

    /**
     * The same for connection number {@code turn} to a peer: where there are more than it takes, those that are as fast
     * as the first go round, so that a peer's connections share equal cables equally.
     *
     * @param turn 0 or more
     */
    public static List<Path> inTurn(List<Path> candidates, int most, int turn) {
        List<Path> all = among(candidates, Integer.MAX_VALUE);
        if (all.size() <= most) {
            return all;
        }
        Bandwidth best = all.getFirst().bandwidth();
        List<Path> order = new ArrayList<>(
                all.stream().filter(path -> path.bandwidth().equals(best)).toList());
        Collections.rotate(order, -(turn % order.size()));
        all.stream().filter(path -> !path.bandwidth().equals(best)).forEach(order::add);
        return List.copyOf(order.subList(0, most));
    }

    /** The ends that two paths must not share: the interface. The loopback's addresses are links of their own. */
    private static String end(LocalLink link) {
        InetAddress address = link.address().address();
        return address.isLoopbackAddress() ? address.getHostAddress() : link.interfaceName();
    }

    private static boolean isAsDirectAs(Path first, Path other) {
        int bits = first.reason().subnetBits();
        boolean apart = bits >= 0 || first.reason().isLinkLocal();
        return other.kind() == first.kind()
                && apart
                && other.reason().subnetBits() == bits
                && other.reason().isLinkLocal() == first.reason().isLinkLocal();
    }
}
