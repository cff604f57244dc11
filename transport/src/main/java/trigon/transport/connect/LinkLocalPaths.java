package trigon.transport.connect;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import trigon.handshake.message.HandshakeException;
import trigon.routing.Path;

/**
 * Paths between link-local addresses, of one connection: each interface has such an address, so only an answer of the
 * peer tells which of ours leads to which of its. All are asked over at the same time, since the kernel takes seconds
 * to find out that nobody is there. One control thread.
 */
final class LinkLocalPaths {

    /** So long an answer is waited for. */
    static final Duration ROUND = Duration.ofSeconds(1);

    /**
     * The same where what is left are addresses that lead to the wrong cable, and a whole handshake's time is lost by
     * them. The kernel says earlier that nobody is there.
     */
    private static final Duration PATIENT_ROUND = Duration.ofSeconds(5);

    /** So long after the first answer others are waited for: there may be several cables. */
    private static final Duration MOMENT = Duration.ofMillis(20);

    /** Asks whether the peer lives, and knows the connection. */
    @FunctionalInterface
    interface Question {
        /** Starts to ask from the path's own address; done when it is proven, else a {@link HandshakeException}. */
        CompletableFuture<Void> ask(Path path, InetSocketAddress remote);
    }

    /** Not yet, at least: it may be another cable. */
    static final class NoAnswerException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        NoAnswerException() {
            super("no answer: the two interfaces are not on one link, or the peer is down; check the cable and"
                    + " firewalls");
        }
    }

    private final Question question;
    /** Under way, which may be longer than a round. */
    private final Map<Path, CompletableFuture<Void>> asked = new HashMap<>();

    /** Nobody has been asked. */
    LinkLocalPaths(Question question) {
        this.question = question;
    }

    /**
     * Those over which the peer answers, in their order; none after a round, or once nobody can answer any more.
     *
     * @param silent hears of the others, and why they are not among those
     */
    List<Path> answering(List<Path> paths, BiConsumer<Path, RuntimeException> silent) {
        Map<Path, CompletableFuture<Void>> answers = new LinkedHashMap<>();
        CompletableFuture<Void> first = new CompletableFuture<>();
        for (Path path : paths) {
            CompletableFuture<Void> answer = asked.computeIfAbsent(path, this::ask);
            answers.put(path, answer);
            var _ = answer.thenRun(() -> first.complete(null));
        }
        CompletableFuture<Void> all = CompletableFuture.allOf(answers.values().toArray(CompletableFuture[]::new));
        boolean patient = paths.stream().anyMatch(path -> path.reason().isInPlaceOfSubnet());
        await(CompletableFuture.anyOf(first, all), patient ? PATIENT_ROUND : ROUND);
        await(all, MOMENT);
        List<Path> answering = new ArrayList<>();
        answers.forEach((path, answer) -> {
            Optional<RuntimeException> failure = failure(answer);
            if (failure.isEmpty()) {
                answering.add(path);
            } else {
                silent.accept(path, failure.get());
            }
            if (answer.isDone()) {
                asked.remove(path); // the next time is another question
            }
        });
        return answering;
    }

    private CompletableFuture<Void> ask(Path path) {
        return question.ask(
                path,
                new InetSocketAddress(path.remote().address(), path.remote().tcpPort()));
    }

    private static Optional<RuntimeException> failure(CompletableFuture<Void> answer) {
        if (!answer.isDone()) {
            return Optional.of(new NoAnswerException());
        }
        if (!answer.isCompletedExceptionally()) {
            return Optional.empty();
        }
        return Optional.of(
                answer.exceptionNow() instanceof RuntimeException failure ? failure : new NoAnswerException());
    }

    private static void await(CompletableFuture<?> future, Duration time) {
        try {
            var _ = future.get(time.toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException | TimeoutException _) {
            // looked at one by one
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted while looking for a link", e);
        }
    }
}
