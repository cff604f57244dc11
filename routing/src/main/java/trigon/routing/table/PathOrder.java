package trigon.routing.table;

import java.net.InetAddress;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import trigon.routing.LocalLink;
import trigon.routing.Path;
import trigon.routing.PeerLink;

/**
 * The order in which paths to a peer are tried. What the user has listed keeps its order among paths that are as
 * direct. Without a list, what a path carries counts before how direct it is, and both ends of a cable order it alike.
 */
final class PathOrder {

    private static final Comparator<InetAddress> BY_ADDRESS =
            Comparator.comparing(InetAddress::getAddress, Arrays::compareUnsigned);

    private static final Comparator<Path> MAX_DIRECT =
            Comparator.comparingInt((Path path) -> -path.reason().subnetBits()).thenComparing(Path::kind);

    /** All further criteria only make the order a total one. */
    private static final Comparator<Path> BY_RANK = Comparator.comparingInt(
                    (Path path) -> path.local().rank())
            .thenComparing(path -> !path.reason().isLinkLocal())
            .thenComparing(Path::local, LocalLink.BY_RANK)
            .thenComparing(Path::remote, PeerLink.BY_ADDRESS);

    private static final Comparator<Path> SAME_AT_BOTH_ENDS =
            Comparator.comparing(PathOrder::lower, BY_ADDRESS).thenComparing(PathOrder::higher, BY_ADDRESS);

    private PathOrder() {}

    /**
     * The order.
     *
     * @param paths that are to be ordered
     * @param listed whether the user has listed them
     * @param preferred links that go before others that are as good
     */
    static Comparator<Path> of(List<Path> paths, boolean listed, Set<LocalLink> preferred) {
        Set<String> ambiguous = paths.stream()
                .filter(path -> path.reason().isInPlaceOfSubnet())
                .map(path -> path.local().interfaceName())
                .collect(Collectors.toSet());
        Comparator<Path> preferredFirst = Comparator.comparing(path -> !preferred.contains(path.local()));
        if (listed) {
            return MAX_DIRECT.thenComparing(preferredFirst).thenComparing(BY_RANK);
        }
        return Comparator.comparing(Path::bandwidth)
                .reversed()
                .thenComparing(MAX_DIRECT)
                .thenComparing(preferredFirst)
                .thenComparingInt((Path path) -> doubt(path, ambiguous))
                .thenComparing(SAME_AT_BOTH_ENDS)
                .thenComparing(BY_RANK);
    }

    /** In a subnet of its own, a link leads there; where several share one, only their link-local addresses tell. */
    private static int doubt(Path path, Set<String> ambiguous) {
        if (path.reason().isLinkLocal()) {
            return 1;
        }
        return ambiguous.contains(path.local().interfaceName()) ? 2 : 0;
    }

    private static InetAddress lower(Path path) {
        return BY_ADDRESS.compare(here(path), path.remote().address()) <= 0
                ? here(path)
                : path.remote().address();
    }

    private static InetAddress higher(Path path) {
        return BY_ADDRESS.compare(here(path), path.remote().address()) <= 0
                ? path.remote().address()
                : here(path);
    }

    private static InetAddress here(Path path) {
        return path.local().address().address();
    }
}
