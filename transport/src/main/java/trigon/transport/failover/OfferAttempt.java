package trigon.transport.failover;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import trigon.handshake.Established;
import trigon.handshake.OutgoingOffer;
import trigon.handshake.message.HandshakeException;
import trigon.handshake.message.ResumeCounts;
import trigon.handshake.message.Stripe;
import trigon.routing.Path;
import trigon.transport.connect.Counterpart;
import trigon.transport.path.DataPathProbe;
import trigon.transport.path.PathChannel;
import trigon.transport.protocol.MessageProtocol;
import trigon.transport.resume.SenderResume;
import trigon.verbs.VerbsException;

/**
 * One attempt of a sender to bring up new queue pairs for a connection, one over each of some paths, each by a
 * handshake of its own. Its steps call verbs, which may block, one at a time on the executor's threads; between them
 * nobody waits for the peer.
 */
final class OfferAttempt {

    /** New paths, in the order that both ends know, and what the peer has said that it has received. */
    record Answered(List<PathChannel> paths, long received) {}

    /** A queue pair on its way up. */
    record Pending(Path over, PathChannel path, OutgoingOffer offer) {}

    /** It did not come up over a path. */
    static final class FailedException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        private final transient Path over;

        FailedException(Path over, Throwable cause) {
            super(over + ": " + cause.getMessage(), cause);
            this.over = over;
        }

        Path over() {
            return over;
        }

        /** Tells whether it speaks against the path: who is late does not, nor a relay that another one replaces. */
        boolean isOfPath() {
            return getCause() instanceof HandshakeException failure
                    ? switch (failure.kind()) {
                        case UNREACHABLE, REFUSED, BLOCKED, DISCONNECTED -> true;
                        case NO_CIRCUIT, TIMED_OUT, REJECTED, PROTOCOL, UNAUTHENTICATED, ABANDONED, LISTEN -> false;
                    }
                    : getCause() instanceof VerbsException;
        }

        /** Tells whether the peer has said that its end of the connection is lost. */
        boolean isRefusal() {
            return getCause() instanceof HandshakeException refused
                    && refused.kind() == HandshakeException.Kind.REJECTED;
        }
    }

    /** From one look for proofs to the next. */
    private static final Duration LOOK = Duration.ofMillis(2);

    private final PathOffers offers;
    private final Counterpart peer;
    private final MessageProtocol protocol;
    private final CompletableFuture<?> stop;
    private final FailoverTasks tasks;
    private final Executor blocking;
    private final List<Pending> pending = new ArrayList<>();

    /**
     * One that has offered nothing.
     *
     * @param offers opens and connects its queue pairs
     * @param stop ends it
     * @param tasks run what calls verbs
     */
    OfferAttempt(
            PathOffers offers,
            Counterpart peer,
            MessageProtocol protocol,
            CompletableFuture<?> stop,
            FailoverTasks tasks) {
        this.offers = offers;
        this.peer = peer;
        this.protocol = protocol;
        this.stop = stop;
        this.tasks = tasks;
        blocking = tasks.moving();
    }

    /**
     * Makes it. What calls verbs first is done in the caller.
     *
     * @param over by queue pair; a path may be there several times
     * @param resume what the session has come to
     * @return the new paths, all of them; or none, and a {@link FailedException}. Completes on any thread
     */
    CompletableFuture<Answered> make(List<Path> over, SenderResume resume) {
        ResumeCounts counts = new ResumeCounts(
                resume.attempt(), resume.begun(), resume.confirmed(), protocol == MessageProtocol.EAGER);
        long attempt = offers.nextAttempt();
        try {
            failIfStopped(over.getFirst());
            for (int index = 0; index < over.size(); index++) {
                Path path = over.get(index);
                Stripe stripe = new Stripe(attempt, index, over.size());
                orFail(path, () -> pending.add(offers.open(peer, protocol, path, stripe, counts)));
            }
        } catch (RuntimeException | Error e) {
            giveUp();
            return CompletableFuture.failedFuture(e);
        }
        var _ = stop.thenRun(() -> pending.forEach(each -> each.offer.abandon("the connection is closed")));
        return whenAll(OutgoingOffer::answer)
                .thenComposeAsync(_ -> bringUp(), blocking)
                .thenCompose(_ -> whenAll(offer -> offer.sendReady(pending.size())))
                .thenApplyAsync(_ -> watch(), blocking)
                .handleAsync(this::settle, blocking);
    }

    /** Completes once all have that result; fails as soon as one has failed. */
    private <T> CompletableFuture<Void> whenAll(Function<OutgoingOffer, CompletableFuture<T>> result) {
        CompletableFuture<Void> all = new CompletableFuture<>();
        AtomicInteger missing = new AtomicInteger(pending.size());
        for (Pending each : pending) {
            var _ = result.apply(each.offer).whenComplete((_, why) -> {
                if (why != null) {
                    all.completeExceptionally(new FailedException(each.over, causeOf(why)));
                } else if (missing.decrementAndGet() == 0) {
                    all.complete(null);
                }
            });
        }
        return all;
    }

    /** Connects all queue pairs, and has them prove that they carry something, beside each other. */
    private CompletableFuture<Void> bringUp() {
        Map<Pending, DataPathProbe> unproven = new LinkedHashMap<>();
        for (Pending each : pending) {
            orFail(each.over, () -> offers.connect(each, protocol, peer).ifPresent(probe -> unproven.put(each, probe)));
        }
        return awaitProofs(unproven);
    }

    /** Looks from time to time, so that no thread waits for the peer. */
    private CompletableFuture<Void> awaitProofs(Map<Pending, DataPathProbe> unproven) {
        Map.copyOf(unproven)
                .forEach((each, probe) -> orFail(each.over, () -> {
                    if (probe.poll()) {
                        unproven.remove(each);
                    }
                }));
        if (unproven.isEmpty()) {
            return CompletableFuture.completedFuture(null);
        }
        failIfStopped(unproven.keySet().iterator().next().over);
        return CompletableFuture.anyOf(stop, tasks.after(LOOK)).thenComposeAsync(_ -> awaitProofs(unproven), blocking);
    }

    private void failIfStopped(Path over) {
        if (stop.isDone()) {
            throw new FailedException(over, new CancellationException("the connection is closed"));
        }
    }

    /** The peer knows that all are up: from now on their ends are watched. */
    private Answered watch() {
        for (Pending each : pending) {
            offers.watch(each.path, each.offer.result().join(), peer.name());
        }
        return new Answered(
                pending.stream().map(Pending::path).toList(),
                pending.getFirst().offer.answer().join().received());
    }

    private Answered settle(@Nullable Answered answered, @Nullable Throwable why) {
        if (answered != null) {
            return answered;
        }
        giveUp();
        throw new CompletionException(why == null ? new IllegalStateException("no result") : causeOf(why));
    }

    private void giveUp() {
        for (Pending each : pending) {
            each.offer.abandon("this path failed at the connecting side");
            var _ = each.offer.result().thenAccept((Established late) -> {
                if (!stop.isDone()) {
                    late.lifeline().fail(PathOffers.UNUSED);
                }
                late.lifeline().release();
            });
            if (stop.isDone()) {
                each.path.close();
            } else {
                PathOffers.drop(each.path);
            }
        }
    }

    private static void orFail(Path over, Runnable step) {
        try {
            step.run();
        } catch (HandshakeException | VerbsException | OutOfMemoryError e) { // there may be memory in a moment
            throw new FailedException(over, e);
        }
    }

    private static Throwable causeOf(Throwable why) {
        return why instanceof CompletionException && why.getCause() != null ? why.getCause() : why;
    }
}
