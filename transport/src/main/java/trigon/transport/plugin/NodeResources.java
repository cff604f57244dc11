package trigon.transport.plugin;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import trigon.config.HandshakeConfig;
import trigon.handshake.HandshakeEventLoop;
import trigon.handshake.HandshakeException;
import trigon.handshake.HandshakeListeners;
import trigon.handshake.NodeIdentity;
import trigon.routing.LocalLink;
import trigon.system.NanoClock;
import trigon.transport.Unwinding;
import trigon.transport.connect.ControlThreads;
import trigon.transport.metrics.Metrics;
import trigon.transport.path.Links;
import trigon.verbs.LinkKind;
import trigon.verbs.VerbsException;
import trigon.verbs.VerbsProvider;

/**
 * What a plugin holds as long as it lives: links whose devices are open, the handshake's thread and listeners, and the
 * threads that bring connections up.
 */
record NodeResources(Links links, HandshakeEventLoop loop, HandshakeListeners listeners, ExecutorService control)
        implements AutoCloseable {

    /**
     * Opens them.
     *
     * @throws VerbsException if a device cannot be opened
     * @throws HandshakeException if a link's address cannot be listened on
     */
    static NodeResources open(
            List<LocalLink> local,
            Map<LinkKind, VerbsProvider> providers,
            int pageBytes,
            Metrics metrics,
            HandshakeConfig config,
            NodeIdentity self,
            NanoClock clock) {
        try (Unwinding unwinding = new Unwinding()) {
            Links links = Links.open(local, providers, pageBytes, metrics);
            unwinding.onFailure(links::close);
            HandshakeEventLoop loop = HandshakeEventLoop.open(clock);
            unwinding.onFailure(loop::close);
            HandshakeListeners listeners = HandshakeListeners.open(loop, config, self, links.addresses());
            unwinding.onFailure(listeners::close);
            NodeResources resources = new NodeResources(links, loop, listeners, ControlThreads.open());
            unwinding.succeeded();
            return resources;
        }
    }

    /** Waits for what is on its way up; nothing is open on the links any more. */
    @Override
    public void close() {
        loop.close();
        control.close();
        links.close();
    }
}
