package trigon.transport.failover;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import trigon.handshake.ConnectionId;
import trigon.handshake.Established;
import trigon.handshake.HandshakeClient;
import trigon.handshake.HandshakeException;
import trigon.handshake.HandshakeMessage.Answer;
import trigon.handshake.HandshakeMessage.Offer;
import trigon.handshake.IncomingOffer;
import trigon.handshake.LinkAddress;
import trigon.handshake.NodeIdentity;
import trigon.handshake.OutgoingOffer;
import trigon.handshake.Resumption;
import trigon.handshake.Stripe;
import trigon.routing.LocalLink;
import trigon.routing.Path;
import trigon.routing.Reason;
import trigon.transport.Unwinding;
import trigon.transport.connect.CandidatePaths;
import trigon.transport.connect.Counterpart;
import trigon.transport.connect.PathFactory;
import trigon.transport.connect.PeerEnd;
import trigon.transport.path.Link;
import trigon.transport.path.Links;
import trigon.transport.path.PathChannel;
import trigon.transport.path.PathRole;
import trigon.transport.protocol.MessageProtocol;
import trigon.verbs.LinkKind;

/** Finds paths over which a connection's peer answers, and brings new ones up. Thread-safe; on control threads. */
final class NewPaths {

    /** One path is asked so long before the next one is, too. */
    private static final Duration HEAD_START = Duration.ofMillis(20);

    /** So long an answer is waited for before all are asked again. */
    private static final Duration ROUND = Duration.ofSeconds(1);

    private final Links links;
    private final CandidatePaths candidates;
    private final HandshakeClient client;
    private final PathFactory factory;
    private final NodeIdentity self;
    private final Supplier<List<LinkAddress>> listeners;
    private final RandomGenerator attempts;

    NewPaths(
            Links links,
            CandidatePaths candidates,
            HandshakeClient client,
            PathFactory factory,
            NodeIdentity self,
            Supplier<List<LinkAddress>> listeners,
            RandomGenerator attempts) {
        this.links = links;
        this.candidates = candidates;
        this.client = client;
        this.factory = factory;
        this.self = self;
        this.listeners = listeners;
        this.attempts = attempts;
    }

    /**
     * What was found.
     *
     * @param alive a path over which the peer has proven that it lives; empty if there was none
     * @param isGone whether what has answered instead says that the peer's end is no more
     */
    record Found(Optional<Path> alive, boolean isGone) {}

    /** A new path, and what the peer has said that it has received. */
    record Answered(PathChannel path, long received) {}

    /**
     * Asks over the paths that there are now, one after the other; the first that is answered counts.
     *
     * @param connection the peer's end of it
     * @param current the link in use, which is asked over first, unless it is down
     * @param without paths that have just failed, which are left out where there are others
     * @param stop ends the search
     */
    Found find(
            Counterpart peer,
            ConnectionId connection,
            LocalLink current,
            Set<Path> without,
            CompletableFuture<?> stop) {
        CompletableFuture<Path> first = new CompletableFuture<>();
        Map<Path, CompletableFuture<Void>> asked = new LinkedHashMap<>();
        for (Path path : inOrder(peer, current, without)) {
            CompletableFuture<Void> answer = client.ask(local(path), remote(path), peer.secret(), connection);
            asked.put(path, answer);
            var _ = answer.thenRun(() -> first.complete(path));
            if (await(CompletableFuture.anyOf(first, stop), HEAD_START)) {
                break;
            }
        }
        CompletableFuture<Void> all = CompletableFuture.allOf(asked.values().toArray(CompletableFuture[]::new));
        await(CompletableFuture.anyOf(first, stop, all), ROUND);
        boolean gone = asked.values().stream().anyMatch(NewPaths::tellsThatPeerIsGone);
        return new Found(Optional.ofNullable(first.getNow(null)), gone);
    }

    /** The direct path over a link that a connection has left, if there is one now. */
    Optional<Path> direct(Counterpart peer, LocalLink over) {
        if (!links.of(over).isUp()) {
            return Optional.empty();
        }
        return candidates
                .now(
                        peer.name(),
                        peer.description(),
                        Optional.of(over),
                        peer.connection().value())
                .stream()
                .filter(path -> path.local().equals(over) && !(path.reason() instanceof Reason.Relayed))
                .findFirst();
    }

    /** Whether the peer answers over that path, in time. */
    boolean answers(Counterpart peer, Path path, CompletableFuture<?> stop) {
        CompletableFuture<Void> answer = client.ask(local(path), remote(path), peer.secret(), peer.connection());
        return await(CompletableFuture.anyOf(answer, stop), ROUND)
                && answer.isDone()
                && !answer.isCompletedExceptionally();
    }

