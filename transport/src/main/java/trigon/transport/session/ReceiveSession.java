package trigon.transport.session;

import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import trigon.nccl.NetPlugin;
import trigon.transport.path.PathChannel;
import trigon.transport.path.RegisteredMemory;
import trigon.transport.protocol.MessageProtocol;
import trigon.transport.protocol.Protocol;
import trigon.transport.protocol.ReceiveProtocol;
import trigon.transport.request.Requests;

/** The receiving end. */
public final class ReceiveSession extends Session {

    private final ReceiveProtocol protocol;

    private ReceiveSession(
            long context,
            List<PathChannel> paths,
            ReceiveProtocol protocol,
            Requests requests,
            boolean resumable,
            BiConsumer<Session, SessionFailure> onFailureReported) {
        super(context, paths, protocol, requests, resumable, onFailureReported);
        this.protocol = protocol;
    }

    /** As {@link SendSession#over}. */
    public static ReceiveSession over(
            long context,
            List<PathChannel> paths,
            MessageProtocol protocol,
            Requests requests,
            boolean resumable,
            BiConsumer<Session, SessionFailure> onFailureReported) {
        ReceiveProtocol receives = ReceiveProtocol.over(protocol, paths, requests);
        return new ReceiveSession(context, paths, receives, requests, resumable, onFailureReported);
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
        if (failure != 0) {
            return tell();
        }
        if (lost) {
            failLost(); // SoftRoCE would keep the request for ever
            return tell();
        }
        if (state() == SessionState.INTERRUPTED) {
            return NetPlugin.TRY_AGAIN;
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
     * {@link NetPlugin#iflush}: only host memory can be registered, and there a message is visible to everybody once
     * its completion is.
     */
    public long iflush() {
        return failure != 0 ? tell() : NetPlugin.NOTHING_TO_FLUSH;
    }
}
