package trigon.transport.plugin;

import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import trigon.nccl.ConnectionAdvice;
import trigon.nccl.NetPlugin;
import trigon.transport.connect.DecidingPolicy;
import trigon.transport.failure.Communicator;
import trigon.transport.failure.CommunicatorFailure;
import trigon.transport.handle.HandleTable;
import trigon.transport.session.Session;

/**
 * A communicator's use of the plugin, and the handles of what was opened in it: NCCL drops half-open connections
 * without closing them when it aborts, so the context does when it goes. Thread-safe.
 */
final class Context implements Communicator {

    private final long commId;
    private final int trafficClass;
    private final HandleTable<Session> table;
    private final ConnectionAdvice advice;
    private final Set<Long> acceptors = ConcurrentHashMap.newKeySet();
    private final Set<Long> pending = ConcurrentHashMap.newKeySet();
    private final Set<Long> sessions = ConcurrentHashMap.newKeySet();

    /** The first that NCCL was told of on its data path; none where communicators share the context. */
    private final AtomicReference<@Nullable CommunicatorFailure> failure = new AtomicReference<>();

    /**
     * Makes one of a communicator.
     *
     * @param commId NCCL's hash of it; 0 where the API version has none: all communicators have this context then
     * @param trafficClass the application's, or {@link NetPlugin#TRAFFIC_CLASS_UNDEFINED}
     * @param table where its sessions are
     * @param advice knows by what it decides
     */
    Context(long commId, int trafficClass, HandleTable<Session> table, ConnectionAdvice advice) {
        this.commId = commId;
        this.trafficClass = trafficClass;
        this.table = table;
        this.advice = advice;
    }

    @Override
    public long commId() {
        return commId;
    }

    int trafficClass() {
        return trafficClass;
    }

    /** By what this rank decides, for its connections to compare. May wait until the policy is loaded. */
    DecidingPolicy policy() {
        return new DecidingPolicy(commId, advice.policyOf(commId));
    }

    /** Handles of open listen comms. */
    Set<Long> acceptors() {
        return acceptors;
    }

    /** Handles of connections on their way up. */
    Set<Long> pending() {
        return pending;
    }

    /** Handles of send and receive comms. */
    Set<Long> sessionHandles() {
        return sessions;
    }

    @Override
    public List<Session> sessions() {
        return sessions.stream().map(table::find).filter(Objects::nonNull).toList();
    }

    @Override
    public boolean failsBy(CommunicatorFailure first) {
        return commId != 0 && failure.compareAndSet(null, first);
    }

    /** The failure that was noted; null if there was none. */
    @Nullable
    CommunicatorFailure failure() {
        return failure.get();
    }
}
