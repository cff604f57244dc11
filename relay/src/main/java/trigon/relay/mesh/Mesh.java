package trigon.relay.mesh;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.channels.SelectableChannel;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.config.PluginConfig;
import trigon.config.Settings;
import trigon.config.cluster.ClusterConfig;
import trigon.config.cluster.ClusterKey;
import trigon.config.cluster.NicConfig;
import trigon.config.setting.RelayPolicy;
import trigon.relay.Relay;
import trigon.relay.RelayCounts;
import trigon.relay.RelayLimits;
import trigon.relay.RelayRule;
import trigon.relay.topology.AnnouncementKey;
import trigon.relay.topology.LinkRecord;
import trigon.relay.topology.NodeOrder;
import trigon.relay.topology.Nodes;
import trigon.relay.topology.Origin;
import trigon.relay.topology.Topology;
import trigon.relay.topology.announce.Announcer;
import trigon.routing.LocalLink;
import trigon.routing.Path;
import trigon.routing.PeerLink;
import trigon.routing.Relays;
import trigon.routing.RouteLookup;
import trigon.stream.circuit.CircuitKeys;
import trigon.stream.circuit.CircuitRoutes;
import trigon.stream.hop.HopDevices;
import trigon.system.NanoClock;
import trigon.system.PortRange;

/**
 * This process's part in the mesh of relays: it relays for others, and finds routes through them where it needs one.
 * Only then processes announce themselves. It has no thread before one is needed. Its methods may be called from any
 * thread.
 */
public final class Mesh implements Relays, AutoCloseable {

    /** All others have announced themselves some times by then. */
    private static final Duration PATIENCE = Duration.ofSeconds(8);

    /** After so long without a byte, others keep their communicators open for something else. */
    private static final Duration DRAIN_QUIET = Duration.ofSeconds(2);

    private static final Duration MAX_DRAIN = Duration.ofSeconds(10);

    private static final Logger log = LoggerFactory.getLogger(Mesh.class);

    private final CircuitKeys keys;
    private final Duration untilKeyed;
    private final Relay relay;
    private final Announcer announcer;
    private final MeshRoutes routes;

    private Mesh(CircuitKeys keys, Duration untilKeyed, Relay relay, Announcer announcer, MeshRoutes routes) {
        this.keys = keys;
        this.untilKeyed = untilKeyed;
        this.relay = relay;
        this.announcer = announcer;
        this.routes = routes;
    }

    /**
     * Opens it.
     *
     * @param links this node's, of which {@link RelayLinks} are used
     * @param kernel the kernel's routing table
     * @param name of the node
     * @param node what the node is told apart by
     * @param resources what the relay may use
     * @return empty if the settings say that there are to be no relays, or there are no software links to relay over
     * @throws IOException if the relay cannot listen
     */
    public static Optional<Mesh> open(
            PluginConfig config,
            List<LocalLink> links,
            RouteLookup kernel,
            String name,
            long node,
            RelayResources resources)
            throws IOException {
        if (!config.value(Settings.RELAY).serves()) {
            log.info("relaying is off, both for other nodes and for this one: {}", config.sourceOf(Settings.RELAY));
            return Optional.empty();
        }
        List<LocalLink> software = RelayLinks.of(links);
        if (software.isEmpty()) {
            log.info("no relays: they take software links, and with links: {} there are none", config.links());
            return Optional.empty();
        }
        return Optional.of(of(config, software, kernel, name, node, resources));
    }

    /**
     * The same, for who only relays, and whose settings do not say that there are to be no relays.
     *
     * @param software at least one link
     */
    public static Mesh of(
            PluginConfig config,
            List<LocalLink> software,
            RouteLookup kernel,
            String name,
            long node,
            RelayResources resources)
            throws IOException {
        CircuitKeys keys = new CircuitKeys(config.clusterKey().map(ClusterKey::bytes));
        Neighbourhood neighbourhood = new Neighbourhood(config.cluster(), NanoClock.SYSTEM);
        RelayPolicy policy = config.value(Settings.RELAY);
        Relay relay = relay(config, software, keys, neighbourhood, policy, resources);
        try {
            List<LocalLink> open = software.stream()
                    .filter(link -> relay.port(link.address().address()) != 0)
                    .toList();
            Load load = new Load(relay.counts());
            Topology topology = new Topology(
                    new Origin(new SecureRandom().nextLong(), node, name),
                    records(open, relay, resources.hops()),
                    new AnnouncementKey(config.clusterKey(), keys.job()),
                    () -> System.currentTimeMillis() / 1000,
                    load::mbps,
                    // before its first communicator or peer it could admit nobody
                    () -> !keys.isEmpty() && !relay.hasEnded());
            Announcer announcer = new Announcer(
                    topology,
                    config.value(Settings.TOPOLOGY_PORT),
                    open.stream().map(LocalLink::interfaceIndex).toList(),
                    others(config),
                    neighbourhood::learn);
            return new Mesh(
                    keys,
                    config.value(Settings.HANDSHAKE_TIMEOUT),
                    relay,
                    announcer,
                    new MeshRoutes(
                            open,
                            kernel,
                            keys,
                            announcer::nodesToRelay,
                            new RelayProcesses(resources.localRank(), NanoClock.SYSTEM),
                            resources.localRank()));
        } catch (RuntimeException e) {
            relay.close();
            throw e;
        }
    }

