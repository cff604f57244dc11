package trigon.transport.connect;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import trigon.routing.LocalLink;
import trigon.routing.Path;
import trigon.routing.PeerDescription;
import trigon.routing.PeerLink;
import trigon.routing.Reason;
import trigon.routing.Relays;
import trigon.routing.table.NoPathException;
import trigon.routing.table.RoutingTable;
import trigon.system.NanoClock;
import trigon.system.RareMessage;
import trigon.verbs.LinkKind;

/** The paths to try: those over a link of both ends; those through relays where there is none, or none is left. */
public final class CandidatePaths {

    private static final Logger log = LoggerFactory.getLogger(CandidatePaths.class);
    private static final Duration LOOK = Duration.ofMillis(50);

    /**
     * So long a way through relays that may carry more is waited for, from the first question for a peer on: all nodes
     * have announced themselves some times by then.
     */
    private static final Duration FASTER = Duration.ofSeconds(2);

    /** Age of what was found for other connections to a peer: when a cable goes, hundreds of them ask. */
    private static final Duration FRESH = Duration.ofMillis(50);

    /** Bound on peers for which it is kept. */
    private static final int MAX_RECENT = 256;

    private record Question(PeerDescription peer, Set<LocalLink> preferred) {}

    private record Direct(List<Path> paths, long at) {}

    private volatile RoutingTable routing;
    private final Relays relays;
    private final Predicate<LocalLink> isUp;
    private final Duration timeout;
    private final NanoClock clock;
    private final RareMessage gateways;
    private final ConcurrentMap<PeerDescription, Long> firstAsked = new ConcurrentHashMap<>();
    private final ConcurrentMap<Question, Direct> recent = new ConcurrentHashMap<>();

    /**
     * Over this node's links, and through relays.
     *
     * @param isUp whether one of the routing table's links is up now
     * @param timeout how long a link that is down is waited for
     */
    public CandidatePaths(
            RoutingTable routing, Relays relays, Predicate<LocalLink> isUp, Duration timeout, NanoClock clock) {
        this.routing = routing;
        this.relays = relays;
        this.isUp = isUp;
        this.timeout = timeout;
        this.clock = clock;
        gateways = new RareMessage(log, Level.WARN, clock);
    }

    /** From now on the paths are those of another table, which has more links. */
    public void use(RoutingTable table) {
        routing = table;
        recent.clear();
    }

    /**
     * The paths, in the order in which they should be tried: those over a link of both ends, after such through relays
     * that carry more. Waits for a way through relays, or a link that is down, where nothing else leads there, since
     * the others may have started later, and for a moment where only slow paths do; on a control thread.
     *
     * @param name of the peer
     * @param preferred links that go before others that lead there as directly
     * @param tie decides between relays of equal rank
     * @param abandoned whether nobody waits for the connection any more
     * @param introduce makes this process known to the peer between two addresses, while relays are waited for
     * @throws NoPathException if there is none: with both ends' links, and what would help
     */
    List<Path> find(
            String name,
            PeerDescription peer,
            Set<LocalLink> preferred,
            long tie,
            BooleanSupplier abandoned,
            BiConsumer<InetAddress, InetSocketAddress> introduce) {
        long start = clock.nanoTime();
        while (true) {
            try {
                List<Path> direct = routing.pathsTo(peer, preferred);
                Path best = best(direct);
                List<Path> faster = faster(name, peer, best, tie);
                if (!faster.isEmpty() || abandoned.getAsBoolean() || !mayBecomeFaster(peer, best)) {
                    return Stream.concat(faster.stream(), direct.stream()).toList();
                }
                PeerLink remote = best.remote();
                introduce.accept(best.local().bindAddress(), new InetSocketAddress(remote.address(), remote.tcpPort()));
            } catch (NoPathException none) {
                List<Path> relayed = relayed(name, peer, tie);
                if (!relayed.isEmpty()) {
                    return relayed;
                }
                if (abandoned.getAsBoolean()
                        || clock.nanoTime() - start >= patience().toNanos()) {
                    throw new NoPathException(
                            (none.getMessage() + " " + relays.report(peer.links())).strip(), none.wereLinksDown());
                }
            }
            pause();
        }
    }

    /**
     * The one that relays are compared with: the first whose link is up. A cable that is down keeps its address, and
     * the speed that it would have.
     */
    private Path best(List<Path> direct) {
        return direct.stream()
                .filter(path -> isUp.test(path.local()))
                .findFirst()
                .orElse(direct.getFirst());
    }

    /** The ways through relays that carry more than the best path over a link of both ends. */
    private List<Path> faster(String name, PeerDescription peer, Path direct, long tie) {
        return routing.mayBeFasterByRelays(direct) ? faster(relayed(name, peer, tie), direct) : List.of();
    }

    private List<Path> faster(List<Path> relayed, Path direct) {
        return routing.mayBeFasterByRelays(direct)
                ? relayed.stream()
                        .filter(path -> path.bandwidth().exceeds(direct.bandwidth()))
                        .toList()
                : List.of();
    }

    private boolean mayBecomeFaster(PeerDescription peer, Path direct) {
        if (!relays.patience().isPositive() || !routing.mayBeFasterByRelays(direct)) {
            return false;
        }
        long now = clock.nanoTime();
        return now - firstAsked.computeIfAbsent(peer, _ -> now) < FASTER.toNanos();
    }

    /** The kernel has no route over an interface that is down. */
    private Duration patience() {
        Duration ofRelays = relays.patience();
        boolean down = routing.links().stream().anyMatch(isUp.negate());
        return down && ofRelays.compareTo(timeout) < 0 ? timeout : ofRelays;
    }

    /** The paths over a link of both ends, and those through relays, as they are known now; what carries more first. */
    public List<Path> now(String name, PeerDescription peer, Set<LocalLink> preferred, long tie) {
        List<Path> direct = direct(new Question(peer, preferred));
        List<Path> relayed = relayed(name, peer, tie);
        Set<Path> paths = new LinkedHashSet<>();
        if (!direct.isEmpty()) {
            paths.addAll(faster(relayed, best(direct)));
            paths.addAll(direct);
        }
        paths.addAll(relayed);
        return List.copyOf(paths);
    }

    /** Those over a link of both ends, not older than a moment; none if there is none. */
    private List<Path> direct(Question question) {
        long now = clock.nanoTime();
        Direct known = recent.get(question);
        if (known != null && now - known.at < FRESH.toNanos()) {
            return known.paths;
        }
        List<Path> paths;
        try {
            paths = routing.pathsTo(question.peer, question.preferred);
        } catch (NoPathException _) {
            paths = List.of(); // there may be relays
        }
        if (recent.size() >= MAX_RECENT) {
            recent.clear();
        }
        recent.put(question, new Direct(paths, now));
        return paths;
    }

    /** The paths through relays that are known now; none where the settings prescribe a NIC. */
    public List<Path> relayed(String name, PeerDescription peer, long tie) {
        return routing.isPrescribed(peer) ? List.of() : relays.pathsTo(name, peer.links(), tie);
    }

    /** Tells the user if only the settings keep RDMA from the route that TCP takes to a peer. */
    void warnOfGateway(Path path, PeerDescription peer) {
        if (path.kind() == LinkKind.SOFTWARE && path.reason() instanceof Reason.KernelRoute) {
            String why = routing.withheldFromRdma(peer);
            if (!why.isEmpty()) {
                gateways.log("RDMA to %s is not used: %s".formatted(path.peer(), why));
            }
        }
    }

    private static void pause() {
        try {
            Thread.sleep(LOOK);
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted while looking for a relay", e);
        }
    }
}
