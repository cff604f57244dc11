package trigon.transport.failover.search;

import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import trigon.routing.Path;
import trigon.routing.table.DisjointPaths;

/**
 * Findings of a round of questions over a peer's paths.
 *
 * @param alive paths over which the peer has proven that it lives; empty if there was none
 * @param isGone whether what has answered instead says that the peer's end is no more
 * @param isStopped whether only the peer's kernel has answered
 * @param isLost whether nobody has answered any connection for too long
 */
public record Found(List<Path> alive, boolean isGone, boolean isStopped, boolean isLost) {

    public Found {
        alive = List.copyOf(alive);
    }

    /** Findings of a round alone. */
    Found(List<Path> alive, boolean isGone, boolean isStopped) {
        this(alive, isGone, isStopped, false);
    }

    /**
     * By what each path has answered. A refusal counts only where the peer has been before, since anybody can refuse;
     * and not as long as another path is silent, since a peer that is stopped is silent there, or lacks a relay, behind
     * which the peer may be.
     *
     * @param answers in the order in which the paths should be taken
     * @param isProven whether the peer has ever proven itself over a path
     */
    static Found by(Map<Path, Answer> answers, Predicate<Path> isProven) {
        List<Path> alive = answers.entrySet().stream()
                .filter(entry -> entry.getValue() == Answer.ALIVE)
                .map(Map.Entry::getKey)
                .toList();
        boolean refused = answers.entrySet().stream()
                .anyMatch(entry -> entry.getValue() == Answer.REFUSED && isProven.test(entry.getKey()));
        boolean stopped = answers.entrySet().stream()
                .anyMatch(entry -> entry.getValue() == Answer.STOPPED && isProven.test(entry.getKey()));
        boolean silent =
                answers.entrySet().stream().anyMatch(entry -> mayBeThere(entry.getValue(), entry.getKey(), isProven));
        return new Found(alive, alive.isEmpty() && refused && !silent, alive.isEmpty() && stopped);
    }

    /**
     * Returns whether the peer may be there all the same. A link-local address leads to one cable; most pairs of them
     * lead nowhere, and are always silent. And some relays never open a circuit.
     */
    private static boolean mayBeThere(Answer answer, Path path, Predicate<Path> isProven) {
        return switch (answer) {
            case SILENT, STOPPED -> !path.reason().isLinkLocal() || isProven.test(path);
            case NO_CIRCUIT -> isProven.test(path);
            case ALIVE, REFUSED, NO_PATH -> false;
        };
    }

    /** The same, and whether the peer is lost. */
    Found judged(boolean lost) {
        return new Found(alive, isGone, isStopped, lost);
    }

    /** The same without those against which more speaks than against another one. */
    Found leastPenalized(Function<Path, PathPenalty> penalty) {
        return new Found(PathPenalty.leastOf(alive, penalty), isGone, isStopped, isLost);
    }

    /**
     * So many, over all that can be used at the same time; there is one. A way through relays is taken alone: it is a
     * connection over TCP, with one queue pair.
     */
    public List<Path> forQueuePairs(int count) {
        if (alive.getFirst().isRelayed()) {
            return List.of(alive.getFirst());
        }
        List<Path> direct = alive.stream().filter(path -> !path.isRelayed()).toList();
        List<Path> apart = DisjointPaths.among(direct, count);
        return IntStream.range(0, count)
                .mapToObj(index -> apart.get(index % apart.size()))
                .toList();
    }
}
