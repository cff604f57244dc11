package trigon.transport.plugin;

import java.util.List;
import java.util.OptionalInt;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.config.PluginConfig;
import trigon.config.Settings;
import trigon.config.cluster.NodeConfig;
import trigon.config.setting.FailoverPolicy;
import trigon.handshake.lifeline.HandshakeEventLoop;
import trigon.handshake.listen.HandshakeListeners;
import trigon.handshake.message.HandshakeException;
import trigon.handshake.message.NodeIdentity;
import trigon.routing.DiscoveredLinks;
import trigon.routing.LocalLink;
import trigon.transport.Unwinding;
import trigon.transport.connect.ControlThreads;
import trigon.transport.connect.DecidingPolicy;
import trigon.transport.path.Links;
import trigon.verbs.VerbsException;

/**
 * The resources of a plugin: links whose devices are open, the handshake's thread and listeners, and the
 * threads that bring connections up.
 *
 * @param self who this process is, for peers
 * @param discovered the links that are open; those that could not be opened are among what is left out
 */
record NodeResources(
        NodeIdentity self,
        DiscoveredLinks discovered,
        Links links,
        HandshakeEventLoop loop,
        HandshakeListeners listeners,
        ControlThreads threads)
        implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(NodeResources.class);

    /**
     * Opens them. A link that nobody has listed is left out, with a line in the log, if it cannot be opened: its
     * interface or its address has gone since it was found.
     *
     * @throws VerbsException if the device of a listed link, or the last of all, cannot be opened
     * @throws HandshakeException if the address of a listed link, or the last of all, cannot be listened on
     */
    static NodeResources open(PluginSetup setup) {
        HostNetwork host = setup.host();
        NodeIdentity self = identity(setup);
        try (Unwinding unwinding = new Unwinding()) {
            Links links = Links.open(
                    List.of(),
                    host.devices().providers(),
                    host.pageBytes(),
                    setup.visible().metrics());
            unwinding.onFailure(links::close);
            HandshakeEventLoop loop = setup.openHandshakes();
            unwinding.onFailure(loop::close);
            HandshakeListeners listeners =
                    HandshakeListeners.open(loop, setup.config().handshake(), self, List.of());
            unwinding.onFailure(listeners::close);
            DiscoveredLinks discovered = opened(setup, links, listeners);
            NodeResources resources =
                    new NodeResources(self, discovered, links, loop, listeners, ControlThreads.open());
            unwinding.succeeded();
            return resources;
        }
    }

    private static NodeIdentity identity(PluginSetup setup) {
        PluginConfig config = setup.config();
        return new NodeIdentity(
                config.thisNode().map(NodeConfig::name).orElse(setup.host().hostName()),
                config.thisNode().map(node -> OptionalInt.of(node.index())).orElse(OptionalInt.empty()),
                config.fingerprint(),
                DecidingPolicy.ofProcess(config),
                config.value(Settings.DEVICES),
                config.value(Settings.FAILOVER) == FailoverPolicy.ON);
    }

    private static DiscoveredLinks opened(PluginSetup setup, Links links, HandshakeListeners listeners) {
        boolean listed = setup.config().thisNode().isPresent();
        DiscoveredLinks discovered = setup.host().discovered();
        for (LocalLink link : setup.host().discovered().links()) {
            try {
                listeners.listen(link.bindAddress());
                links.add(link);
            } catch (HandshakeException | VerbsException e) {
                discovered = discovered.without(link, String.valueOf(e.getMessage()));
                if (listed || discovered.links().isEmpty()) {
                    throw e;
                }
                log.warn("{} is left out until it can be used: {}", link, e.getMessage());
            }
        }
        return discovered;
    }

    /** Waits for what is on its way up; nothing is open on the links any more. */
    @Override
    public void close() {
        loop.close();
        threads.close();
        links.close();
    }
}
