package trigon.transport.connect;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.config.PluginConfig;
import trigon.config.cluster.NodeConfig;
import trigon.handshake.connect.HandshakeClient;
import trigon.handshake.message.HandshakeException;
import trigon.handshake.message.ListenHandle;
import trigon.handshake.message.Stripe;
import trigon.nccl.ConnectionAdvice;
import trigon.nccl.NoConnectionException;
import trigon.routing.LocalLink;
import trigon.routing.Path;
import trigon.routing.PeerDescription;
import trigon.routing.Reason;
import trigon.routing.Relays;
import trigon.routing.table.DisjointPaths;
import trigon.routing.table.NoPathException;
import trigon.system.Errno;
import trigon.system.InterfaceAddress;
import trigon.system.NanoClock;
import trigon.system.kernel.OwnHost;
import trigon.trace.TraceLog;
import trigon.transport.path.Links;
import trigon.transport.path.PathChannel;
import trigon.transport.protocol.MessageProtocol;
import trigon.verbs.LinkKind;
import trigon.verbs.VerbsException;

/**
 * Connects to listeners: finds the paths to the peer, and tries one after the other, or those that can be used at the
 * same time together, until one carries the handshake and its queue pair comes up. Some dozens come up
 * at once, each on a thread of its own; NCCL's threads only look at {@link PendingConnection}.
 */
public final class Connector {

    private static final Logger log = LoggerFactory.getLogger(Connector.class);

    /** For how long a path that failed while another did not is left out: NCCL makes many connections at once. */
    private static final Duration LEFT_OUT = Duration.ofMinutes(1);

    /** From one look at what connections through relays have carried to the next. */
    private static final Duration RELAYED_TRAFFIC_INTERVAL = Duration.ofSeconds(3);

    /** Absence of a link of both ends after which relays take its place. */
    private static final Duration BEFORE_RELAYS = Duration.ofSeconds(2);

    private final LocalSide side;
    private final Links links;
    private final CandidatePaths candidatePaths;
    private final RelayedTraffic relayedTraffic;
    private final HandshakeClient client;
    private final PluginConfig config;
    private final Executor connecting;
    private final ConnectionAdvice advice;
    private final Cancellation cancellation;
    private final NanoClock clock;
    private final RecentFailures recentFailures;

    /** Connections begun so far to each peer, which share equal links equally. */
    private final ConcurrentMap<Long, Integer> begun = new ConcurrentHashMap<>();

    /**
     * A connector.
     *
     * @param relays the ways through relays
     * @param advice has a say in each connection
     */
    public Connector(
            LocalSide side,
            CandidatePaths candidatePaths,
            Relays relays,
            PluginConfig config,
            ConnectionAdvice advice,
            ControlTasks tasks) {
        this.side = side;
        this.candidatePaths = candidatePaths;
        relayedTraffic = new RelayedTraffic(tasks.brief(RELAYED_TRAFFIC_INTERVAL), relays::advice);
        links = side.links();
        client = side.client();
        this.config = config;
        connecting = tasks.connecting();
        this.advice = advice;
        clock = tasks.clock();
        cancellation = new Cancellation(client, tasks.control(), clock);
        recentFailures = new RecentFailures(LEFT_OUT, clock);
    }

    /**
     * Starts to connect, in its turn; returns at once. The order of calls is that in which connections to a peer share
     * links.
     *
     * @param preferred the links that NCCL wants it over, if they lead there as directly as others
     * @param policy asked on a control thread, since it may wait until the policy is loaded
     */
    public PendingConnection connect(
            ListenHandle handle, Set<LocalLink> preferred, int trafficClass, Supplier<DecidingPolicy> policy) {
        PendingConnection pending = new PendingConnection(peerName(handle));
        // from 0 again after 2^31
        int turn = begun.merge(numberOf(handle), 0, (before, _) -> (before + 1) & Integer.MAX_VALUE);
        connecting.execute(() ->
                pending.run(() -> new Search(handle, preferred, turn, trafficClass, policy.get(), pending).connect()));
        return pending;
    }

    /** For one connection: over one path to the peer after the other, until one leads there. */
    private final class Search {
        private final ListenHandle handle;
        private final Set<LocalLink> preferred;
        private final int turn;
        private final int trafficClass;
        private final DecidingPolicy policy;
        private final PendingConnection pending;
        private final PeerDescription peer;
        private final List<Path> candidates;
        private final ConnectionAdvice.Advice how;
        private final NoConnectionException failures;
        private final List<Path> tried;
        private final PathSchedule schedule;
        private final LinkLocalPaths linkLocal;
        private boolean triesRelays;

