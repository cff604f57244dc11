package trigon.transport.protocol;

import trigon.nccl.NetPlugin;
import trigon.routing.Path;
import trigon.transport.path.PathCapacity;
import trigon.transport.path.PathRole;
import trigon.transport.request.RequestRow;
import trigon.verbs.LinkKind;

/**
 * Protocol by which a message gets from an isend to its irecv. Both ends use the same: at first the one for the kind of
 * their links, {@link #EAGER} while it goes through relays.
 */
public enum MessageProtocol {

    /**
     * The receiver says where the message may go, by a {@link ClearToSend} entry; then it goes there by RDMA WRITE, a
     * long one in parts where there are several paths. An RDMA NIC that has to hold back a message without a receive
     * answers "not ready", and the sender tries again after a pause: so none is sent before its receive is there.
     */
    RENDEZVOUS,

    /**
     * A message is a SEND, and the receiver's device holds it back until there is a receive. On software links TCP does
     * so, and at no cost; a clear-to-send would cost a message more, and its way.
     */
    EAGER;

    /** Room for the requests that NCCL has under way, and for as many messages that are sent again. */
    private static final int EAGER_SENDS = 2 * RequestRow.REQUESTS;

    /**
     * Bytes that a port carries in one message at the least: that of SoftRoCE. A peer's port may carry less than the
     * own one, and the send queue is made before the peer is known.
     */
    private static final long MIN_MAX_MESSAGE_BYTES = 8L << 20;

    /** Every so many clear-to-send entries written, one is signalled, which frees the send queue up to it. */
    static final int SIGNAL_INTERVAL = 16;

    /** Send queue entries of a receiver: two intervals of unsignalled writes, and all requests of one ring. */
    static final int ENTRY_WRITES = RequestRow.REQUESTS + 2 * SIGNAL_INTERVAL;

    /** Receive work requests that are posted with one call; so many of them may be for requests to come. */
    static final int RECEIVES_AT_ONCE = 16;

    private static final int EMPTY_RECEIVES = RequestRow.REQUESTS + RECEIVES_AT_ONCE;

    /** Shorter messages go over one path: what they would gain by others does not make up for more work requests. */
    public static final int MIN_DIVIDED_BYTES = 32 << 10;

    /**
     * The one for links of that kind.
     *
     * @param severalQueuePairs whether the connection was offered with several, however many came up
     */
    public static MessageProtocol on(LinkKind kind, boolean severalQueuePairs) {
        return kind == LinkKind.SOFTWARE && !severalQueuePairs ? EAGER : RENDEZVOUS;
    }

    /**
     * The one by which a session's messages go over that path, if this was its first: through relays nothing goes by
     * RDMA WRITE, since the relay could then write, too.
     */
    public MessageProtocol over(Path path) {
        return path.isRelayed() ? EAGER : this;
    }

    /**
     * The one by which messages go over a path that the peer offers, if this was the session's first.
     *
     * @param kind of the path's link
     * @param sends whether the peer wants them by SEND
     * @throws IllegalArgumentException if they cannot go so
     */
    public MessageProtocol offered(LinkKind kind, boolean sends) {
        MessageProtocol offered = sends ? EAGER : RENDEZVOUS;
        boolean fits = sends ? kind == LinkKind.SOFTWARE : this == RENDEZVOUS;
        if (!fits) {
            throw new IllegalArgumentException(
                    "the connection's messages do not go by %s over %s".formatted(offered, kind));
        }
        return offered;
    }

    /** Tells whether a session whose first it was may take that path: a NIC does not hold back what is sent by SEND. */
    public boolean mayTake(Path path) {
        return path.kind() == LinkKind.SOFTWARE || over(path) == RENDEZVOUS;
    }

    /**
     * Returns what a path has to have for it.
     *
     * @param ownMaxMessageBytes what the own port carries in one message; the peer's may carry less
     */
    public PathCapacity capacity(PathRole role, long ownMaxMessageBytes) {
        return switch (this) {
            case EAGER ->
                role == PathRole.SENDER
                        ? new PathCapacity(EAGER_SENDS, 1, 0, 0)
                        : new PathCapacity(1, RequestRow.REQUESTS, 0, 0);
            case RENDEZVOUS ->
                role == PathRole.SENDER
                        ? new PathCapacity(sendQueueDepth(ownMaxMessageBytes), 1, 0, ClearToSend.RING_BYTES)
                        : new PathCapacity(ENTRY_WRITES, EMPTY_RECEIVES, ClearToSend.BYTES, ClearToSend.RING_BYTES);
        };
    }

    /**
     * Makes sure that a message of the greatest length can be sent.
     *
     * @param sendQueueDepth of the path
     * @param maxMessageBytes what both ports carry in one message
     * @throws IllegalArgumentException if it could never be
     */
    public void requireFitting(PathRole role, int sendQueueDepth, long maxMessageBytes) {
        boolean fits = switch (this) {
            case RENDEZVOUS -> role == PathRole.RECEIVER || fits(sendQueueDepth, maxMessageBytes);
            case EAGER -> maxMessageBytes >= NetPlugin.MAX_MESSAGE_BYTES;
        };
        if (!fits) {
            throw new IllegalArgumentException(
                    "the ports take messages of %d bytes at most, too short for a send queue of"
                                    .formatted(maxMessageBytes)
                            + " %d; see ibv_devinfo -v (max_msg_sz) on both nodes".formatted(sendQueueDepth));
        }
    }

    /** Send queue entries to ask for on a port, so that one message of the greatest length fits whatever the peer's. */
    private static int sendQueueDepth(long ownMaxMessageBytes) {
        long longest = Math.min(ownMaxMessageBytes, MIN_MAX_MESSAGE_BYTES);
        long writes = Math.ceilDiv(NetPlugin.MAX_MESSAGE_BYTES, longest);
        return Math.toIntExact(Math.max(writes + RequestRow.REQUESTS, 2L * RequestRow.REQUESTS));
    }

    /** Tells whether a message of the greatest length fits a send queue; it could never be sent otherwise. */
    private static boolean fits(int sendQueueDepth, long maxMessageBytes) {
        return Math.ceilDiv(NetPlugin.MAX_MESSAGE_BYTES, maxMessageBytes) <= sendQueueDepth;
    }
}
