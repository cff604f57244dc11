package trigon.transport.failover.search;

import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import trigon.routing.Path;

/**
 * Asks over paths whether a peer lives: one after the other until one is answered, or over all. Each step begins when
 * the one before is over, so one thread at a time is here.
 */
final class AskingRound {

    /** One path is asked so long before the next one is, too. */
    static final Duration HEAD_START = Duration.ofMillis(20);

    /** So long an answer is waited for before all are asked again. */
    static final Duration LONGEST = Duration.ofSeconds(1);

    private static final CompletableFuture<Void> NOW = CompletableFuture.completedFuture(null);

    private final List<Path> paths;
    private final boolean all;
    private final Function<Path, CompletableFuture<Void>> ask;
    private final Function<Duration, CompletableFuture<Void>> timer;
    private final CompletableFuture<?> stop;
    private final CompletableFuture<Void> answered = new CompletableFuture<>();
    private final Map<Path, CompletableFuture<Void>> asked = new LinkedHashMap<>();

    /**
     * A round that has not begun.
     *
     * @param all whether all are asked at once, and the others get a moment more when one has answered
     * @param ask asks over one, without waiting; completes when the peer has proven that it lives
     * @param timer completes so much later
     * @param stop ends it
     */
    AskingRound(
            List<Path> paths,
            boolean all,
            Function<Path, CompletableFuture<Void>> ask,
            Function<Duration, CompletableFuture<Void>> timer,
            CompletableFuture<?> stop) {
        this.paths = paths;
        this.all = all;
        this.ask = ask;
        this.timer = timer;
        this.stop = stop;
    }

    /** Begins it. Completes with the paths that were asked, and what has come of each so far. */
    CompletableFuture<Map<Path, CompletableFuture<Void>>> begin() {
        return askFrom(0)
                .thenCompose(_ -> anyOf(answered, stop, allAnswers(), timer.apply(LONGEST)))
                .thenCompose(_ -> all ? anyOf(stop, allAnswers(), timer.apply(HEAD_START)) : NOW)
                .thenApply(_ -> Collections.unmodifiableMap(asked));
    }

    private CompletableFuture<Void> askFrom(int index) {
        if (index == paths.size()) {
            return NOW;
        }
        Path path = paths.get(index);
        CompletableFuture<Void> answer = ask.apply(path);
        asked.put(path, answer);
        var _ = answer.thenRun(() -> answered.complete(null));
        if (all) {
            return askFrom(index + 1);
        }
        return anyOf(answered, stop, timer.apply(HEAD_START))
                .thenCompose(_ -> answered.isDone() || stop.isDone() ? NOW : askFrom(index + 1));
    }

    private CompletableFuture<Void> allAnswers() {
        return CompletableFuture.allOf(asked.values().toArray(CompletableFuture[]::new));
    }

    /** When one of them is over, however it ends. */
    private static CompletableFuture<Void> anyOf(CompletableFuture<?>... futures) {
        return CompletableFuture.anyOf(futures).handle((_, _) -> null);
    }
}
