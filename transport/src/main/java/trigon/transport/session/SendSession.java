package trigon.transport.session;

import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import trigon.nccl.NetPlugin;
import trigon.transport.path.Link;
import trigon.transport.path.PathChannel;
import trigon.transport.path.RegisteredMemory;
import trigon.transport.protocol.MessageProtocol;
import trigon.transport.protocol.Protocol;
import trigon.transport.protocol.ResumableProtocol;
import trigon.transport.protocol.SendProtocol;
import trigon.transport.protocol.SendProtocols;
import trigon.transport.request.Requests;

/** The sending end. */
public final class SendSession extends Session {

    private SendProtocol protocol;

    private SendSession(
            long context,
            List<PathChannel> paths,
            SendProtocol protocol,
            Requests requests,
            boolean resumable,
            BiConsumer<Session, SessionFailure> onFailureReported) {
        super(context, paths, protocol, requests, resumable, onFailureReported);
        this.protocol = protocol;
    }

    /**
     * Over paths that both ends have in that order, all for that protocol.
     *
     * @param context NCCL's, by its handle
     * @param requests the session's own
     * @param resumable whether it may go on over other paths, where the protocol can
     * @param onFailureReported hears of it when NCCL learns that the session has failed; on the data path, so it
     *     returns at once
     */
    public static SendSession over(
            long context,
            List<PathChannel> paths,
            MessageProtocol protocol,
            Requests requests,
            boolean resumable,
            BiConsumer<Session, SessionFailure> onFailureReported) {
        SendProtocol sends = SendProtocols.over(protocol, paths, requests, resumable);
        return new SendSession(context, paths, sends, requests, resumable, onFailureReported);
    }

    @Override
    void use(List<PathChannel> next, List<Link> over, ResumableProtocol by) {
        protocol = (SendProtocol) by;
        super.use(next, over, by);
    }

    /** {@link NetPlugin#isend}; size and memory have been checked, and there is memory unless the size is 0. */
    public long isend(long address, int size, int tag, @Nullable RegisteredMemory memory) {
        if (!enter()) {
            return NetPlugin.TRY_AGAIN;
        }
        try {
            return isendInside(address, size, tag, memory);
        } finally {
            leave();
        }
    }

    private long isendInside(long address, int size, int tag, @Nullable RegisteredMemory memory) {
        if (failure != 0) {
            return tell();
        }
        if (lost) {
            failLost();
            return tell();
        }
        if (state() == SessionState.INTERRUPTED) {
            return NetPlugin.TRY_AGAIN;
        }
        long request = protocol.isend(address, size, tag, memory);
        return request > 0 ? begun(request) : notSent(request);
    }

    private long notSent(long why) {
        if (why == Protocol.FAILED) {
            failByProtocol();
            return tell();
        }
        progress();
        if (failure != 0) {
            return tell();
        }
        if (why == Protocol.NO_RECEIVE && state() != SessionState.INTERRUPTED && mayLetLibraryIn()) {
            protocol.letLibraryWait();
        }
        return NetPlugin.TRY_AGAIN;
    }
}
