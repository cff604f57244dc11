package trigon.transport.protocol;

import java.util.List;
import org.jspecify.annotations.Nullable;
import trigon.transport.path.PathChannel;
import trigon.transport.path.RegisteredMemory;
import trigon.transport.request.Requests;

/** A protocol's sending end. */
public sealed interface SendProtocol extends Protocol permits EagerSendingEnd, LaneSender, RendezvousSender {

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
            case EAGER ->
                resumable
                        ? new EagerSender(paths.getFirst(), requests)
                        : EagerUncopiedSender.once(paths.getFirst(), requests);
            case RENDEZVOUS -> rendezvous(paths, requests, OpenMessages.Handover.atFirst());
        };
    }

    /** Makes the end that goes on with messages by {@link MessageProtocol#RENDEZVOUS}, in C where that reaches. */
    static SendProtocol rendezvous(List<PathChannel> paths, Requests requests, OpenMessages.Handover from) {
        return Lane.of(paths, requests, true, from.begun(), from.complete())
                .<SendProtocol>map(lane -> new LaneSender(paths.getFirst(), lane, requests, from))
                .orElseGet(() -> new RendezvousSender(paths, requests, from));
    }
}
