package trigon.transport.plugin;

import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import trigon.nccl.DeviceProperties;
import trigon.nccl.NetPlugin;
import trigon.system.Errno;
import trigon.trace.Fields;
import trigon.trace.TraceLog;
import trigon.transport.Unwinding;
import trigon.transport.connect.ConnectedPaths;
import trigon.transport.failover.Failovers;
import trigon.transport.failure.CommunicatorFailure;
import trigon.transport.handle.HandleTable;
import trigon.transport.path.ConnectionDigest;
import trigon.transport.path.Link;
import trigon.transport.path.PathChannel;
import trigon.transport.path.RegisteredMemory;
import trigon.transport.request.RequestTable;
import trigon.transport.session.FlushQueue;
import trigon.transport.session.ReceiveSession;
import trigon.transport.session.SendSession;
import trigon.transport.session.Session;
import trigon.transport.session.SessionFailure;
import trigon.verbs.AccessFlag;
import trigon.verbs.DmaBuf;
import trigon.verbs.LinkKind;
import trigon.verbs.VerbsException;

/**
 * The open sessions, NCCL's send and receive comms, and the memory that is registered for them. {@link #find} and
 * {@link #buffer} are for the data path; the rest may run on any thread.
 */
final class Sessions {

    private final HandleTable<Session> sessions;
    private final HandleTable<RegisteredMemory> memories = new HandleTable<>("memory registration");
    private final Contexts contexts;
    private final RequestTable requests;
    private final Failovers failovers;
    private final FlushQueue.Repairs flushRepairs;
    private final BiConsumer<Session, SessionFailure> onFailureReported;
    private final Executor control;

    /**
     * None yet.
     *
     * @param contexts whose they are, and where they go
     * @param failovers keeps them going
     * @param flushRepairs keeps their flushes going
     * @param onFailureReported hears of it when NCCL learns that one has failed; on the data path
     * @param control runs what may block
     */
    Sessions(
            Contexts contexts,
            RequestTable requests,
            Failovers failovers,
            FlushQueue.Repairs flushRepairs,
            BiConsumer<Session, SessionFailure> onFailureReported,
            Executor control) {
        sessions = contexts.sessions();
        this.contexts = contexts;
        this.requests = requests;
        this.failovers = failovers;
        this.flushRepairs = flushRepairs;
        this.onFailureReported = onFailureReported;
        this.control = control;
    }

    /** A sending one over paths that are up; closes them if it cannot be. Returns its handle. */
    long send(long context, ConnectedPaths paths) {
        try {
            return add(context, paths, handle -> {
                SendSession session = new SendSession(
                        context,
                        paths.paths(),
                        paths.protocol(),
                        requests.open(handle),
                        paths.resumable(),
                        onFailureReported);
                failovers.keep(session, paths.peer());
                return session;
            });
        } catch (RuntimeException | Error e) {
            failovers.forget(paths);
            throw e;
        }
    }

    /** A receiving one, likewise. */
    long receive(long context, ConnectedPaths paths) {
        return add(context, paths, handle -> {
            ReceiveSession session = new ReceiveSession(
                    context,
                    paths.paths(),
                    paths.protocol(),
                    requests.open(handle),
                    paths.resumable(),
                    onFailureReported);
            failovers.keep(session, paths.peer());
            return session;
        });
    }

    private long add(long contextHandle, ConnectedPaths paths, LongFunction<Session> make) {
        try (Unwinding unwinding = new Unwinding()) {
            unwinding.onFailure(paths::close);
            long handle = sessions.add(make);
            unwinding.onFailure(() -> {
                Session begun = sessions.remove(handle, Session::end);
                if (begun != null) {
                    begun.close();
                }
            });
            contexts.note(contextHandle, Context::sessionHandles, handle);
            CommunicatorFailure failure = contexts.require(contextHandle).failure();
            Session session = sessions.find(handle);
            if (requests.isSeen()) {
                TraceLog.opened(handle, () -> SessionFields.of(session, contexts.require(contextHandle), paths));
                unwinding.onFailure(() -> TraceLog.closed(handle));
            }
            if (failure != null && session != null) { // noted first, and looked at then: given up here, or where it is
                session.giveUp(failure.result(), failure.why());
                control.execute(session::endQueuePairs);
            }
            unwinding.succeeded();
            return handle;
        }
    }

    /** The session of a handle, or of one of its requests; null if it is stale. */
    @Nullable
    Session find(long handle) {
        return sessions.find(handle);
    }

    /** The registration of a buffer; null if it is not registered for the session, or too long. */
    @Nullable
    RegisteredMemory buffer(Session session, long address, long size, long memoryHandle) {
        if (size < 0 || size > NetPlugin.MAX_MESSAGE_BYTES) {
            return null;
        }
        RegisteredMemory memory = memories.find(memoryHandle);
        return memory != null && memory.isOf(session.links()) && memory.covers(address, size) ? memory : null;
    }

