package trigon.transport.protocol;

import java.util.List;
import org.jspecify.annotations.Nullable;
import trigon.transport.path.PathChannel;
import trigon.transport.path.RegisteredMemory;
import trigon.transport.request.Requests;

/** A protocol's sending end. */
public sealed interface SendProtocol extends Protocol permits LaneSender, RendezvousSender {

    /**
     * Sends a message; size and memory have been checked.
     *
     * @param memory null only where the size is 0
     * @return the request, {@link #NO_ROOM}, {@link #NO_RECEIVE} or {@link #FAILED}
     */
    long isend(long address, int size, int tag, @Nullable RegisteredMemory memory);

    /**
     * Makes the end over paths that both ends have in that order, all for the same protocol.
     *
     * @param resumable whether it may go on over others
     */
    static SendProtocol over(MessageProtocol protocol, List<PathChannel> paths, Requests requests, boolean resumable) {
        return switch (protocol) {
            case EAGER -> LaneSender.eager(paths.getFirst(), requests, resumable);
            case RENDEZVOUS -> following(protocol, paths, requests, OpenMessages.Handover.atFirst());
        };
    }

    /** Makes the end that goes on with messages by that protocol. */
    static SendProtocol following(
            MessageProtocol protocol, List<PathChannel> paths, Requests requests, OpenMessages.Handover from) {
        return protocol == MessageProtocol.EAGER || Lane.fits(paths)
                ? LaneSender.following(protocol, paths.getFirst(), requests, from)
                : new RendezvousSender(paths, requests, from);
    }
}