    private static Relay relay(
            PluginConfig config,
            List<LocalLink> software,
            CircuitKeys keys,
            Neighbourhood neighbourhood,
            RelayPolicy policy,
            RelayResources resources)
            throws IOException {
        long rate = config.value(Settings.CIRCUITS_RATE)
                .map(mbps -> mbps * 125_000L)
                .orElse(0L);
        RelayLimits limits = RelayLimits.DEFAULT
                .withCircuits(config.value(Settings.CIRCUITS_MOST))
                .withBytesPerSecond(rate)
                .withSpin(resources.spins() ? Duration.ofNanos(200_000) : Duration.ZERO);
        return Relay.open(
                software.stream().map(LocalLink::address).toList(),
                config.value(Settings.PORTS).orElse(PortRange.ANY),
                keys,
                rule(software, neighbourhood, policy),
                limits,
                resources.hops());
    }

    private static RelayRule rule(List<LocalLink> software, Neighbourhood neighbourhood, RelayPolicy policy) {
        return new RelayRule() {
            @Override
            public Optional<String> objection(InetAddress from, InetAddress to) {
                return neighbourhood.objection(policy, from, to);
            }

            @Override
            public int interfaceOf(InetAddress own) {
                return software.stream()
                        .filter(link -> link.address().address().equals(own))
                        .mapToInt(LocalLink::interfaceIndex)
                        .findFirst()
                        .orElse(0);
            }

            @Override
            public boolean isHeard(InetAddress own, InetAddress neighbour) {
                return neighbourhood.isHeard(own, neighbour);
            }
        };
    }

    /** Relays and listens with threads of its own from now on. */
    public void serve() {
        relay.start();
        announcer.start();
    }

    /**
     * Has these threads made only when somebody connects or announces himself, or a route is looked for here.
     *
     * @throws IOException if the sentry cannot look at what this listens on
     */
    public void serveWhenCalled(Sentry sentry) throws IOException {
        for (SelectableChannel each : relay.channels()) {
            sentry.whenReady(each, relay::start);
        }
        for (SelectableChannel each : announcer.channels()) {
            sentry.whenReady(each, announcer::start);
        }
    }

    private static List<LinkRecord> records(List<LocalLink> software, Relay relay, HopDevices hops) {
        return software.stream()
                .map(link -> new LinkRecord(
                        link.address(),
                        relay.port(link.address().address()),
                        link.countedMbps(),
                        hops.serves(link.address().address()),
                        List.of(),
                        false))
                .toList();
    }

    /** The others' addresses in the cluster file: told by unicast, too. */
    private static List<InetAddress> others(PluginConfig config) {
        return config.cluster().map(ClusterConfig::nodes).orElse(List.of()).stream()
                .flatMap(node -> node.nics().stream())
                .map(NicConfig::address)
                .flatMap(Optional::stream)
                .map(address -> address.address())
                .toList();
    }

    @Override
    public List<Path> pathsTo(String peer, List<PeerLink> remotes, long tie) {
        return routes.pathsTo(peer, remotes, tie);
    }

    /** Routes of the circuits that its paths are made of. */
    public CircuitRoutes routes() {
        return routes;
    }

    @Override
    public Duration patience() {
        // without the cluster key, neighbours have first to connect directly: handshakes spread the job's key
        boolean mayBeKeyed = !keys.hasClusterKey() && !announcer.nodes().isAlone();
        return mayBeKeyed ? PATIENCE.plus(untilKeyed) : PATIENCE;
    }

    @Override
    public String report(List<PeerLink> remotes) {
        return routes.report(remotes);
    }

    @Override
    public String advice() {
        return NodeOrder.advice(announcer.nodes());
    }

    @Override
    public void opened(long communicator) {
        keys.opened(communicator);
    }

    @Override
    public void closed(long communicator) {
        keys.closed(communicator);
    }

    @Override
    public void drain() {
        announcer.needNoRelays();
        long left = relay.drain(DRAIN_QUIET, MAX_DRAIN);
        if (left > 0) {
            log.info(
                    "{} connections of other nodes still go through this process and break when it ends; start"
                            + " trigon relay on this node to keep them",
                    left);
        }
    }

    /** Returns whether it relays no more, or can no longer be found: it is closed, or the log tells of a failure. */
    public boolean hasEnded() {
        return relay.hasEnded() || announcer.hasEnded();
    }

    /** The other nodes that are known now. */
    public Nodes nodes() {
        return announcer.nodes();
    }

    public RelayCounts counts() {
        return relay.counts();
    }

    /** Ends its threads, and what is relayed. */
    @Override
    public void close() {
        announcer.close();
        relay.close();
    }
}
