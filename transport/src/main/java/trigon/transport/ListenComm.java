package trigon.transport;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.handshake.ConnectionId;
import trigon.handshake.ConnectionSecret;
import trigon.handshake.Established;
import trigon.handshake.HandshakeMessage.Answer;
import trigon.handshake.HandshakeMessage.Offer;
import trigon.handshake.IncomingOffer;
import trigon.handshake.OfferHandler;
import trigon.handshake.RemoteMemory;
import trigon.handshake.Stripe;
import trigon.verbs.LinkKind;

/**
 * Waits for one peer. Offers arrive on the handshake's event loop, the queue pair is made on a control thread, and NCCL's
 * thread only looks whether there is a connection.
 */
final class ListenComm implements OfferHandler {

    private static final Logger log = LoggerFactory.getLogger(ListenComm.class);

    private final ConnectionId connectionId = ConnectionId.random();
    private final ConnectionSecret secret = ConnectionSecret.random();
    private final long context;
    private final int trafficClass;
    private final Links links;
    private final ConnectionFactory connections;
    private final Executor control;

    // of the attempt that the peer makes now, by the queue pair's index
    private final SortedMap<Integer, Connection> stripes = new TreeMap<>();
    private long attempt;
    private @Nullable List<Connection> established;
    private boolean closed;
    private int unaskedLooks;

    ListenComm(long context, int trafficClass, Links links, ConnectionFactory connections, Executor control) {
        this.context = context;
        this.trafficClass = trafficClass;
        this.links = links;
        this.connections = connections;
        this.control = control;
    }

    ConnectionId connectionId() {
        return connectionId;
    }

    /** What the peer has to know, from its copy of the handle. */
    ConnectionSecret secret() {
        return secret;
    }

    /** The context it was opened in. */
    long context() {
        return context;
    }

    @Override
    public CompletionStage<Answer> onOffer(IncomingOffer incoming) {
        List<Connection> former = begin(incoming.offer().stripe().attempt());
        if (!former.isEmpty()) {
            control.execute(() -> former.forEach(Connection::close));
        }
        return CompletableFuture.supplyAsync(() -> answer(incoming), control);
    }

    /** What an attempt that was given up has left. */
    private synchronized List<Connection> begin(long newAttempt) {
        if (newAttempt == attempt) {
            return List.of();
        }
        attempt = newAttempt;
        List<Connection> former = List.copyOf(stripes.values());
        stripes.clear();
        return former;
    }

    private Answer answer(IncomingOffer incoming) {
        Offer offer = incoming.offer();
        Link link = link(incoming.local().getAddress(), offer.kind());
        Connection connection = connections.open(
                link,
                Connection.Role.RECEIVER,
                MessageProtocol.on(offer.kind(), offer.stripe().isOneOfSeveral()));
        try (Unwinding unwinding = new Unwinding()) {
            unwinding.onFailure(connection::close);
            connections.connect(
                    connection,
                    offer.endpoint(),
                    incoming.key(),
                    offer.clearToSend(),
                    offer.maxMessageBytes(),
                    trafficClass);
            unwinding.succeeded();
        }
        var _ = incoming.result()
                .whenCompleteAsync((established, _) -> finish(connection, incoming, established), control);
        return new Answer(
                offer.kind(),
                connection.endpoint(),
                RemoteMemory.NONE,
                connection.maxMessageBytes(),
                Math.max(1, link.local().speedMbps()));
    }

    private Link link(InetAddress local, LinkKind kind) {
        for (Link link : links.all()) {
            if (link.local().kind() == kind && link.local().address().address().equals(local)) {
                return link;
            }
        }
        throw new IllegalArgumentException(
                "%s has no %s link here; see that TRIGON_LINKS and the devices agree on both nodes"
                        .formatted(local.getHostAddress(), kind));
    }

    /** The handshake is over; without {@code link} it failed. */
    private void finish(Connection connection, IncomingOffer incoming, @Nullable Established link) {
        if (link != null) {
            connections.watch(connection, link, incoming.offer().node().name());
            connections.awaitOpen(connection);
        }
        if (link != null && establish(connection, link)) {
            log.info(
                    "receives from {} {} over {}",
                    incoming.offer().node().name(),
                    incoming.remote().getAddress().getHostAddress(),
                    connection.link());
        } else {
            connection.close();
        }
    }

    /** The connection is there when all of its queue pairs are. False if this one came too late. */
    private synchronized boolean establish(Connection connection, Established link) {
        Stripe stripe = link.offer().stripe();
        if (closed || established != null || stripe.attempt() != attempt) {
            return false;
        }
        stripes.put(stripe.index(), connection);
        if (stripes.size() == link.stripes()) {
            established = List.copyOf(stripes.values());
            stripes.clear();
        }
        return true;
    }

    /** The connection, which may be several stripes, once; null as long as there is none. */
    synchronized @Nullable List<Connection> take() {
        unaskedLooks = 0;
        List<Connection> connection = established;
        if (connection != null) {
            established = null;
            // one listen comm gives one receive comm
            closed = true;
        }
        return connection;
    }

    /** How often this was called since there is a connection and {@link #take} was called last; 0 if there is none. */
    synchronized int unaskedLooks() {
        if (established != null) {
            unaskedLooks++;
        }
        return unaskedLooks;
    }

    /** Accepts nothing any more, and closes what came too late. Closing twice is allowed. */
    void close() {
        List<Connection> late = new ArrayList<>();
        synchronized (this) {
            closed = true;
            late.addAll(stripes.values());
            stripes.clear();
            if (established != null) {
                late.addAll(established);
                established = null;
            }
        }
        late.forEach(Connection::close);
    }

    /** For the log: what it holds. */
    @Override
    public synchronized String toString() {
        return established == null ? "a listen comm" : established.getFirst().toString();
    }
}
