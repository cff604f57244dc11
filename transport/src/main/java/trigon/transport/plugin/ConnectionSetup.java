package trigon.transport.plugin;

import java.util.Set;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import trigon.handshake.listen.HandshakeListeners;
import trigon.handshake.message.ListenHandle;
import trigon.handshake.message.NodeIdentity;
import trigon.nccl.NetPlugin;
import trigon.routing.LocalLink;
import trigon.system.kernel.OwnHost;
import trigon.transport.Unwinding;
import trigon.transport.connect.Acceptor;
import trigon.transport.connect.ConnectedPaths;
import trigon.transport.connect.Connector;
import trigon.transport.connect.LocalSide;
import trigon.transport.connect.PendingConnection;
import trigon.transport.failover.Failovers;
import trigon.transport.handle.HandleTable;

/** Connections on their way up, at both sides: what NCCL's listen, connect and accept look at. Any thread. */
final class ConnectionSetup {

    private final HandleTable<Acceptor> acceptors = new HandleTable<>("listen comm");
    private final HandleTable<PendingConnection> pending = new HandleTable<>("pending connection");
    private final Contexts contexts;
    private final LocalSide side;
    private final HandshakeListeners listeners;
    private final Connector connector;
    private final Executor control;
    private final Failovers failovers;
    private final RecurringTask lookForHalfOpen;

    /**
     * None yet.
     *
     * @param listeners have what peers offer
     * @param connector connects to peers
     * @param failovers has ends answer for themselves that NCCL has not taken yet
     * @param control runs what may block
     */
    ConnectionSetup(
            Contexts contexts,
            LocalSide side,
            HandshakeListeners listeners,
            Connector connector,
            Failovers failovers,
            Executor control) {
        this.contexts = contexts;
        this.side = side;
        this.listeners = listeners;
        this.connector = connector;
        this.failovers = failovers;
        this.control = control;
        HalfOpenConnections halfOpen = new HalfOpenConnections(
                acceptors,
                pending,
                acceptor -> control.execute(() -> closeListen(acceptor)),
                connection -> control.execute(() -> giveUp(connection)));
        lookForHalfOpen = new RecurringTask(halfOpen::look);
    }

    /**
     * Looks for half-open connections from now on.
     *
     * @param nextLook runs what does not block, {@link HalfOpenConnections#INTERVAL} later
     */
    void start(Executor nextLook) {
        lookForHalfOpen.start(nextLook);
    }

    /** Looks for none any more. */
    void stop() {
        lookForHalfOpen.stop();
    }

    /** {@link NetPlugin#listen}. */
    long listen(long contextHandle, long handleAddress) {
        Context context = contexts.require(contextHandle);
        Acceptor acceptor = new Acceptor(contextHandle, context.trafficClass(), context::policy, side, control);
        NodeIdentity self = side.self();
        ListenHandle handle = ListenHandle.fitting(
                        acceptor.connectionId(),
                        acceptor.secret(),
                        self.index(),
                        self.configFingerprint(),
                        side.addresses().get())
                .onHost(OwnHost.number());
        try (Unwinding unwinding = new Unwinding()) {
            listeners.register(acceptor.connectionId(), acceptor.secret(), acceptor);
            unwinding.onFailure(() -> listeners.unregister(acceptor.connectionId()));
            long result = acceptors.add(acceptor);
            unwinding.onFailure(() -> closeListen(result));
            contexts.note(contextHandle, Context::acceptors, result);
            handle.writeTo(handleAddress);
            unwinding.succeeded();
            return result;
        }
    }

    /**
     * {@link NetPlugin#connect}.
     *
     * @param preferred the links that NCCL wants it over
     * @return the paths; null: not yet
     */
    @Nullable
    ConnectedPaths connect(long contextHandle, Set<LocalLink> preferred, long handleAddress, int trafficClass) {
        long state = ListenHandle.privateState(handleAddress);
        PendingConnection known = state == 0 ? null : pending.find(state);
        if (known == null) {
            begin(contextHandle, preferred, handleAddress, trafficClass);
            return null;
        }
        if (!known.isDone()) {
            return null;
        }
        ListenHandle.setPrivateState(handleAddress, 0);
        if (pending.remove(state) == null) {
            throw new IllegalArgumentException("the connection was given up when its context was closed");
        }
        Context context = contexts.find(contextHandle);
        if (context != null) {
            context.pending().remove(state);
        }
        return known.take();
    }

    private void begin(long contextHandle, Set<LocalLink> preferred, long handleAddress, int trafficClass) {
        Context context = contexts.require(contextHandle);
        ListenHandle handle = ListenHandle.readFrom(handleAddress);
        if (ListenHandle.privateState(handleAddress) != 0) {
            throw new IllegalArgumentException("the listen handle belongs to a connection that was closed");
        }
        int wanted = trafficClass == NetPlugin.TRAFFIC_CLASS_UNDEFINED ? context.trafficClass() : trafficClass;
        try (Unwinding unwinding = new Unwinding()) {
            PendingConnection begun = connector.connect(handle, preferred, wanted, context::policy);
            unwinding.onFailure(begun::abandon);
            begun.whenUp(failovers::expect); // NCCL may look for it much later than its peer
            long state = pending.add(begun);
            unwinding.onFailure(() -> pending.remove(state));
            contexts.note(contextHandle, Context::pending, state);
            ListenHandle.setPrivateState(handleAddress, state);
            unwinding.succeeded();
        }
    }

    /**
     * The acceptor of a listen comm.
     *
     * @throws IllegalArgumentException if the handle is stale
     */
    Acceptor acceptor(long listenComm) {
        Acceptor acceptor = acceptors.find(listenComm);
        if (acceptor == null) {
            throw new IllegalArgumentException("0x%x is not an open listen comm".formatted(listenComm));
        }
        return acceptor;
    }

    /** {@link NetPlugin#closeListen}. */
    void closeListen(long handle) {
        Acceptor acceptor = acceptors.remove(handle);
        if (acceptor == null) {
            return;
        }
        Context context = contexts.find(acceptor.context());
        if (context != null) {
            context.acceptors().remove(handle);
        }
        listeners.unregister(acceptor.connectionId(), acceptor);
        acceptor.close();
    }

    private void giveUp(long handle) {
        for (long contextHandle : contexts.handles()) {
            Context context = contexts.find(contextHandle);
            if (context != null) {
                context.pending().remove(handle);
            }
        }
        abandon(handle);
    }

    /** Nobody will take the connection. */
    void abandon(long handle) {
        PendingConnection abandoned = pending.remove(handle);
        if (abandoned != null) {
            abandoned.abandon();
            abandoned.whenUp(failovers::forget);
        }
    }
}
