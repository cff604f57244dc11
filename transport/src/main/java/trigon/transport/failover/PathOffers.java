package trigon.transport.failover;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import trigon.handshake.Established;
import trigon.handshake.IncomingOffer;
import trigon.handshake.OutgoingOffer;
import trigon.handshake.message.EndFailure;
import trigon.handshake.message.HandshakeMessage.Answer;
import trigon.handshake.message.HandshakeMessage.Offer;
import trigon.handshake.message.NodeIdentity;
import trigon.handshake.message.ResumeCounts;
import trigon.handshake.message.Stripe;
import trigon.routing.Path;
import trigon.system.NanoClock;
import trigon.system.RareMessage;
import trigon.transport.Unwinding;
import trigon.transport.connect.Counterpart;
import trigon.transport.connect.LocalSide;
import trigon.transport.connect.PathFactory;
import trigon.transport.connect.PeerEnd;
import trigon.transport.path.DataPathProbe;
import trigon.transport.path.Link;
import trigon.transport.path.Links;
import trigon.transport.path.PathChannel;
import trigon.transport.path.PathRole;
import trigon.transport.protocol.MessageProtocol;
import trigon.transport.session.Resumption;
import trigon.verbs.LinkKind;

/**
 * Brings up new queue pairs for a connection: as many as it had, each by a handshake of its own, over the paths that
 * are left. Thread-safe; on control threads.
 */
final class PathOffers {

    /** The word to a peer on a path that nobody uses here. */
    static final EndFailure UNUSED = new EndFailure(EndFailure.Scope.PATH, "the other end could not move to this path");

    private static final Logger log = LoggerFactory.getLogger(PathOffers.class);

    private final LocalSide side;
    private final Links links;
    private final PathFactory factory;

    /** The sender, which has other memory, does not hear why. */
    private final RareMessage refusals = new RareMessage(log, Level.WARN, NanoClock.SYSTEM);

    /** By what the process brings into its connections. */
    PathOffers(LocalSide side) {
        this.side = side;
        links = side.links();
        factory = side.factory();
    }

    /** Opens a queue pair over a path, and begins the handshake that offers it. */
    OfferAttempt.Pending open(
            Counterpart peer, MessageProtocol protocol, Path over, Stripe stripe, ResumeCounts counts) {
        InetAddress local = over.local().bindAddress();
        InetSocketAddress remote =
                new InetSocketAddress(over.remote().address(), over.remote().tcpPort());
        boolean narrow = side.client().isNarrow(local, remote);
        Link link = links.of(over.local());
        link.requireAnswer();
        PathChannel path = factory.open(link, PathRole.SENDER, protocol, narrow);
        try (Unwinding unwinding = new Unwinding()) {
            unwinding.onFailure(path::close);
            path.counters().noteRelays(over.relays());
            Offer offer = new Offer(
                    peer.connection(),
                    side.self(),
                    over.kind(),
                    stripe,
                    path.endpoint(),
                    path.forPeer(),
                    path.maxMessageBytes(),
                    Optional.of(counts),
                    side.fittingAddresses());
            OutgoingOffer offered = side.client().connect(local, remote, peer.secret(), offer);
            unwinding.succeeded();
            return new OfferAttempt.Pending(over, path, offered);
        }
    }

    /** Connects a queue pair to its peer's, which has answered. Returns what it has to prove, if there is anything. */
    Optional<DataPathProbe> connect(OfferAttempt.Pending answered, MessageProtocol protocol, Counterpart peer) {
        Answer answer = answered.offer().answer().join();
        PeerEnd end = new PeerEnd(answer.endpoint(), answer.memory(), answer.maxMessageBytes(), answer.speedMbps());
        factory.connect(
                answered.path(),
                PathRole.SENDER,
                protocol,
                end,
                answered.offer().key(),
                peer.trafficClass());
        return DataPathProbe.begin(answered.path(), answered.over(), side.client());
    }

    /** {@link PathFactory#nextAttempt}. */
    long nextAttempt() {
        return factory.nextAttempt();
    }

    NodeIdentity self() {
        return side.self();
    }

    /**
     * This end of a queue pair that the peer has offered, connected to its end.
     *
     * @throws trigon.verbs.VerbsException if the device refuses
     * @throws IllegalArgumentException if the address has no such link, or RDMA is down there: the offer came by
     *     TCP, which may get through all the same; or if the session takes no such path. The peer may offer others
     */
    PathChannel accept(Counterpart peer, Resumption session, IncomingOffer incoming) {
        Offer offer = incoming.offer();
        MessageProtocol protocol = session.offered(offer);
        Link link = link(incoming.local().getAddress(), offer.kind());
        if (offer.kind() != LinkKind.RDMA && session.isPinned()) { // only this end may have such memory
            String why = "memory of a GPU cannot go over " + link;
            refusals.log("%s offers another path, which is refused: %s".formatted(peer.name(), why));
            throw new IllegalArgumentException(why);
        }
        if (offer.kind() == LinkKind.RDMA && !link.isUp()) {
            throw new IllegalArgumentException(link + " is down");
        }
        link.requireAnswer();
        PathChannel path = factory.open(link, PathRole.RECEIVER, protocol, false);
        try (Unwinding unwinding = new Unwinding()) {
            unwinding.onFailure(path::close);
            PeerEnd end = new PeerEnd(
                    offer.endpoint(),
                    offer.clearToSend(),
                    offer.maxMessageBytes(),
                    link.local().assumedMbps());
            factory.connect(path, PathRole.RECEIVER, protocol, end, incoming.key(), peer.trafficClass());
            unwinding.succeeded();
        }
        return path;
    }

    private Link link(InetAddress local, LinkKind kind) {
        return links.all().stream()
                .filter(each -> each.local().kind() == kind
                        && each.local().address().address().equals(local))
                .findFirst()
                .orElseThrow(() ->
                        new IllegalArgumentException("%s has no %s link here".formatted(local.getHostAddress(), kind)));
    }

    /** {@link PathFactory#watch}. */
    void watch(PathChannel path, Established established, String node) {
        factory.watch(path, established, node);
    }

    /** Closes a path that has come to nothing. A peer that uses it already does not take that for the end of all. */
    static void drop(PathChannel path) {
        path.failed(UNUSED);
        path.close();
    }
}
