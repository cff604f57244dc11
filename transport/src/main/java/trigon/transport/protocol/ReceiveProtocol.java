package trigon.transport.protocol;

import java.util.List;
import org.jspecify.annotations.Nullable;
import trigon.transport.path.PathChannel;
import trigon.transport.path.RegisteredMemory;
import trigon.transport.request.Requests;

/** A protocol's receiving end. */
public sealed interface ReceiveProtocol extends Protocol permits LaneReceiver, RendezvousReceiver {

    /**
     * Receives the next message; size and memory have been checked.
     *
     * @param memory null only where the size is 0
     * @return the request, {@link #NO_ROOM} or {@link #FAILED}
     */
    long irecv(long address, int size, int tag, @Nullable RegisteredMemory memory);

    /** Makes the end over paths that both ends have in that order, all for the same protocol. */
    static ReceiveProtocol over(MessageProtocol protocol, List<PathChannel> paths, Requests requests) {
        return following(protocol, paths, requests, OpenMessages.Handover.atFirst());
    }

    /** Makes the end that goes on with messages by that protocol. */
    static ReceiveProtocol following(
            MessageProtocol protocol, List<PathChannel> paths, Requests requests, OpenMessages.Handover from) {
        return protocol == MessageProtocol.EAGER || Lane.fits(paths)
                ? new LaneReceiver(protocol, paths.getFirst(), requests, from)
                : new RendezvousReceiver(paths, requests, from);
    }
}
