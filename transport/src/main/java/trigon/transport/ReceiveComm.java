package trigon.transport;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** The receiving end of a connection. */
abstract sealed class ReceiveComm extends Comm permits RendezvousReceiveComm, EagerReceiveComm, StripedReceiveComm {

    ReceiveComm(List<Connection> connections) {
        super(connections);
    }

    /** The one for the connections' protocol; there are several only where that is {@link MessageProtocol#STRIPED}. */
    static ReceiveComm over(List<Connection> connections) {
        Connection first = connections.getFirst();
        return switch (first.protocol()) {
            case RENDEZVOUS -> new RendezvousReceiveComm(first);
            case EAGER -> new EagerReceiveComm(first);
            case STRIPED -> new StripedReceiveComm(connections);
        };
    }

    /** {@link NetPlugin#irecv}; size and memory have been checked, and there is memory unless the size is 0. */
    abstract long irecv(long address, int size, int tag, @Nullable RegisteredMemory memory);

    /**
     * {@link NetPlugin#iflush}: only host memory can be registered, and there a message is visible to everybody once
     * its completion is.
     */
    final long iflush() {
        return failure != 0 ? failure : NetPlugin.NOTHING_TO_FLUSH;
    }
}
