package trigon.transport.failover.search;

import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import trigon.routing.Path;
import trigon.routing.Reason;
import trigon.transport.testsupport.TestPaths;

/**
 * What answers over a peer's candidate paths, at any time: two links to the peer, which go down, alone or together, or
 * flap ten times a second; a peer whose process pauses, or ends; and two addresses at which somebody else is.
 */
final class SimulatedNetwork {

    static final Path IN_USE = TestPaths.cable(1);
    static final Path OTHER = TestPaths.cable(2);
    static final Path SOMEBODY_ELSE = TestPaths.cable(3);

    /** It may lead to the peer, and mostly does not. */
    static final Path LINK_LOCAL = TestPaths.over(4, "fe80::1/64", "fe80::2/64", new Reason.LinkLocal(0));

    static final List<Path> CANDIDATES = List.of(IN_USE, OTHER, SOMEBODY_ELSE, LINK_LOCAL);

    private static final long FLAP = TimeUnit.MILLISECONDS.toNanos(50);

    /** A time during which something is wrong. */
    private record Span(long from, long to) {

        static final Span NEVER = new Span(Long.MAX_VALUE, Long.MAX_VALUE);

        boolean has(long time) {
            return from <= time && time < to;
        }
    }

    /** How a link fails while it does. */
    private enum Failure {
        /** The kernel of this node says that it is down. */
        DOWN,
        /** The same, ten times a second, with moments between. */
        FLAPS,
        /** What is sent is lost: a switch is between. */
        LOSES
    }

    private final Span[] failing = new Span[2];
    private final Failure[] failures = new Failure[2];
    private final Span paused;

    /** A moment in which the peer's own addresses refuse: its firewall is loaded again. */
    private final Span refusing;

    private final Span ended;
    private final boolean somebodyIsSilent;

    /** A firewall refuses over the other link, for good, though the peer has been there. */
    private final boolean firewall;

    /** As a seed has it, for so many nanoseconds. */
    SimulatedNetwork(SplittableRandom random, long horizon) {
        boolean both = random.nextInt(4) == 0;
        for (int link = 0; link < failing.length; link++) {
            boolean fails = link == 0 || both || random.nextInt(4) == 0;
            failing[link] = both && link > 0 ? failing[0] : fails ? span(random, horizon, horizon) : Span.NEVER;
            failures[link] = Failure.values()[random.nextInt(Failure.values().length)];
        }
        paused = random.nextInt(2) == 0 ? span(random, horizon, TimeUnit.SECONDS.toNanos(30)) : Span.NEVER;
        refusing = random.nextInt(4) == 0 ? span(random, horizon, TimeUnit.MILLISECONDS.toNanos(900)) : Span.NEVER;
        ended = random.nextInt(3) == 0 ? new Span(random.nextLong(horizon), Long.MAX_VALUE) : Span.NEVER;
        somebodyIsSilent = random.nextInt(4) == 0;
        firewall = failures[0] == Failure.LOSES && random.nextInt(2) == 0;
    }

    private static Span span(SplittableRandom random, long horizon, long longest) {
        long from = random.nextLong(horizon);
        return new Span(from, from + 1 + random.nextLong(longest));
    }

    /** Whether the peer's process has ended by then. */
    boolean hasEnded(long time) {
        return ended.has(time);
    }

    /** Whether the peer has ended, every path says so, and that has been so for long. */
    boolean saysEnded(long from, long to) {
        for (int link = 0; link < failing.length; link++) {
            boolean lost = failing[link].from <= to && failing[link].to > from && failures[link] != Failure.DOWN;
            if (lost || (link == 0 && failing[0].from <= to && failing[0].to > from)) {
                return false;
            }
        }
        return hasEnded(from) && !somebodyIsSilent;
    }

    /** What comes of asking over a path, and after how long. */
    Answer ask(Path path, long time) {
        if (path.equals(SOMEBODY_ELSE)) {
            return somebodyIsSilent ? Answer.SILENT : Answer.REFUSED;
        }
        if (path.equals(LINK_LOCAL)) {
            return Answer.SILENT;
        }
        int link = path.equals(IN_USE) ? 0 : 1;
        if (failing[link].has(time)) {
            boolean up = failures[link] == Failure.FLAPS && (time - failing[link].from) / FLAP % 2 == 1;
            if (!up) {
                return failures[link] == Failure.LOSES ? Answer.SILENT : Answer.NO_PATH;
            }
        }
        if (ended.has(time) || refusing.has(time) || (firewall && link == 1)) {
            return Answer.REFUSED;
        }
        boolean goesOnInTime = paused.to <= time + AskingRound.LONGEST.toNanos();
        return paused.has(time) && !goesOnInTime ? Answer.STOPPED : Answer.ALIVE;
    }

    @Override
    public String toString() {
        return "links %s %s, %s %s; paused %s, refuses %s, ended %s, somebody is %s%s"
                .formatted(
                        failures[0],
                        failing[0],
                        failures[1],
                        failing[1],
                        paused,
                        refusing,
                        ended,
                        somebodyIsSilent ? "silent" : "there",
                        firewall ? ", the other link refuses" : "");
    }
}
