package trigon.transport.session;

import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import trigon.nccl.NcclResult;
import trigon.nccl.NetPlugin;
import trigon.transport.path.Link;
import trigon.transport.path.PathChannel;
import trigon.transport.path.RegisteredMemory;
import trigon.transport.protocol.MessageProtocol;
import trigon.transport.protocol.Protocol;
import trigon.transport.protocol.ReceiveProtocol;
import trigon.transport.request.Requests;

/** The receiving end. */
public final class ReceiveSession extends Session {

    private ReceiveProtocol protocol;
    private volatile @Nullable FlushQueue flushes; // null while all its memory is the host's

    /** Takes paths as {@link Session} does, and makes the protocol's end over them. */
    public ReceiveSession(
            long context,
            List<PathChannel> paths,
            MessageProtocol kind,
            Requests requests,
            boolean resumable,
            BiConsumer<Session, SessionFailure> onFailureReported) {
        ReceiveProtocol end = ReceiveProtocol.over(kind, paths, requests);
        super(context, paths, end, requests, resumable, onFailureReported);
        protocol = end;
    }

    @Override
    void use(List<PathChannel> next, List<Link> over, Protocol by) {
        protocol = (ReceiveProtocol) by;
        super.use(next, over, by);
    }

    /** {@link NetPlugin#irecv}; size and memory have been checked, and there is memory unless the size is 0. */
    public long irecv(long address, int size, int tag, @Nullable RegisteredMemory memory) {
        if (!enter()) {
            return NetPlugin.TRY_AGAIN;
        }
        try {
            return irecvInside(address, size, tag, memory);
        } finally {
            leave();
        }
    }

    private long irecvInside(long address, int size, int tag, @Nullable RegisteredMemory memory) {
        long admitted = admit();
        if (admitted <= 0) {
            return admitted;
        }
        long request = protocol.irecv(address, size, tag, memory);
        if (request == Protocol.NO_ROOM) {
            progress();
            if (failure != 0) {
                return tell();
            }
            request = protocol.irecv(address, size, tag, memory);
        }
        if (request == Protocol.FAILED) {
            failByProtocol();
            return tell();
        }
        return request > 0 ? begun(request) : NetPlugin.TRY_AGAIN;
    }

    /**
     * {@link NetPlugin#iflush}, which {@link #test} posts. Host memory needs none: there a message is visible to
     * everybody once its completion is.
     *
     * @param memory what the message has come to; null if it was empty
     */
    public long iflush(long address, @Nullable RegisteredMemory memory) {
        if (failure != 0) {
            return tell();
        }
        if (memory == null || !memory.isOfGpu()) {
            return NetPlugin.NOTHING_TO_FLUSH;
        }
        FlushQueue known = flushes;
        if (known == null) {
            return INVALID_ARGUMENT; // it was registered for another session
        }
        long request = known.begin(memory, address);
        // NCCL has no more requests of a comm than there is room for
        return request == 0 ? -NcclResult.INTERNAL_ERROR.code() : request;
    }

    @Override
    long testOther(long request) {
        FlushQueue known = flushes;
        if (known == null || !known.has(request)) {
            return INVALID_ARGUMENT;
        }
        if (failure != 0) {
            return tell();
        }
        boolean done = known.progress(request);
        String why = known.failure();
        if (why != null) {
            fail(paths[0], NcclResult.SYSTEM_ERROR, why);
            return tell();
        }
        if (!done && lost && known.isWaiting()) {
            failLost(); // there is nothing to wait for any more
            return tell();
        }
        return done ? 0 : NetPlugin.NOT_DONE;
    }

    /**
     * Memory of a GPU is registered: what comes can be flushed from now on. May block; not beside a move.
     *
     * @param repairs by what flushes go on when a port is down
     * @throws trigon.verbs.VerbsException if a device refuses
     */
    public void openFlushes(FlushQueue.Repairs repairs) {
        if (flushes == null) {
            FlushQueue opened = new FlushQueue(requests, registrations()::get, repairs);
            opened.use(List.of(links()));
            flushes = opened;
        }
    }

    @Override
    void moveFlushes(List<Link> links) {
        FlushQueue known = flushes;
        if (known != null) {
            known.use(links);
        }
    }

    @Override
    public void close() {
        FlushQueue known = flushes;
        if (known != null) {
            known.close();
        }
        super.close();
    }
}
