package trigon.transport.failover.search;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import trigon.handshake.connect.Question;
import trigon.handshake.message.HandshakeException;
import trigon.system.NanoClock;

/**
 * Questions over one path to one process that all connections with it ask at the same time: a cable that is cut has
 * hundreds of them ask, and one answer will do. What says something of one connection alone, that its end is not known
 * there, each asks for itself. Thread-safe.
 */
final class SharedQuestions {

    /** Age of an answer that is as good as a new one. */
    static final Duration FRESH = Duration.ofMillis(100);

    /** Questions of a job's usual number of peers and paths; of more, those of no more use are forgotten. */
    private static final int USUAL = 64;

    /**
     * The path that a question takes.
     *
     * @param how it is asked
     */
    record AskedPath(InetAddress local, InetSocketAddress remote, Manner how) {}

    /** Manner of asking. */
    enum Manner {
        /** Any answer will do, the sooner the better. */
        SOON,
        /** The answer is to be behind frames of the full size. */
        FULL_SIZE,
        /** The same, without relays, also where they lead there. */
        DIRECT
    }

    private record Asked(Question question, long at) {}

    private final NanoClock clock;
    private final Map<AskedPath, Asked> latest = new ConcurrentHashMap<>();

    SharedQuestions(NanoClock clock) {
        this.clock = clock;
    }

    /** Asks, or joins who has just asked there. */
    Question ask(AskedPath path, Supplier<Question> own) {
        long now = clock.nanoTime();
        Asked known = latest.get(path);
        if (known != null && isOfUse(known, now)) {
            return new Joined(known.question, own);
        }
        if (latest.size() > USUAL) {
            latest.values().removeIf(each -> !isOfUse(each, now));
        }
        Question question = own.get();
        latest.put(path, new Asked(question, now));
        return question;
    }

    /** Returns whether it is fresh; one that is not answered stays so for as long as an answer is waited for. */
    private static boolean isOfUse(Asked asked, long now) {
        CompletableFuture<Void> answered = asked.question.answered();
        Duration longest = answered.isDone() ? FRESH : AskingRound.LONGEST;
        boolean fresh = now - asked.at < longest.toNanos();
        return fresh && !(answered.isCompletedExceptionally() && isOfConnection(answered.exceptionNow()));
    }

    private static boolean isOfConnection(Throwable why) {
        Throwable cause = why instanceof CompletionException && why.getCause() != null ? why.getCause() : why;
        return !(cause instanceof HandshakeException failure)
                || switch (failure.kind()) {
                    case REJECTED, UNAUTHENTICATED, PROTOCOL, ABANDONED, LISTEN -> true;
                    case UNREACHABLE, REFUSED, NO_CIRCUIT, BLOCKED, TIMED_OUT, DISCONNECTED -> false;
                };
    }

    /** Another's question, and one of its own where that has been about the other's connection. */
    private static final class Joined implements Question {

        private final Question first;
        private final CompletableFuture<Void> answered;

        Joined(Question first, Supplier<Question> own) {
            this.first = first;
            answered = first.answered()
                    .exceptionallyCompose(
                            why -> isOfConnection(why) ? own.get().answered() : CompletableFuture.failedFuture(why));
        }

        @Override
        public CompletableFuture<Void> answered() {
            return answered;
        }

        @Override
        public boolean isConnected() {
            return first.isConnected();
        }
    }
}
