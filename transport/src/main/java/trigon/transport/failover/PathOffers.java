package trigon.transport.failover;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import trigon.handshake.Established;
import trigon.handshake.IncomingOffer;
import trigon.handshake.OutgoingOffer;
import trigon.handshake.message.EndFailure;
import trigon.handshake.message.HandshakeException;
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
import trigon.transport.path.Link;
import trigon.transport.path.Links;
import trigon.transport.path.PathChannel;
import trigon.transport.path.PathRole;
import trigon.transport.protocol.MessageProtocol;
import trigon.transport.resume.SenderResume;
import trigon.transport.session.Resumption;
import trigon.verbs.LinkKind;
import trigon.verbs.VerbsException;

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

    /** New paths, in the order that both ends know, and what the peer has said that it has received. */
    record Answered(List<PathChannel> paths, long received) {}

    /** A queue pair on its way up. */
    private record Pending(Path over, PathChannel path, OutgoingOffer offer) {}

    /** It did not come up over a path. */
    static final class FailedException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        private final transient Path over;

        FailedException(Path over, RuntimeException cause) {
            super(over + ": " + cause.getMessage(), cause);
            this.over = over;
        }

        Path over() {
            return over;
        }

        /** Tells whether it speaks against the path: who is late does not, nor a relay that another one replaces. */
        boolean isOfPath() {
            return !(getCause() instanceof HandshakeException failure)
                    || switch (failure.kind()) {
                        case UNREACHABLE, REFUSED, BLOCKED, DISCONNECTED -> true;
                        case NO_CIRCUIT, TIMED_OUT, REJECTED, PROTOCOL, UNAUTHENTICATED, ABANDONED, LISTEN -> false;
                    };
        }

        /** Tells whether the peer has said that its end of the connection is lost. */
        boolean isRefusal() {
            return getCause() instanceof HandshakeException refused
                    && refused.kind() == HandshakeException.Kind.REJECTED;
        }
    }

    /**
     * Offers as many new queue pairs as there are paths, and brings them up.
     *
     * @param over by queue pair; a path may be there several times
     * @param resume what the session has come to
     * @param stop ends the attempt
     * @throws FailedException if one of them does not come up; then none does
     */
    Answered offer(
            Counterpart peer,
            MessageProtocol protocol,
            List<Path> over,
            SenderResume resume,
            CompletableFuture<?> stop) {
        ResumeCounts resumeCounts = new ResumeCounts(
                resume.attempt(), resume.begun(), resume.confirmed(), protocol == MessageProtocol.EAGER);
        long attempt = factory.nextAttempt();
        List<Pending> pending = new ArrayList<>();
        try (Unwinding unwinding = new Unwinding()) {
            for (int index = 0; index < over.size(); index++) {
                Path path = over.get(index);
                Stripe stripe = new Stripe(attempt, index, over.size());
                orFail(path, () -> {
                    Pending offered = offer(peer, protocol, path, stripe, resumeCounts);
                    pending.add(offered);
                    unwinding.onFailure(() -> giveUp(offered, stop));
                });
            }
            var _ = stop.thenRun(() -> pending.forEach(each -> each.offer.abandon("the connection is closed")));
            Map<Pending, Runnable> proofs = new LinkedHashMap<>();
            for (Pending each : pending) {
                orFail(each.over, () -> proofs.put(each, bringUp(each, protocol, peer)));
            }
            proofs.forEach((each, proof) -> orFail(each.over, proof));
            pending.forEach(each -> factory.awaitOpen(each.path));
            List<CompletableFuture<Established>> results = pending.stream()
                    .map(each -> each.offer.sendReady(pending.size()))
                    .toList();
            for (int index = 0; index < pending.size(); index++) {
                Pending each = pending.get(index);
                CompletableFuture<Established> result = results.get(index);
                orFail(each.over, () -> factory.watch(each.path, join(result), peer.name()));
            }
            unwinding.succeeded();
        }
        return new Answered(
                pending.stream().map(Pending::path).toList(),
                join(pending.getFirst().offer.answer()).received());
    }

    NodeIdentity self() {
        return side.self();
    }

    private Pending offer(
            Counterpart peer, MessageProtocol protocol, Path over, Stripe stripe, ResumeCounts resumeCounts) {
        Link link = links.of(over.local());
        PathChannel path = factory.open(link, PathRole.SENDER, protocol);
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
                    Optional.of(resumeCounts),
                    side.fittingAddresses());
            InetSocketAddress remote =
                    new InetSocketAddress(over.remote().address(), over.remote().tcpPort());
            OutgoingOffer offered = side.client().connect(over.local().bindAddress(), remote, peer.secret(), offer);
            unwinding.succeeded();
            return new Pending(over, path, offered);
        }
    }

    /** Returns what is left to wait for. */
    private Runnable bringUp(Pending each, MessageProtocol protocol, Counterpart peer) {
        Answer answer = join(each.offer.answer());
        PeerEnd end = new PeerEnd(answer.endpoint(), answer.memory(), answer.maxMessageBytes(), answer.speedMbps());
        factory.connect(each.path, PathRole.SENDER, protocol, end, each.offer.key(), peer.trafficClass());
        return factory.prove(each.path);
    }

    private static void orFail(Path over, Runnable step) {
        try {
            step.run();
        } catch (HandshakeException | VerbsException e) {
            throw new FailedException(over, e);
        }
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
        PathChannel path = factory.open(link, PathRole.RECEIVER, protocol);
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

    private static void giveUp(Pending each, CompletableFuture<?> stop) {
        each.offer.abandon("this path failed at the connecting side");
        var _ = each.offer.result().thenAccept((Established late) -> {
            if (!stop.isDone()) {
                late.lifeline().fail(UNUSED);
            }
            late.lifeline().release();
        });
        if (stop.isDone()) {
            each.path.close();
        } else {
            drop(each.path);
        }
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

    private static <T> T join(CompletableFuture<T> future) {
        try {
            return future.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof HandshakeException handshake) {
                throw handshake;
            }
            throw e;
        }
    }
}
