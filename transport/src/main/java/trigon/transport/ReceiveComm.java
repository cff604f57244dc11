package trigon.transport;

import org.jspecify.annotations.Nullable;

/** The receiving end of a connection. */
abstract sealed class ReceiveComm extends Comm permits RendezvousReceiveComm, EagerReceiveComm {

    ReceiveComm(Connection connection) {
        super(connection);
    }

    /** The one for the connection's protocol. */
    static ReceiveComm over(Connection connection) {
        return switch (connection.protocol()) {
            case RENDEZVOUS -> new RendezvousReceiveComm(connection);
            case EAGER -> new EagerReceiveComm(connection);
        };
    }

    /** {@link NetPlugin#irecv}; size and memory have been checked, and there is memory unless the size is 0. */
    abstract long irecv(long address, int size, int tag, @Nullable RegisteredMemory memory, boolean completionOptional);

    /**
     * {@link NetPlugin#iflush}: only host memory can be registered, and there a message is visible to everybody once
     * its completion is.
     */
    final long iflush() {
        return failure != 0 ? failure : NetPlugin.NOTHING_TO_FLUSH;
    }
}
