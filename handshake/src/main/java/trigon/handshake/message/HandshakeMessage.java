package trigon.handshake.message;

import java.net.InetAddress;
import java.util.List;
import java.util.Optional;
import trigon.verbs.LinkKind;
import trigon.verbs.QueuePairEndpoint;

/** The messages of the two ends, in their order; see {@code HandshakeCodec} for the bytes. */
public sealed interface HandshakeMessage {

    /**
     * The connecting side begins.
     *
     * @param connection the listener's, from its handle
     * @param nonce random, so that no answer is good for it but a fresh one
     * @param clusterMark shows that the sender has the cluster key
     * @param fills whether both sides send fillers, so that frames of the full size are known to arrive
     * @param repeats whether the same offer has gone out over another TCP connection before, which may come later
     */
    record Hello(ConnectionId connection, OpaqueBytes nonce, OpaqueBytes clusterMark, boolean fills, boolean repeats)
            implements HandshakeMessage {}

    /**
     * The listening side proves that it knows the connection's secret.
     *
     * @param nonce random, so that no offer is good for it but a fresh one
     */
    record Challenge(OpaqueBytes nonce) implements HandshakeMessage {}

    /**
     * The connecting side's end of the link.
     *
     * @param connection the same as the hello's
     * @param node who connects
     * @param kind what is to carry the data
     * @param stripe which of the connection's queue pairs it is
     * @param endpoint the sending queue pair
     * @param clearToSend the ring into which the receiver writes what it has room for
     * @param maxMessageBytes the longest message that will be sent
     * @param resumeCounts if the connection goes on, after its former paths have failed; empty: it begins
     * @param listeners where the connecting side's process can be reached; none if that is of no use
     */
    record Offer(
            ConnectionId connection,
            NodeIdentity node,
            LinkKind kind,
            Stripe stripe,
            QueuePairEndpoint endpoint,
            RemoteMemory clearToSend,
            long maxMessageBytes,
            Optional<ResumeCounts> resumeCounts,
            List<LinkAddress> listeners)
            implements HandshakeMessage {

        public Offer {
            requirePositive(maxMessageBytes);
            listeners = List.copyOf(listeners);
            ListenHandle.requireFitting(listeners);
        }

        /** An offer for a connection that begins, and that ends with its paths. */
        public Offer(
                ConnectionId connection,
                NodeIdentity node,
                LinkKind kind,
                Stripe stripe,
                QueuePairEndpoint endpoint,
                RemoteMemory clearToSend,
                long maxMessageBytes) {
            this(connection, node, kind, stripe, endpoint, clearToSend, maxMessageBytes, Optional.empty(), List.of());
        }

        /** Returns whether the connecting side has that address, as far as it has said which it has. */
        public boolean isMadeAt(InetAddress address) {
            return listeners.isEmpty()
                    || listeners.stream().anyMatch(each -> each.address().equals(address));
        }
    }

    /**
     * The listening side's end of the link. Its queue pair can receive when this is sent.
     *
     * @param node the listening node's name, for logs; as in {@link NodeIdentity}
     * @param kind what carries the data; the same as the offer's
     * @param endpoint the receiving queue pair
     * @param memory the receiver's memory; {@link RemoteMemory#NONE} where it offers none
     * @param maxMessageBytes the longest message it takes
     * @param speedMbps rate of its link in Mbit/s, as far as it is known; 1 or more
     * @param failover whether both ends can go on over other paths; a connection of which one cannot ends with its path
     * @param received messages that it has; 0 for a connection that begins
     */
    record Answer(
            String node,
            LinkKind kind,
            QueuePairEndpoint endpoint,
            RemoteMemory memory,
            long maxMessageBytes,
            int speedMbps,
            boolean failover,
            long received)
            implements HandshakeMessage {

        public Answer {
            NodeIdentity.requireName(node);
            requirePositive(maxMessageBytes);
            if (received < 0) {
                throw new IllegalArgumentException(received + " messages received");
            }
            if (speedMbps < 1) {
                throw new IllegalArgumentException("a link of " + speedMbps + " Mbit/s");
            }
        }
    }

    /**
     * From the connecting side: my queue pair is up as well. From the listening side: noted, the link is established.
     *
     * @param stripes how many queue pairs the connection has, of those that were offered; 1 to {@link Stripe#MAX}
     */
    record Ready(int stripes) implements HandshakeMessage {

        public Ready {
            Stripe.requireCount(stripes);
        }
    }

    /**
     * From either side, over and over, once the link is established: I live. And before the offer, once from each side:
     * behind fillers, and as the answer to that.
     *
     * @param count how often this side has said so, with this time; what was recorded is no sign of life again
     */
    record Alive(long count) implements HandshakeMessage {}

    /**
     * From either side of an established link: the key of the sender's job, which the peer's is, too.
     *
     * @param count how often this side has said one; an earlier one comes too late
     * @param hidden as {@link HandshakeProofs} hides it
     */
    record JobKey(long count, OpaqueBytes hidden) implements HandshakeMessage {}

    /**
     * From either side of an established link: I let go.
     *
     * @param failure why; empty: in good order
     */
    record Farewell(Optional<EndFailure> failure) implements HandshakeMessage {}

    /** From either side: this stream is over, as the end of a TCP connection says of all of its streams. */
    record Closed() implements HandshakeMessage {}

    /**
     * No. The connection ends.
     *
     * @param reason for the peer's log; control characters are replaced, and it is cut to {@link #MAX_REASON_CHARS}
     */
    record Reject(String reason) implements HandshakeMessage {

        /** The longest reason; more is cut off. */
        public static final int MAX_REASON_CHARS = 1000;

        public Reject {
            reason = EndFailure.printable(reason, MAX_REASON_CHARS);
        }
    }

    /**
     * From the listening side: not now, since it has no path to the peer at this moment. The connection ends; another
     * one may do better.
     *
     * @param reason as that of a {@link Reject}
     */
    record NotNow(String reason) implements HandshakeMessage {

        public NotNow {
            reason = EndFailure.printable(reason, Reject.MAX_REASON_CHARS);
        }
    }

    /**
     * From either side, ahead of its first proof: nothing. So many of them fill frames of the network's full size, so
     * that an answer to what follows says that such frames arrive.
     */
    record Filler() implements HandshakeMessage {

        /** As many as either side sends ahead of its first proof. */
        public static final int MAX = 8;

        /** Those as frames, some 32 KiB: three of the network's at least, also of the longest that Ethernet has. */
        public static byte[] frames() {
            byte[] one = HandshakeCodec.encode(0, new Filler());
            byte[] all = new byte[MAX * one.length];
            for (int index = 0; index < MAX; index++) {
                System.arraycopy(one, 0, all, index * one.length, one.length);
            }
            return all;
        }
    }

    private static void requirePositive(long maxMessageBytes) {
        if (maxMessageBytes <= 0) {
            throw new IllegalArgumentException("longest message of " + maxMessageBytes + " bytes");
        }
    }
}
