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
    EAGER;

    /** The one for links of that kind. */
    static MessageProtocol on(LinkKind kind) {
        return switch (kind) {
            case RDMA -> RENDEZVOUS;
            case SOFTWARE -> EAGER;
        };
    }
}
