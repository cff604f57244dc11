package trigon.transport;

import java.util.List;
import org.jspecify.annotations.Nullable;
import trigon.verbs.LinkKind;

/** The sending end of a connection. */
abstract sealed class SendComm extends Comm permits RendezvousSendComm, EagerSendComm, StripedSendComm {

    /** Whether what its peer writes is in memory without a poll: a NIC puts it there, a software device does when polled. */
    private final boolean writtenByNic;

    SendComm(List<Connection> connections) {
        super(connections);
        writtenByNic = link.local().kind() == LinkKind.RDMA;
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

    /**
     * The next message waits for its receive: until a word of the clear-to-send ring, which the peer writes over the first
     * connection, has a value. What isend returns.
     */
    final long waitFor(long address, long value) {
        if (lost) {
            return failPeerGone();
        }
        progress();
        if (failure != 0) {
            return failure;
        }
        if (writtenByNic) {
            CompletionBoard.await(row, handle, address, value);
        }
        return NetPlugin.TRY_AGAIN;
    }

    /** {@link NetPlugin#isend}; size and memory have been checked, and there is memory unless the size is 0. */
    abstract long isend(long address, int size, int tag, @Nullable RegisteredMemory memory);
}
