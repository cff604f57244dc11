package trigon.handshake.connect;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import trigon.handshake.Established;
import trigon.handshake.OutgoingOffer;
import trigon.handshake.lifeline.HandshakeEventLoop;
import trigon.handshake.message.HandshakeException;
import trigon.handshake.message.HandshakeMessage.Answer;
import trigon.handshake.message.HandshakeMessage.Offer;
import trigon.verbs.ConnectionKey;

/**
 * One attempt that goes over the TCP connection to the peer that there is, if there is one, and over a new one where
 * the first has brought no answer in a third of the time, or in two where the listener has proven itself and may just
 * be busy: after a few lost packets, TCP waits for seconds before it sends one again, and a new connection does not.
 * Once the second one carries the offer it alone counts, at the listener, too, in whichever order the two are read
 * there.
 *
 * <p>The futures complete on the event loop; the rest of the state is the event loop's.
 */
final class RetriedOffer implements OutgoingOffer {

    private final HandshakeEventLoop loop;
    private final Duration timeout;
    private final ClientServices services;
    private final Supplier<Target> targets;
    private final Offer offer;
    private final CompletableFuture<Answer> answer = new CompletableFuture<>();
    private final CompletableFuture<Established> result = new CompletableFuture<>();
    private final OutgoingConnection first;
    private @Nullable OutgoingConnection second;

    /** Published by the answer. */
    private OutgoingConnection current;

    /** True if the current one is the only one: it has the answer, or it is the second and has carried the offer. */
    private boolean decided;

    /**
     * To be started.
     *
     * @param targets the listener, for each TCP connection by a way of its own
     */
    RetriedOffer(ClientServices services, Duration timeout, Supplier<Target> targets, Offer offer) {
        this.services = services;
        this.timeout = timeout;
        this.targets = targets;
        this.offer = offer;
        loop = services.loop();
        first = open(timeout, () -> {}, false);
        current = first;
    }

    private OutgoingConnection open(Duration time, Runnable beforeOffer, boolean repeats) {
        return new OutgoingConnection(services, time, targets.get(), offer, beforeOffer, repeats);
    }

    /** To be called once, from any thread. */
    void start() {
        watch(first);
        first.start();
        first.onEventLoop(() -> afterAThird(() -> {
            if (first.hasOffered()) { // a busy peer would do its work twice
                afterAThird(() -> startSecond(timeout.dividedBy(3)));
            } else {
                startSecond(timeout.multipliedBy(2).dividedBy(3));
            }
        }));
    }

    private void afterAThird(Runnable step) {
        Future<?> timer = loop.eventLoop().schedule(step, timeout.toNanos() / 3, TimeUnit.NANOSECONDS);
        // who waits in vain would keep the memory of a connection that was made, and perhaps closed, long ago
        var _ = answer.whenComplete((_, _) -> timer.cancel(false));
    }

    private void startSecond(Duration timeLeft) {
        if (answer.isDone() || result.isDone()) {
            return;
        }
        OutgoingConnection started = open(timeLeft, this::supersede, true);
        second = started;
        watch(started);
        started.start();
    }

    /** The second one has the listener's word, and the first has no answer. */
    private void supersede() {
        OutgoingConnection successor = second;
        if (successor != null) {
            decided = true;
            current = successor;
            first.drop("the second connection was faster");
        }
    }

    private void watch(OutgoingConnection connection) {
        var _ = connection.answer().whenComplete((given, failure) -> {
            if (given != null && connection == current) {
                answered(given);
            } else if (isOfItsChannel(connection, failure)) {
                startSecond(timeout.multipliedBy(2).dividedBy(3));
            } else if (failure != null && isLast(connection)) {
                answer.completeExceptionally(reported(connection, failure));
            }
        });
        var _ = connection.result().whenComplete((established, failure) -> {
            if (established != null) {
                result.complete(established);
            } else if (isLast(connection)) {
                result.completeExceptionally(reported(connection, failure));
            }
        });
    }

    /** Returns whether only the channel that it has shared has ended, which may have been for long. */
    private boolean isOfItsChannel(OutgoingConnection connection, @Nullable Throwable failure) {
        return second == null
                && !answer.isDone()
                && connection.isUnheardOnShared()
                && causeOf(failure) instanceof HandshakeException known
                && known.kind() == HandshakeException.Kind.DISCONNECTED;
    }

    /** Picks the cause: if both have waited in vain, it is the first one's, which has waited for the whole time. */
    private Throwable reported(OutgoingConnection last, @Nullable Throwable failure) {
        Throwable cause = causeOf(failure);
        Throwable ofFirst = last == first || decided ? cause : causeOf(exceptionOf(first));
        return isTimeout(cause) && isTimeout(ofFirst) ? ofFirst : cause;
    }

    private static @Nullable Throwable exceptionOf(OutgoingConnection connection) {
        return connection.result().isCompletedExceptionally()
                ? connection.result().exceptionNow()
                : null;
    }

    private static boolean isTimeout(Throwable failure) {
        return failure instanceof HandshakeException known && known.kind() == HandshakeException.Kind.TIMED_OUT;
    }

    private void answered(Answer given) {
        decided = true;
        OutgoingConnection other = second;
        if (other != null && other != current) {
            other.drop("the first connection was faster");
        }
        answer.complete(given);
    }

    /** Returns whether its failure is that of the attempt: nothing else is under way. */
    private boolean isLast(OutgoingConnection failed) {
        OutgoingConnection other = second;
        if (decided) {
            return failed == current;
        }
        return other == null || (first.isOver() && other.isOver());
    }

    private static Throwable causeOf(@Nullable Throwable failure) {
        return failure instanceof CompletionException wrapped && wrapped.getCause() != null
                ? wrapped.getCause()
                : failure == null ? new IllegalStateException("no result") : failure;
    }

    @Override
    public InetSocketAddress remote() {
        return first.remote();
    }

    @Override
    public CompletableFuture<Answer> answer() {
        return answer;
    }

    @Override
    public ConnectionKey key() {
        return answered().key();
    }

    @Override
    public CompletableFuture<Established> result() {
        return result;
    }

    @Override
    public CompletableFuture<Established> sendReady(int stripes) {
        var _ = answered().sendReady(stripes);
        return result;
    }

    private OutgoingConnection answered() {
        if (!answer.isDone()) {
            throw new IllegalStateException("there is no answer yet from " + first.remote());
        }
        return current;
    }

    @Override
    public void abandon(String reason) {
        first.abandon(reason);
        first.onEventLoop(() -> {
            OutgoingConnection other = second;
            if (other != null) {
                other.abandon(reason);
            }
        });
    }
}
