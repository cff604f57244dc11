package trigon.transport.protocol;

import java.util.List;
import trigon.transport.path.PathChannel;
import trigon.transport.request.Requests;

/** Makes sending ends. */
public final class SendProtocols {

    private SendProtocols() {}

    /**
     * Over paths that both ends have in that order, all for the same protocol.
     *
     * @param resumable whether it may go on over others, where the protocol can
     */
    public static SendProtocol over(
            MessageProtocol protocol, List<PathChannel> paths, Requests requests, boolean resumable) {
        return switch (protocol) {
            case EAGER ->
                resumable
                        ? new EagerSender(paths.getFirst(), requests)
                        : EagerUncopiedSender.once(paths.getFirst(), requests);
            case RENDEZVOUS -> new RendezvousSender(paths, requests, OpenMessages.Handover.atFirst());
        };
    }
}
