package trigon.transport.failover.search;

import java.time.Duration;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import trigon.handshake.connect.Question;
import trigon.handshake.message.ConnectionId;
import trigon.handshake.message.HandshakeException;
import trigon.routing.LocalLink;
import trigon.routing.Path;
import trigon.transport.connect.CandidatePaths;
import trigon.transport.connect.Counterpart;
import trigon.transport.path.Links;
import trigon.transport.path.PathChannel;
import trigon.transport.session.Resumption;
import trigon.verbs.LinkKind;

/** Finds paths over which a connection's peer answers. Thread-safe. */
public final class PathSearch {

    /** Time for a check, which asks again after a while, in smaller packets, too. */
    private static final Duration LONGEST_CHECK = Duration.ofMillis(2500);

    private final Function<Duration, CompletableFuture<Void>> timer;
    private final Links links;
    private final CandidatePaths candidates;
    private final PathQuestions questions;
    private final Peers peers;

    /**
     * Among what there is at the time of each search.
     *
     * @param peers judges by what is found whether a peer is lost
     * @param timer completes so much later
     */
    public PathSearch(
            Links links,
            CandidatePaths candidates,
            PathQuestions questions,
            Peers peers,
            Function<Duration, CompletableFuture<Void>> timer) {
        this.timer = timer;
        this.links = links;
        this.candidates = candidates;
        this.questions = questions;
        this.peers = peers;
    }

    /**
     * Asks over the paths that there are now, one after the other, until one is answered; a connection of several queue
     * pairs asks over all, and gives the others a moment more. May block to find out which paths there are, and not
     * for their answers.
     *
     * @param connection the peer's end of it
     * @param session whose paths they are to be
     * @param penalty what speaks against each path: one is left out where another answers, against which less does
     * @param proven where the peer has proven itself before; it is noted where it does now
     * @param stop ends the search
     */
    public CompletableFuture<Found> find(
            Counterpart peer,
            ConnectionId connection,
            Resumption session,
            Function<Path, PathPenalty> penalty,
            ProvenEnds proven,
            CompletableFuture<?> stop) {
        List<Path> usable =
                usable(known(peer, session).stream().filter(session::mayTake).toList());
        Function<Path, PathPenalty> compared = PathPenalty.among(usable, path -> orWorse(path, penalty.apply(path)));
        Map<Path, Question> asked = new LinkedHashMap<>();
        AskingRound round = new AskingRound(
                inOrder(usable, compared),
                session.queuePairs() > 1 || usable.stream().anyMatch(questions::isNarrow),
                path -> {
                    Question question = questions.ask(peer, connection, path);
                    asked.put(path, question);
                    return question.answered();
                },
                timer,
                stop);
        return round.begin().thenApply(_ -> {
            Map<Path, Answer> answers = new LinkedHashMap<>();
            asked.forEach((path, question) -> answers.put(path, answer(path, question)));
            Found found = Found.by(answers, proven::has);
            found.alive().forEach(proven::add);
            boolean lost = peers.observe(peer, session.isPinned(), found, () -> notTaken(peer, session));
            return found.judged(lost).leastPenalized(compared);
        });
    }

    private PathPenalty orWorse(Path path, PathPenalty penalty) {
        if (links.of(path.local()).isHanging()) {
            return PathPenalty.DEAD;
        }
        return questions.isNarrow(path) && penalty.compareTo(PathPenalty.NARROW) < 0 ? PathPenalty.NARROW : penalty;
    }

