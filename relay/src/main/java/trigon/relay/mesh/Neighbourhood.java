package trigon.relay.mesh;

import java.net.InetAddress;
import java.time.Duration;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.config.cluster.ClusterConfig;
import trigon.config.setting.RelayPolicy;
import trigon.relay.topology.CableCheck;
import trigon.relay.topology.Incompatibility;
import trigon.relay.topology.Node;
import trigon.relay.topology.Nodes;
import trigon.relay.topology.Shape;
import trigon.system.NanoClock;

/**
 * The topology as the log tells it: its shape, once it stays the same for a while; cables that the cluster's file
 * has and that do not work; neighbours that cannot be understood; and who is at an address. Learns on one thread,
 * answers on any.
 */
final class Neighbourhood {

    /** The announcements of some seconds. */
    private static final Duration SETTLED = Duration.ofSeconds(3);

    /** A cable may be slower than the nodes. */
    private static final Duration CHECKED = Duration.ofSeconds(8);

    private static final int MAX_WARNINGS = 64;

    /**
     * Shapes that are told without a key: anybody can make up another one whenever he likes. One that is too large to
     * be listed is the last.
     */
    private static final int MAX_UNPROVEN_SHAPES = 8;

    private static final Logger log = LoggerFactory.getLogger(Mesh.class);

    private final Optional<ClusterConfig> cluster;
    private final Set<String> told = new HashSet<>();
    /** Each is told of once: anybody can send such announcements, from any address. */
    private final Set<Incompatibility> toldOf = EnumSet.noneOf(Incompatibility.class);

    private volatile @Nullable Nodes nodes;
    private final NanoClock clock;
    private long structure = -1;
    private long since;
    private boolean shapeTold;
    private boolean cablesChecked;
    private String toldShape = "";
    private int unprovenShapes;

    Neighbourhood(Optional<ClusterConfig> cluster, NanoClock clock) {
        this.cluster = cluster;
        this.clock = clock;
    }

    /** Takes what is known now. It is looked at once it has been the same for a while, and then once. */
    void learn(Nodes known) {
        nodes = known;
        long now = clock.nanoTime();
        if (known.structure() != structure) {
            structure = known.structure();
            since = now;
            shapeTold = false;
            cablesChecked = false;
            return;
        }
        if (!shapeTold && now - since > SETTLED.toNanos()) {
            shapeTold = true;
            tellShape(known);
        }
        if (now - since > SETTLED.toNanos()) {
            known.complaints().forEach((cause, text) -> {
                if (toldOf.add(cause)) {
                    log.info("no relay is found there: {}", text);
                }
            });
        }
        if (!cablesChecked && now - since > CHECKED.toNanos() && cluster.isPresent()) {
            cablesChecked = true;
            CableCheck.contradictions(cluster.get(), known).stream()
                    .filter(text -> told.size() < MAX_WARNINGS && told.add(text))
                    .forEach(text -> log.warn("{}", text));
        }
    }

    private void tellShape(Nodes known) {
        String seen = Shape.describe(known);
        if (!seen.equals(toldShape) && Shape.of(known) != Shape.SINGLE) {
            toldShape = seen;
            if (known.isComplete()) {
                log.info("topology: {}", seen);
            } else if (unprovenShapes < MAX_UNPROVEN_SHAPES) {
                unprovenShapes = Shape.isListed(known) ? unprovenShapes + 1 : MAX_UNPROVEN_SHAPES;
                log.info("topology: {}", seen);
            }
        }
    }

    /** Returns whether a neighbour has been heard lately on the link of an own address. */
    boolean isHeard(InetAddress own, InetAddress neighbour) {
        Nodes known = nodes;
        return known != null
                && known.own().link(own).filter(link -> link.hears(neighbour)).isPresent();
    }

    /** Why a circuit is not for this relay; empty if it may be. */
    Optional<String> objection(RelayPolicy policy, InetAddress from, InetAddress to) {
        if (policy.onlyFor().isEmpty()) {
            return Optional.empty();
        }
        Nodes known = nodes;
        boolean named = known != null
                && List.of(from, to).stream()
                        .flatMap(address -> known.at(address).stream())
                        .map(Node::name)
                        .anyMatch(policy.onlyFor()::contains);
        return named
                ? Optional.empty()
                : Optional.of("this node relays %s, and neither end is one of them".formatted(policy));
    }
}
