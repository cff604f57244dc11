package trigon.transport;

/** The sending end of a connection. */
abstract sealed class SendComm extends Comm permits RendezvousSendComm, EagerSendComm {

    SendComm(Connection connection) {
        super(connection);
    }

    /** The one for the connection's protocol. */
    static SendComm over(Connection connection) {
        return switch (connection.protocol()) {
            case RENDEZVOUS -> new RendezvousSendComm(connection);
            case EAGER -> new EagerSendComm(connection);
        };
    }

    /** {@link NetPlugin#isend}; size and memory have been checked. */
    abstract long isend(long address, int size, int tag, int localKey);
}
