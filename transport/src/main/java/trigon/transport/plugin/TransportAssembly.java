package trigon.transport.plugin;

import java.security.SecureRandom;
import java.time.Duration;
import java.util.concurrent.Executor;
import trigon.config.PluginConfig;
import trigon.config.Settings;
import trigon.config.setting.LaneUse;
import trigon.handshake.connect.HandshakeClient;
import trigon.routing.table.RoutingTable;
import trigon.transport.connect.CandidatePaths;
import trigon.transport.connect.ConnectionLog;
import trigon.transport.connect.Connector;
import trigon.transport.connect.ControlTasks;
import trigon.transport.connect.LocalSide;
import trigon.transport.connect.PathFactory;
import trigon.transport.failover.Failovers;
import trigon.transport.failure.FailurePolicy;
import trigon.transport.failure.PathMonitor;
import trigon.transport.handle.HandleTable;
import trigon.transport.session.FlushQueue;

/**
 * The parts of a plugin, each with those that it needs: the one place where they are wired. Nothing is looked at before
 * {@link #start}.
 */
final class TransportAssembly {

    /** After an interface or an address has come, others may follow. */
    private static final Duration LOOK_FOR_LINKS = Duration.ofMillis(100);

    private final PluginSetup setup;
    private final NodeResources node;
    private final ControlTasks tasks;
    private final CandidatePaths candidates;
    private final LaterLinks later;
    private final Contexts contexts;
    private final Sessions sessions;
    private final ConnectionSetup connections;
    private final PathMonitor monitor;
    private final RecurringTask heapTrim;

    /** Over links that are open. */
    TransportAssembly(PluginSetup setup, NodeResources node) {
        this(setup, node, tasks(setup, node).blocking(LOOK_FOR_LINKS));
    }

    /**
     * The same, with later looks for links in the caller's hands.
     *
     * @param lookForLinks runs what may block, a moment later
     */
    TransportAssembly(PluginSetup setup, NodeResources node, Executor lookForLinks) {
        this.setup = setup;
        this.node = node;
        tasks = tasks(setup, node);
        candidates = findPaths();
        later = new LaterLinks(setup, node, candidates, lookForLinks);
        LocalSide side = localSide();
        Failovers failovers = failovers(side);
        contexts = new Contexts(new HandleTable<>("comm"), setup.advice());
        if (setup.config().value(Settings.LANES) == LaneUse.OFF) {
            setup.visible().requests().leaveMessagesToJava();
        }
        sessions = new Sessions(
                contexts,
                setup.visible().requests(),
                failovers,
                flushRepairs(),
                failures(),
                node.threads().control());
        connections = new ConnectionSetup(
                contexts,
                side,
                node.listeners(),
                connector(side),
                failovers,
                node.threads().control());
        heapTrim = new RecurringTask(HeapTrim.ofThisJvm(node.threads().control())::look);
        monitor = new PathMonitor(
                node.links(), node.threads().control(), tasks.blocking(PathMonitor.TOLD), later::mayHaveCome);
    }

    private static ControlTasks tasks(PluginSetup setup, NodeResources node) {
        return new ControlTasks(node.loop(), node.threads(), setup.timing().clock());
    }

    private CandidatePaths findPaths() {
        PluginConfig config = setup.config();
        return new CandidatePaths(
                RoutingTable.of(config, node.discovered(), setup.host().kernel()),
                setup.relays().ways(),
                link -> node.links().of(link).isUp(),
                config.handshake().timeout(),
                tasks.clock());
    }

    private LocalSide localSide() {
        PluginConfig config = setup.config();
        HandshakeClient client = new HandshakeClient(
                node.loop(), config.handshake(), setup.relays().dialer());
        PathFactory factory = new PathFactory(
                config, new SecureRandom(), node.threads().control(), tasks.blocking(PathFactory.GRACE));
        return new LocalSide(node.links(), client, factory, node.self(), later::addresses, new ConnectionLog());
    }

    private Connector connector(LocalSide side) {
        return new Connector(side, candidates, setup.relays().ways(), setup.config(), setup.advice(), tasks);
    }

    private FailurePolicy failures() {
        return new FailurePolicy(
                contexts::find, node.self().name(), tasks.blocking(Duration.ZERO), tasks.blocking(PathFactory.GRACE));
    }

    private FlushQueue.Repairs flushRepairs() {
        return new FlushQueue.Repairs(
                tasks.flushing(FlushQueue.PAUSE),
                setup.host().devices().gpuWrites(),
                setup.config().handshake().peerTimeout());
    }

    private Failovers failovers(LocalSide side) {
        return new Failovers(side, candidates, node.listeners(), tasks);
    }

    /** Watches links and connections from now on. */
    void start() {
        if (!node.discovered().equals(setup.host().discovered())) {
            later.mayHaveCome(); // what was left out may have been back before anybody looked
        }
        monitor.start();
        connections.start(setup.timing().halfOpenTimer().apply(tasks.brief(HalfOpenConnections.INTERVAL)));
        heapTrim.start(tasks.brief(HeapTrim.INTERVAL));
    }

    /** Watches nothing any more. */
    void stop() {
        monitor.stop();
        connections.stop();
        heapTrim.stop();
    }

    PluginSetup setup() {
        return setup;
    }

    NodeResources node() {
        return node;
    }

    CandidatePaths candidates() {
        return candidates;
    }

    LaterLinks later() {
        return later;
    }

    Contexts contexts() {
        return contexts;
    }

    Sessions sessions() {
        return sessions;
    }

    ConnectionSetup connections() {
        return connections;
    }
}
