package trigon.transport;

import java.util.List;
import org.jspecify.annotations.Nullable;
import trigon.verbs.LinkKind;

/** The sending end of a connection. */
abstract sealed class SendComm extends Comm permits RendezvousSendComm, EagerSendComm, StripedSendComm {

    SendComm(List<Connection> connections) {
        super(connections);
    }

    /** The one for the connections' protocol; there are several only where that is {@link MessageProtocol#STRIPED}. */
    static SendComm over(List<Connection> connections) {
        Connection first = connections.getFirst();
        return switch (first.protocol()) {
            case RENDEZVOUS -> new RendezvousSendComm(first);
            case EAGER -> new EagerSendComm(first);
            case STRIPED -> new StripedSendComm(connections);
        };
    }

    /** Whether clear-to-send entries are there without a poll; the receiver writes them over its first connection. */
    final boolean isWrittenByNic() {
        return link.local().kind() == LinkKind.RDMA;
    }

    /** {@link NetPlugin#isend}; size and memory have been checked, and there is memory unless the size is 0. */
    abstract long isend(long address, int size, int tag, @Nullable RegisteredMemory memory);
}