        Search(
                ListenHandle handle,
                Set<LocalLink> preferred,
                int turn,
                int trafficClass,
                DecidingPolicy policy,
                PendingConnection pending) {
            this.handle = handle;
            this.preferred = preferred;
            this.turn = turn;
            this.policy = policy;
            this.pending = pending;
            peer = Counterpart.description(handle.nodeIndex(), handle.links(), OwnHost.mayBe(handle.host()));
            List<Path> all = candidatePaths.find(
                    pending.peer(),
                    peer,
                    preferred,
                    tie(),
                    pending::isAbandoned,
                    (local, listener) -> client.introduce(local, listener, handle.secret(), handle.connection()));
            how = advice.on(question(numberOf(handle), all, trafficClass));
            candidates = how.relays()
                    ? all
                    : all.stream().filter(path -> !path.isRelayed()).toList();
            if (candidates.isEmpty()) {
                throw new NoPathException(
                        "only relays lead to %s, and the policy forbids relays".formatted(pending.peer()));
            }
            this.trafficClass = how.trafficClassOr(trafficClass);
            triesRelays = how.relays() && prefersDirectPath();
            failures = new NoConnectionException(pending.peer(), candidates.size());
            tried = new ArrayList<>(candidates);
            schedule = new PathSchedule(config.handshake().timeout(), clock);
            schedule.add(candidates);
            linkLocal = new LinkLocalPaths((path, remote) -> client.askDirectly(
                            path.local().bindAddress(), remote, handle.secret(), handle.connection())
                    .answered());
        }

        /** Decides between relays of equal rank. */
        private long tie() {
            return handle.connection().value();
        }

        /** Else a way through relays is the only one, or carries more. */
        private boolean prefersDirectPath() {
            return !candidates.getFirst().isRelayed();
        }

        ConnectedPaths connect() {
            Duration beforeRelays = candidates.stream().allMatch(recentFailures::has) ? Duration.ZERO : BEFORE_RELAYS;
            while (!pending.isAbandoned()) {
                if (triesRelays && (schedule.isEmpty() || schedule.sinceFirst().compareTo(beforeRelays) > 0)) {
                    addRelays();
                }
                if (schedule.isEmpty()) {
                    break;
                }
                List<Path> due = schedule.due();
                if (due.isEmpty()) {
                    pause(schedule.pause());
                    continue;
                }
                Optional<ConnectedPaths> connected = connectOver(due);
                if (connected.isPresent()) {
                    return connected.get();
                }
            }
            if (!pending.isAbandoned()) {
                cancellation.tell(handle, tried, failures.getMessage());
            }
            throw failures;
        }

        private void addRelays() {
            triesRelays = false;
            List<Path> relayed = candidatePaths.relayed(pending.peer(), peer, tie()).stream()
                    .filter(path -> !tried.contains(path))
                    .toList();
            schedule.add(relayed);
            tried.addAll(relayed);
        }

        /** Tries some of these once. */
        private Optional<ConnectedPaths> connectOver(List<Path> due) {
            List<Path> known = isDoubtful(due.getFirst()) ? thatLeadThere(due) : due;
            if (known.isEmpty()) {
                return Optional.empty();
            }
            List<Path> paths = pathsToTake(known, preferred, how.links(), turn);
            schedule.begin(paths);
            pending.reached("paths");
            try (ConnectionAttempt attempt =
                    new ConnectionAttempt(side, handle, trafficClass, policy, schedule.timeLeft(paths), pending)) {
                List<Path> stripes = stripes(paths, how.queuePairs());
                List<PathChannel> connected = attempt.connect(side.factory().nextAttempt(), stripes);
                attempt.failures().forEach(this::failed);
                if (connected.isEmpty()) {
                    return Optional.empty();
                }
                note(attempt.peer(), paths, attempt.failures().keySet(), connected);
                return Optional.of(connectedBy(attempt, paths, stripes, connected));
            }
        }

        private void note(String name, List<Path> paths, Set<Path> failed, List<PathChannel> connected) {
            recentFailures.note(failed);
            report(name, paths, failed, connected.size());
            side.connectionLog().logTimes(name, pending);
            candidatePaths.warnOfGateway(paths.getFirst().to(name), peer);
            if (!isDoubtful(paths.getFirst())) {
                recentFailures.note(
                        candidates.stream().filter(Connector::isDoubtful).toList());
            }
            if (paths.getFirst().reason() instanceof Reason.Relayed relayed) {
                if (prefersDirectPath()) {
                    recentFailures.note(candidates);
                }
                trace(connected.getFirst(), relayed);
                relayedTraffic.watch(paths.getFirst(), connected.getFirst());
            }
        }

        private ConnectedPaths connectedBy(
                ConnectionAttempt attempt, List<Path> paths, List<Path> stripes, List<PathChannel> connected) {
            return new ConnectedPaths(
                    MessageProtocol.on(paths.getFirst().kind(), stripes.size() > 1),
                    connected,
                    new Counterpart(
                            attempt.peer(),
                            handle.nodeIndex(),
                            handle.links(),
                            OwnHost.mayBe(handle.host()),
                            handle.connection(),
                            handle.secret(),
                            trafficClass),
                    attempt.isResumable());
        }

        /**
         * Finds, of those that may lead nowhere, the ones over which the peer answers; where it does not, all the
         * others.
         */
        private List<Path> thatLeadThere(List<Path> due) {
            Map<Boolean, List<Path>> byDoubt = due.stream().collect(Collectors.partitioningBy(Connector::isDoubtful));
            List<Path> others = byDoubt.getOrDefault(false, List.of());
            List<Path> doubtful = byDoubt.getOrDefault(true, List.of()).stream()
                    .filter(path -> others.isEmpty() || !recentFailures.has(path))
                    .toList();
            schedule.begin(doubtful);
            List<Path> answering = linkLocal.answering(doubtful, this::failed);
            return answering.isEmpty() ? others : answering;
        }