    /**
     * Asks over a path in use, by a connection of its own, whether packets of the full size pass both ways. May block
     * to find out which paths there are, and not for the answer.
     */
    public CompletableFuture<PathCheck> check(Counterpart peer, Resumption session, PathChannel inUse) {
        Optional<Path> over = known(peer, session).stream()
                .filter(path -> path.local().equals(inUse.link().local()))
                .filter(path -> path.isRelayed() || path.remote().address().equals(inUse.peerAddress()))
                .findFirst();
        if (over.isEmpty()) {
            return CompletableFuture.completedFuture(PathCheck.SILENT);
        }
        if (questions.isNarrow(over.get())) { // found out by another connection
            return CompletableFuture.completedFuture(PathCheck.NARROW);
        }
        CompletableFuture<Void> asked = questions.check(peer, over.get()).answered();
        return CompletableFuture.anyOf(asked, timer.apply(LONGEST_CHECK)).handle((_, _) -> {
            if (asked.isDone() && !asked.isCompletedExceptionally()) {
                return PathCheck.PASSED;
            }
            return questions.isNarrow(over.get()) ? PathCheck.NARROW : PathCheck.SILENT;
        });
    }

    private Answer answer(Path path, Question question) {
        CompletableFuture<Void> asked = question.answered();
        if (!asked.isDone()) {
            return !links.of(path.local()).isUp()
                    ? Answer.NO_PATH
                    : question.isConnected() && !path.isRelayed() ? Answer.STOPPED : Answer.SILENT;
        }
        if (!asked.isCompletedExceptionally()) {
            return canCarry(path) ? Answer.ALIVE : Answer.SILENT;
        }
        if (!(asked.exceptionNow() instanceof HandshakeException failure)) {
            return Answer.NO_PATH;
        }
        return failure.isRefusal()
                ? Answer.REFUSED
                : failure.kind() == HandshakeException.Kind.NO_CIRCUIT ? Answer.NO_CIRCUIT : Answer.NO_PATH;
    }

    /** The direct path over a link that a connection has left, if there is one now. */
    public Optional<Path> direct(Counterpart peer, LocalLink over) {
        if (!links.of(over).isUp() || links.of(over).isHanging()) {
            return Optional.empty();
        }
        return candidates
                .now(
                        peer.name(),
                        peer.description(),
                        Set.of(over),
                        peer.connection().value())
                .stream()
                .filter(path -> path.local().equals(over) && !path.isRelayed() && !questions.isNarrow(path))
                .findFirst();
    }

    /** Tells whether the peer answers over that path, in time, for which it waits. */
    public boolean probe(Counterpart peer, Path path, CompletableFuture<?> stop) {
        CompletableFuture<Void> answer = questions.check(peer, path).answered();
        return await(CompletableFuture.anyOf(answer, stop), AskingRound.LONGEST)
                && answer.isDone()
                && !answer.isCompletedExceptionally();
    }

    /** For the log: which ways there are that the session does not take, and why; empty if there are none. */
    public String notTaken(Counterpart peer, Resumption session) {
        return session.isPinned() && known(peer, session).stream().anyMatch(path -> path.kind() != LinkKind.RDMA)
                ? ". TCP links lead there, but cannot carry GPU memory"
                : "";
    }

    private List<Path> known(Counterpart peer, Resumption session) {
        return candidates.now(
                peer.name(),
                peer.description(),
                Set.of(session.path().link().local()),
                peer.connection().value());
    }

    /** TCP that gets through is the path of a software link; a queue pair needs its device and port, too. */
    private boolean canCarry(Path path) {
        return path.local().kind() != LinkKind.RDMA || links.of(path.local()).isUp();
    }

    /** Over those that can carry the connection; if none can, over all: whether the peer lives is asked there. */
    private List<Path> usable(List<Path> paths) {
        List<Path> usable = paths.stream().filter(this::canCarry).toList();
        return usable.isEmpty() ? paths : usable;
    }

    /** Links that are up first, of these those against which the least speaks, and of these the one in use. */
    private List<Path> inOrder(List<Path> paths, Function<Path, PathPenalty> penalty) {
        return paths.stream()
                .sorted(Comparator.comparing(
                                (Path path) -> !links.of(path.local()).isUp())
                        .thenComparing(penalty))
                .toList();
    }

    /** Tells whether it is there in time, whatever has become of it. */
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
}
