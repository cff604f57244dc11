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
import trigon.transport.protocol.SendProtocol;
import trigon.transport.request.Requests;

/** The sending end. */
public final class SendSession extends Session {

    private SendProtocol protocol;

    /** Takes paths as {@link Session} does, and makes the protocol's end over them. */
    public SendSession(
            long context,
            List<PathChannel> paths,
            MessageProtocol kind,
            Requests requests,
            boolean resumable,
            BiConsumer<Session, SessionFailure> onFailureReported) {
        SendProtocol end = SendProtocol.over(kind, paths, requests, resumable);
        super(context, paths, end, requests, resumable, onFailureReported);
        protocol = end;
    }

    @Override
    void use(List<PathChannel> next, List<Link> over, Protocol by) {
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
        long admitted = admit();
        if (admitted <= 0) {
            return admitted;
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
        return failure != 0 ? tell() : NetPlugin.TRY_AGAIN;
    }
}