        /** A path that is away may come back: a cable is plugged in again, a switch restarts. */
        private void failed(Path path, RuntimeException why) {
            links.of(path.local()).counters().retried();
            if (mayPass(why) && schedule.away(path)) {
                if (why instanceof VerbsException failure && failure.errno() == Errno.ETIMEDOUT) {
                    side.connectionLog()
                            .logUnproven("no connection to %s over %s: %s"
                                    .formatted(pending.peer(), path.local(), failure.getMessage()));
                }
                log.debug("no connection to {} over {} yet: {}", pending.peer(), path, why.getMessage());
                return;
            }
            schedule.failed(path);
            failures.add(path, why);
            if (!pending.isAbandoned()) {
                log.warn("no connection to {} over {}: {}", pending.peer(), path, why.getMessage());
            }
        }
    }

    private static boolean mayPass(RuntimeException why) {
        return switch (why) {
            case HandshakeException failure -> failure.mayPass();
            case LinkLocalPaths.NoAnswerException _ -> true;
            case VerbsException failure -> Acceptor.AWAY.contains(failure.errno());
            default -> false;
        };
    }

    private static void pause(Duration time) {
        try {
            Thread.sleep(time.plusMillis(1));
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted while waiting for a path", e);
        }
    }

    /** The paths to take at the same time; the fastest first, which also carries what is not worth dividing. */
    private List<Path> pathsToTake(List<Path> candidates, Set<LocalLink> preferred, int advised, int turn) {
        int most = advised > 0
                ? advised
                : config.stripes().mostLinks(candidates.getFirst().kind() == LinkKind.RDMA, Stripe.MAX);
        List<Path> without = candidates.stream()
                .filter(path ->
                        !recentFailures.has(path) && links.of(path.local()).isUp())
                .toList();
        List<Path> usable = without.isEmpty() ? candidates : without;
        List<Path> overPreferred = usable.stream()
                .filter(path -> preferred.stream()
                        .anyMatch(link -> link.deviceName().equals(path.local().deviceName())))
                .toList(); // NCCL uses several NICs by itself
        return DisjointPaths.inTurn(overPreferred.isEmpty() ? usable : overPreferred, most, turn).stream()
                .sorted(Comparator.comparingInt(path -> -path.local().assumedMbps()))
                .toList();
    }

    private static void trace(PathChannel path, Reason.Relayed relayed) {
        String queuePair = "0x%06x".formatted(path.endpoint().number());
        TraceLog.event("relayed", "qp", queuePair, "by", relayed.relays());
    }

    private static boolean isDoubtful(Path path) {
        return path.reason().isLinkLocal();
    }

    private List<Path> stripes(List<Path> paths, int advised) {
        if (paths.getFirst().isRelayed()) {
            return paths;
        }
        int count = advised > 0
                ? Math.max(advised, paths.size())
                : paths.size() * config.stripes().queuePairsPerLink();
        List<Path> stripes = new ArrayList<>();
        for (int i = 0; i < Math.min(count, Stripe.MAX); i++) {
            stripes.add(paths.get(i % paths.size()));
        }
        return stripes;
    }

    private static ConnectionAdvice.Question question(long peer, List<Path> candidates, int trafficClass) {
        Path first = candidates.getFirst();
        return new ConnectionAdvice.Question(
                peer,
                candidates.stream()
                        .mapToInt(path -> path.local().assumedMbps())
                        .max()
                        .orElse(0),
                DisjointPaths.among(candidates, Stripe.MAX).size(),
                first.kind() == LinkKind.RDMA,
                first.isRelayed(),
                trafficClass);
    }

    /** Hashes the addresses, which are the same for all connections to a peer. */
    private static long numberOf(ListenHandle handle) {
        return handle.links().stream()
                .mapToLong(link -> link.address().hashCode())
                .sum();
    }

    private void report(String peer, List<Path> paths, Set<Path> failed, int queuePairs) {
        List<String> up = paths.stream()
                .filter(path -> !failed.contains(path))
                .map(path -> path.to(peer) + ": " + path.local().carrier())
                .toList();
        side.connectionLog()
                .logUp(
                        queuePairs == 1
                                ? "sends to " + (up.isEmpty() ? peer : up.getFirst())
                                : "sends to %s by %d queue pairs over %s".formatted(peer, queuePairs, up));
    }

    private String peerName(ListenHandle handle) {
        if (handle.nodeIndex().isPresent() && config.cluster().isPresent()) {
            List<NodeConfig> nodes = config.cluster().get().nodes();
            int index = handle.nodeIndex().getAsInt();
            return index < nodes.size() ? nodes.get(index).name() : "node " + index;
        }
        return handle.links().isEmpty()
                ? "a peer without links"
                : InterfaceAddress.text(handle.links().getFirst().address());
    }
}
