package trigon.transport.connect;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import trigon.handshake.Established;
import trigon.handshake.OutgoingOffer;
import trigon.handshake.connect.HandshakeClient;
import trigon.handshake.message.HandshakeException;
import trigon.handshake.message.HandshakeMessage.Answer;
import trigon.handshake.message.HandshakeMessage.Offer;
import trigon.handshake.message.LinkAddress;
import trigon.handshake.message.ListenHandle;
import trigon.handshake.message.NodeIdentity;
import trigon.handshake.message.Stripe;
import trigon.routing.Path;
import trigon.transport.Unwinding;
import trigon.transport.path.DataPathProbe;
import trigon.transport.path.Link;
import trigon.transport.path.Links;
import trigon.transport.path.PathChannel;
import trigon.transport.path.PathRole;
import trigon.transport.protocol.MessageProtocol;
import trigon.verbs.VerbsException;

/**
 * One attempt at a connection: over each of some paths a queue pair, or several, each with a handshake of its own, all
 * at the same time. The paths that answer make the connection; only then is the peer told how many they are.
 *
 * <p>Runs on one control thread. Failures of single paths are kept, {@link #failures}; closing frees what did not come
 * up, and everything if {@link #connect} was not done.
 */
final class ConnectionAttempt implements AutoCloseable {

    /** A queue pair on its way up. */
    private record Pending(Path path, PathChannel channel, OutgoingOffer offer, MessageProtocol protocol) {}

    private final Links links;
    private final HandshakeClient client;
    private final PathFactory factory;
    private final NodeIdentity self;
    private final List<LinkAddress> listeners;
    private final ListenHandle handle;
    private final int trafficClass;
    private final Duration timeout;
    private final PendingConnection connecting;
    private final List<Pending> pending = new ArrayList<>();
    private final Map<Path, RuntimeException> failures = new LinkedHashMap<>();
    private String peer;
    private boolean resumable = true;

    /**
     * An attempt that has done nothing yet.
     *
     * @param timeout what its handshakes take at most
     * @param connecting hears of each handshake, to be able to end it
     */
    ConnectionAttempt(
            LocalSide side,
            ListenHandle handle,
            int trafficClass,
            DecidingPolicy policy,
            Duration timeout,
            PendingConnection connecting) {
        links = side.links();
        client = side.client();
        factory = side.factory();
        self = side.self().decidingBy(policy.fingerprint());
        listeners = side.fittingAddresses();
        this.handle = handle;
        this.trafficClass = trafficClass;
        this.timeout = timeout;
        this.connecting = connecting;
        peer = connecting.peer();
    }

    /**
     * Makes it.
     *
     * @param number random: the peer tells attempts apart by it
     * @param paths one for each queue pair, {@link Stripe#MAX} at most; a path may be there several times
     * @return the channels that came up, in the paths' order; none if all of them failed
     */
    List<PathChannel> connect(long number, List<Path> paths) {
        long start = System.nanoTime();
        for (int index = 0; index < paths.size(); index++) {
            Path path = paths.get(index);
            Stripe stripe = new Stripe(number, index, paths.size());
            orFail(path, () -> offer(path, stripe));
        }
        connecting.reached("offers");
        awaitAnswers(start + timeout.toNanos() / 2);
        connecting.reached("answers");
        Map<Pending, Optional<? extends Runnable>> proofs = new LinkedHashMap<>();
        for (Pending each : List.copyOf(pending)) {
            if (!orFail(each.path, () -> proofs.put(each, bringUp(each)))) {
                drop(each);
            }
        }
        proofs.forEach((each, probe) -> {
            if (!orFail(each.path, () -> probe.ifPresent(Runnable::run))) {
                drop(each);
            }
        });
        List<Pending> up = List.copyOf(pending);
        up.forEach(each -> factory.awaitOpen(each.channel));
        connecting.reached("queue pairs");
        List<CompletableFuture<Established>> results =
                up.stream().map(each -> each.offer.sendReady(up.size())).toList();
        for (int i = 0; i < up.size(); i++) {
            Pending each = up.get(i);
            CompletableFuture<Established> result = results.get(i);
            if (!orFail(each.path, () -> factory.watch(each.channel, await(result), peer))) {
                // the peer counts on it: there is no connection without it
                return List.of();
            }
        }
        connecting.reached("ready");
        pending.clear();
        return up.stream().map(Pending::channel).toList();
    }

