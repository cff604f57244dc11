package trigon.transport.protocol;

import java.util.List;
import org.jspecify.annotations.Nullable;
import trigon.transport.path.PathChannel;
import trigon.transport.path.RegisteredMemory;
import trigon.transport.request.Requests;

/** The sending end's part. */
public sealed interface SendProtocol extends Protocol permits EagerSender, EagerOnceSender, RendezvousSender {

    /**
     * Sends a message; size and memory have been checked.
     *
     * @param memory null only where the size is 0
     * @return the request, {@link #NO_ROOM}, {@link #NO_RECEIVE} or {@link #FAILED}
     */
    long isend(long address, int size, int tag, @Nullable RegisteredMemory memory);

    /**
     * After {@link #NO_RECEIVE}: the entry library may answer for the message until the receiver has said where it may
     * go.
     */
    void letLibraryWait();

    /**
     * Over paths that both ends have in that order, all for the same protocol.
     *
     * @param resumable whether it may go on over others, where the protocol can
     */
    static SendProtocol over(MessageProtocol protocol, List<PathChannel> paths, Requests requests, boolean resumable) {
        return switch (protocol) {
            case EAGER ->
                resumable
                        ? new EagerSender(paths.getFirst(), requests)
                        : new EagerOnceSender(paths.getFirst(), requests);
            case RENDEZVOUS -> new RendezvousSender(paths, requests);
        };
    }
}