    /**
     * {@link NetPlugin#registerMemory}. The device may let payload overtake payload, as NCCL's own transport lets it:
     * a message is there once its completion is, which passes nothing.
     */
    long register(long sessionHandle, long address, long size, int type) {
        Session session = require(sessionHandle, size);
        return switch (type) {
            case DeviceProperties.POINTER_HOST -> {
                EnumSet<AccessFlag> access = session instanceof ReceiveSession
                        ? EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.RELAXED_ORDERING)
                        : EnumSet.of(AccessFlag.RELAXED_ORDERING);
                yield register(
                        sessionHandle, session, () -> RegisteredMemory.with(session.links(), address, size, access));
            }
            case DeviceProperties.POINTER_CUDA -> registerOfGpu(sessionHandle, session, address, size, null);
            default ->
                throw new IllegalArgumentException(
                        "memory of type " + type + " cannot be registered: it is" + " neither the host's nor a GPU's");
        };
    }

    /** {@link NetPlugin#registerDmaBuf}. */
    long registerDmaBuf(long sessionHandle, long address, long size, long offset, int descriptor) {
        Session session = require(sessionHandle, size);
        DmaBuf dmaBuf = DmaBuf.of(descriptor, offset);
        try (Unwinding unwinding = new Unwinding()) {
            unwinding.onFailure(dmaBuf::close);
            long handle = registerOfGpu(sessionHandle, session, address, size, dmaBuf);
            unwinding.succeeded();
            return handle;
        }
    }

    private Session require(long sessionHandle, long size) {
        Session session = sessions.find(sessionHandle);
        if (session == null) {
            throw new IllegalArgumentException("0x%x is not an open comm".formatted(sessionHandle));
        }
        if (size <= 0) {
            throw new IllegalArgumentException("memory of " + size + " bytes cannot be registered");
        }
        return session;
    }

    /** In a GPU's memory LL and LL128 look at each word or line, and Simple waits for the flush, which READs. */
    private long registerOfGpu(long sessionHandle, Session session, long address, long size, @Nullable DmaBuf dmaBuf) {
        requireRdma(session);
        EnumSet<AccessFlag> access = session instanceof ReceiveSession
                ? EnumSet.of(
                        AccessFlag.LOCAL_WRITE,
                        AccessFlag.REMOTE_WRITE,
                        AccessFlag.REMOTE_READ,
                        AccessFlag.RELAXED_ORDERING)
                : EnumSet.of(AccessFlag.RELAXED_ORDERING);
        return register(sessionHandle, session, () -> {
            if (session instanceof ReceiveSession receiving) {
                receiving.openFlushes(flushRepairs);
            }
            return RegisteredMemory.ofGpu(session.links(), address, size, dmaBuf, access);
        });
    }

    private static void requireRdma(Session session) {
        for (Link link : session.links()) {
            if (link.local().kind() != LinkKind.RDMA) {
                throw new VerbsException(
                        "ibv_reg_dmabuf_mr",
                        link.toString(),
                        Errno.EOPNOTSUPP,
                        "GPU memory cannot go over TCP; to run without it, set TRIGON_GPU_MEMORY=off");
            }
        }
    }

    private long register(long sessionHandle, Session session, Supplier<RegisteredMemory> make) {
        long handle;
        Map<Long, RegisteredMemory> registrations = session.registrations();
        synchronized (registrations) { // the session may go on over another link meanwhile
            try (Unwinding unwinding = new Unwinding()) {
                RegisteredMemory memory = make.get();
                unwinding.onFailure(memory::close);
                handle = memories.add(memory);
                unwinding.onFailure(() -> memories.remove(handle));
                memory.showIn(requests.memories(), handle, sessionHandle);
                registrations.put(handle, memory);
                unwinding.succeeded();
            }
        }
        if (sessions.find(sessionHandle) == null) {
            deregister(sessionHandle, handle);
            throw new IllegalArgumentException("0x%x was closed while memory was registered".formatted(sessionHandle));
        }
        return handle;
    }

    /** {@link NetPlugin#deregisterMemory}. */
    void deregister(long sessionHandle, long memoryHandle) {
        RegisteredMemory memory = memories.remove(memoryHandle);
        if (memory == null) {
            return;
        }
        memory.close(); // first, whatever becomes of the rest: the caller takes the memory back
        Session session = sessions.find(sessionHandle);
        if (session != null) {
            session.registrations().remove(memoryHandle);
        }
    }

    /** Closes one, with requests outstanding or not; a stale handle is ignored. */
    void close(long handle) {
        Session session = sessions.remove(handle, Session::end);
        if (session == null) {
            return;
        }
        if (requests.isSeen()) {
            TraceLog.closed(handle);
        }
        Context context = contexts.find(session.context());
        if (context != null) {
            context.sessionHandles().remove(handle);
        }
        session.registrations().keySet().forEach(memories::remove);
        session.close();
    }

    /** A session's fields in a trace. */
    private static final class SessionFields {

        private SessionFields() {}

        static Fields of(@Nullable Session session, Context context, ConnectedPaths paths) {
            boolean sends = session instanceof SendSession;
            PathChannel first = paths.paths().getFirst();
            return Fields.of(
                    "kind",
                    sends ? "send" : "receive",
                    "connection",
                    ConnectionDigest.of(first, sends),
                    "communicator",
                    Long.toHexString(context.commId()),
                    "protocol",
                    paths.protocol(),
                    "peer",
                    first.peer(),
                    "links",
                    all(paths.paths(), path -> path.link().local().deviceName()),
                    "addresses",
                    all(
                            paths.paths(),
                            path -> path.link().local().address().address().getHostAddress()),
                    "qps",
                    all(
                            paths.paths(),
                            path -> "0x%06x".formatted(path.endpoint().number())));
        }

        private static String all(List<PathChannel> paths, Function<PathChannel, String> of) {
            return paths.stream().map(of).collect(Collectors.joining(","));
        }
    }
}