    /** Why paths failed, in the order in which they did; at most one failure each. */
    Map<Path, RuntimeException> failures() {
        return failures;
    }

    private void offer(Path path, Stripe stripe) {
        Link link = links.of(path.local());
        InetAddress local = path.local().bindAddress();
        InetSocketAddress remote =
                new InetSocketAddress(path.remote().address(), path.remote().tcpPort());
        try (Unwinding unwinding = new Unwinding()) {
            PathChannel channel = factory.open(
                    link, PathRole.SENDER, protocol(path, stripe.isOneOfSeveral()), client.isNarrow(local, remote));
            unwinding.onFailure(channel::close);
            channel.counters().noteRelays(path.relays());
            OutgoingOffer offer = client.connect(
                    local,
                    remote,
                    handle.secret(),
                    new Offer(
                            handle.connection(),
                            self,
                            path.kind(),
                            stripe,
                            channel.endpoint(),
                            channel.forPeer(),
                            channel.maxMessageBytes(),
                            Optional.empty(),
                            listeners),
                    timeout);
            pending.add(new Pending(path, channel, offer, protocol(path, stripe.isOneOfSeveral())));
            unwinding.succeeded();
            connecting.attempting(offer);
        }
    }

    /** Waits for the answers: for all of them for half of the time; longer only while there is none. */
    private void awaitAnswers(long half) {
        for (Pending each : List.copyOf(pending)) {
            try {
                each.offer.answer().get(Math.max(0, half - System.nanoTime()), TimeUnit.NANOSECONDS);
            } catch (TimeoutException | ExecutionException _) {
                // looked at below
            } catch (InterruptedException e) {
                throw new IllegalStateException("interrupted while connecting", e);
            }
        }
        boolean any = pending.stream().anyMatch(each -> isAnswered(each.offer.answer()));
        for (Pending each : List.copyOf(pending)) {
            if (any && !each.offer.answer().isDone()) {
                failures.putIfAbsent(
                        each.path,
                        new IllegalStateException("no answer within %d ms, while another path had one"
                                .formatted(timeout.toMillis() / 2)));
                drop(each);
            } else if (!orFail(each.path, () -> await(each.offer.answer()))) {
                drop(each);
            }
        }
    }

    private static boolean isAnswered(CompletableFuture<Answer> answer) {
        return answer.isDone() && !answer.isCompletedExceptionally();
    }

    /** The peer's name: its own, once it has answered. */
    String peer() {
        return peer;
    }

    /** Tells whether the peer says that both ends can go on over other paths. */
    boolean isResumable() {
        return resumable;
    }

    /** Returns what is left to wait for. */
    private Optional<? extends Runnable> bringUp(Pending each) {
        Answer answer = await(each.offer.answer());
        peer = answer.node();
        resumable &= answer.failover();
        factory.connect(
                each.channel,
                PathRole.SENDER,
                each.protocol,
                new PeerEnd(answer.endpoint(), answer.memory(), answer.maxMessageBytes(), answer.speedMbps()),
                each.offer.key(),
                trafficClass);
        return DataPathProbe.begin(each.channel, each.path, client);
    }

    private static MessageProtocol protocol(Path path, boolean severalQueuePairs) {
        return MessageProtocol.on(path.kind(), severalQueuePairs);
    }

    private void drop(Pending failed) {
        pending.remove(failed);
        RuntimeException why = failures.get(failed.path);
        failed.offer.abandon("this path failed at the connecting side" + (why == null ? "" : ": " + why.getMessage()));
        // where only another path failed, this one may be established, and nobody watches it yet
        var _ = failed.offer
                .result()
                .thenAccept(established -> established.lifeline().release());
        failed.channel.close();
    }

    /**
     * Does one step over a path; a failure of the network or the device is that path's. Returns whether it was done.
     */
    private boolean orFail(Path path, Runnable step) {
        try {
            step.run();
            return true;
        } catch (HandshakeException | VerbsException e) {
            failures.putIfAbsent(path, e);
            return false;
        }
    }

    /** The result; it has a deadline of its own. */
    private static <T> T await(CompletableFuture<T> future) {
        try {
            return future.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof HandshakeException handshake) {
                throw handshake;
            }
            throw e;
        }
    }

    @Override
    public void close() {
        for (Pending each : List.copyOf(pending)) {
            drop(each);
        }
    }
}
