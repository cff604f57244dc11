package trigon.transport;

import trigon.verbs.LinkKind;

/** How a message gets from an isend to its irecv. Both ends use the same, as their links are of the same kind. */
enum MessageProtocol {

    /**
     * The receiver says where the message may go, by a {@link ClearToSend} entry; then it goes there by RDMA WRITE. An
     * RDMA NIC that has to hold back a message without a receive answers "not ready", and the sender tries again after
     * a pause: so none is sent before its receive is there.
     */
    RENDEZVOUS,

    /**
     * A message is a SEND, and the receiver's device holds it back until there is a receive. On software links TCP does
     * so, and at no cost; a clear-to-send would cost a message more, and its way.
     */
    EAGER,

    /** As {@link #RENDEZVOUS}, over several queue pairs, on links of any kind: a long message goes in parts. */
    STRIPED;

    /**
     * The one for links of that kind.
     *
     * @param severalQueuePairs whether the connection was offered with several, however many came up
     */
    static MessageProtocol on(LinkKind kind, boolean severalQueuePairs) {
        if (severalQueuePairs) {
            return STRIPED;
        }
        return switch (kind) {
            case RDMA -> RENDEZVOUS;
            case SOFTWARE -> EAGER;
        };
    }

    /** Size of an entry that says where a message may go; 0 if there are none. */
    int clearToSendBytes() {
        return switch (this) {
            case RENDEZVOUS -> ClearToSend.STRIDE;
            case EAGER -> 0;
            case STRIPED -> StripedClearToSend.STRIDE;
        };
    }
}
