package trigon.transport.plugin;

import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import trigon.nccl.ConnectionAdvice;
import trigon.transport.handle.HandleTable;
import trigon.transport.session.Session;

/** The communicators that use the plugin. Thread-safe. */
final class Contexts {

    private final HandleTable<Context> contexts = new HandleTable<>("context");
    private final HandleTable<Session> sessions;
    private final ConnectionAdvice advice;

    /**
     * None yet.
     *
     * @param sessions the table of all sessions
     * @param advice knows by what each communicator decides
     */
    Contexts(HandleTable<Session> sessions, ConnectionAdvice advice) {
        this.sessions = sessions;
        this.advice = advice;
    }

    /** The comms of all of them. */
    HandleTable<Session> sessions() {
        return sessions;
    }

    /** A communicator's; returns its handle. */
    long open(long commId, int trafficClass) {
        return contexts.add(new Context(commId, trafficClass, sessions, advice));
    }

    @Nullable
    Context find(long handle) {
        return contexts.find(handle);
    }

    /**
     * The context of a handle.
     *
     * @throws IllegalArgumentException if it is stale
     */
    Context require(long handle) {
        Context context = contexts.find(handle);
        if (context == null) {
            throw new IllegalArgumentException("0x%x is not an open context".formatted(handle));
        }
        return context;
    }

    @Nullable
    Context remove(long handle) {
        return contexts.remove(handle);
    }

    List<Long> handles() {
        return contexts.handles();
    }

    /**
     * Notes what was opened in a context, for its end. Fails if the end has come meanwhile: then nobody else closes it.
     *
     * @throws IllegalArgumentException if the context is closed
     */
    void note(long contextHandle, Function<Context, Set<Long>> kind, long handle) {
        kind.apply(require(contextHandle)).add(handle);
        // who closes a context first removes it and then looks at what was noted: still there, so that was seen
        require(contextHandle);
    }
}