    private List<Path> inOrder(Counterpart peer, LocalLink current, Set<Path> without) {
        List<Path> known = new ArrayList<>(candidates.now(
                peer.name(),
                peer.description(),
                Optional.of(current),
                peer.connection().value()));
        known.removeIf(path -> path.kind() != LinkKind.SOFTWARE);
        List<Path> others =
                known.stream().filter(path -> !without.contains(path)).toList();
        return (others.isEmpty() ? known : others)
                .stream()
                        .sorted(Comparator.comparing(
                                path -> !links.of(path.local()).isUp()))
                        .toList();
    }

    private static boolean tellsThatPeerIsGone(CompletableFuture<Void> answer) {
        return answer.isCompletedExceptionally()
                && answer.exceptionNow() instanceof HandshakeException failure
                && failure.tellsThatPeerIsGone();
    }

    /** Whether it is there in time, whatever has become of it. */
    private static boolean await(CompletableFuture<?> future, Duration time) {
        try {
            var _ = future.get(time.toNanos(), TimeUnit.NANOSECONDS);
            return true;
        } catch (ExecutionException _) {
            return true;
        } catch (TimeoutException _) {
            return false;
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted while looking for a path", e);
        }
    }

    /**
     * Offers a new path for a connection, and brings it up.
     *
     * @param stop ends the attempt
     * @throws HandshakeException if the peer does not answer, or refuses
     * @throws trigon.verbs.VerbsException if the device refuses
     */
    Answered offer(Counterpart peer, Path over, Resumption resumption, CompletableFuture<?> stop) {
        Link link = links.of(over.local());
        try (Unwinding unwinding = new Unwinding()) {
            PathChannel path = factory.open(link, PathRole.SENDER, MessageProtocol.EAGER);
            unwinding.onFailure(path::close);
            Offer offer = new Offer(
                    peer.connection(),
                    self,
                    over.kind(),
                    Stripe.only(attempts.nextLong()),
                    path.endpoint(),
                    path.forPeer(),
                    path.maxMessageBytes(),
                    Optional.of(resumption),
                    listeners.get());
            OutgoingOffer offered = client.connect(local(over), remote(over), peer.secret(), offer);
            unwinding.onFailure(() -> abandon(offered));
            var _ = stop.thenRun(() -> offered.abandon("the connection is closed"));
            Answer answer = join(offered.answer());
            PeerEnd end = new PeerEnd(answer.endpoint(), answer.memory(), answer.maxMessageBytes(), answer.speedMbps());
            factory.connect(path, PathRole.SENDER, MessageProtocol.EAGER, end, offered.key(), peer.trafficClass());
            factory.awaitOpen(path);
            factory.watch(path, join(offered.sendReady(1)), peer.name());
            unwinding.succeeded();
            return new Answered(path, answer.received());
        }
    }

    /**
     * This end of a path that the peer has offered, connected to its end.
     *
     * @param kind of the links that the connection goes over
     * @throws trigon.verbs.VerbsException if the device refuses
     * @throws IllegalArgumentException if the address has no such link
     */
    PathChannel accept(Counterpart peer, LinkKind kind, IncomingOffer incoming) {
        Offer offer = incoming.offer();
        InetAddress local = incoming.local().getAddress();
        Link link = links.all().stream()
                .filter(each -> each.local().kind() == kind
                        && each.local().address().address().equals(local))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "%s has no link of the kind in use here".formatted(local.getHostAddress())));
        PathChannel path = factory.open(link, PathRole.RECEIVER, MessageProtocol.EAGER);
        try (Unwinding unwinding = new Unwinding()) {
            unwinding.onFailure(path::close);
            PeerEnd end = new PeerEnd(
                    offer.endpoint(),
                    offer.clearToSend(),
                    offer.maxMessageBytes(),
                    link.local().speedMbps());
            factory.connect(path, PathRole.RECEIVER, MessageProtocol.EAGER, end, incoming.key(), peer.trafficClass());
            unwinding.succeeded();
        }
        return path;
    }

    private static void abandon(OutgoingOffer offered) {
        offered.abandon("this path failed at the connecting side");
        var _ = offered.result()
                .thenAccept((Established late) -> late.lifeline().release());
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

    private static InetAddress local(Path path) {
        return path.local().address().address();
    }

    private static InetSocketAddress remote(Path path) {
        return new InetSocketAddress(path.remote().address(), path.remote().tcpPort());
    }
}
