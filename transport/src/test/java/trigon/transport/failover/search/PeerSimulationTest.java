package trigon.transport.failover.search;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Judgements of a peer for which several connections ask over two cables, while those are cut, the peer's process is
 * stopped or has ended, and this one gets no processor time: it is never lost while it, or its kernel, answers any of
 * them; and lost soon after nobody has for too long. {@code -Dtrigon.peers=} says how many peers, {@code
 * -Dtrigon.seed=} where they begin.
 */
class PeerSimulationTest {

    private static final long PEERS = Long.getLong("trigon.peers", 1_000_000);
    private static final int CONNECTIONS = 3;
    private static final long HORIZON = TimeUnit.SECONDS.toNanos(40);
    private static final Duration PEER_TIMEOUT = Duration.ofSeconds(5);
    private static final Duration STOPPED_TIMEOUT = Duration.ofSeconds(15);
    private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);

    /** Two rounds of questions and the pauses behind them. */
    private static final long SLACK = 2 * Peer.LONGEST_STEP.toNanos();

    private static final Found FOUND = new Found(List.of(SimulatedNetwork.IN_USE), false, false);
    private static final Found STOPPED = new Found(List.of(), false, true);
    private static final Found GONE = new Found(List.of(), true, false);
    private static final Found NOTHING = new Found(List.of(), false, false);

    /** Party that answers a round of questions. */
    private enum Answerer {
        PROCESS,
        KERNEL,
        ANOTHER,
        NOBODY;

        boolean isThere() {
            return this == PROCESS || this == ANOTHER;
        }

        Found found() {
            return switch (this) {
                case PROCESS -> FOUND;
                case KERNEL -> STOPPED;
                case ANOTHER -> GONE;
                case NOBODY -> NOTHING;
            };
        }
    }

    /** Defects that are planted. */
    enum Defect {
        NONE,
        EACH_CONNECTION_FOR_ITSELF,
        STARVATION_COUNTS,
        THE_KERNEL_IS_NOBODY,
        ANY_ANSWER_IS_THE_PEERS
    }

    /** A time in which something is the matter. */
    private record Span(long from, long to) {

        static Span of(SplittableRandom random, long longest) {
            long from = random.nextLong(HORIZON);
            return new Span(from, from + random.nextLong(longest));
        }

        boolean has(long time) {
            return from <= time && time < to;
        }
    }

    @Test
    void nobodyWhoAnswersIsLostAndWhoeverDoesNotIs() {
        Long given = Long.getLong("trigon.seed");
        long first = given != null ? given : ThreadLocalRandom.current().nextLong(1L << 40);
        System.out.println("peers " + first + " to " + (first + PEERS - 1));
        LongStream.range(first, first + PEERS).parallel().forEach(seed -> new Run(seed, Defect.NONE).play());
    }

    @ParameterizedTest
    @EnumSource(value = Defect.class, mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void findsPlantedDefects(Defect defect) {
        assertThatThrownBy(() -> {
                    for (long seed = 0; seed < 10_000; seed++) {
                        new Run(seed, defect).play();
                    }
                })
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("seed");
    }

    /** One peer, as a seed has it, and what the oracle knows of it. */
    private static final class Run {

        private final long seed;
        private final Defect defect;
        private final Span[] cuts;
        private final Span stopped;
        private final Span starved;
        private final long ends;

        /** Path of each connection that may take only one; or -1. */
        private final int[] only = new int[CONNECTIONS];

        private final long[] next = new long[CONNECTIONS];
        private final long[] pauses = new long[CONNECTIONS];
        private final Peer[] peers = new Peer[CONNECTIONS];

        /** Nanoseconds in which this process has run, since the peer's process and its kernel have answered last. */
        private long unheard;

        private long unanswered;

        Run(long seed, Defect defect) {
            this.seed = seed;
            this.defect = defect;
            SplittableRandom random = new SplittableRandom(seed);
            long longest = TimeUnit.SECONDS.toNanos(30);
            cuts = new Span[] {Span.of(random, longest), Span.of(random, longest)};
            stopped = Span.of(random, longest);
            starved = Span.of(random, longest);
            ends = random.nextInt(4) == 0 ? random.nextLong(HORIZON) : Long.MAX_VALUE;
            Peer shared = new Peer(PEER_TIMEOUT, STOPPED_TIMEOUT);
            for (int each = 0; each < CONNECTIONS; each++) {
                only[each] = random.nextInt(3) - 1;
                next[each] = random.nextLong(1000 * MILLI);
                peers[each] =
                        defect == Defect.EACH_CONNECTION_FOR_ITSELF ? new Peer(PEER_TIMEOUT, STOPPED_TIMEOUT) : shared;
            }
        }

        void play() {
            long before = 0;
            while (true) {
                int who = 0;
                for (int each = 1; each < CONNECTIONS; each++) {
                    who = next[each] < next[who] ? each : who;
                }
                long asked = next[who];
                if (asked > HORIZON) {
                    return;
                }
                Answerer found = ask(who, asked);
                long answered = afterStarvation(asked + (found.isThere() ? MILLI : 1000 * MILLI));
                starve(asked, answered, who);
                before = observe(who, found, Math.max(before, answered), before);
                pauses[who] =
                        found == Answerer.PROCESS ? 200 * MILLI : Math.clamp(2 * pauses[who], 20 * MILLI, 500 * MILLI);
                next[who] = answered + pauses[who];
            }
        }

        /** Asks for one connection, at that time. */
        private Answerer ask(int who, long time) {
            boolean leads = false;
            for (int path = 0; path < cuts.length; path++) {
                leads |= (only[who] < 0 || only[who] == path) && !cuts[path].has(time);
            }
            if (!leads) {
                return Answerer.NOBODY;
            }
            if (time >= ends) {
                return Answerer.ANOTHER;
            }
            return stopped.has(time) ? Answerer.KERNEL : Answerer.PROCESS;
        }

        private long afterStarvation(long time) {
            return starved.has(time) ? starved.to : time;
        }

        /** A defect: what is not asked for want of processor time counts as if it had been. */
        private void starve(long asked, long answered, int who) {
            if (defect == Defect.STARVATION_COUNTS) {
                for (long time = asked; time < answered; time += 1000 * MILLI) {
                    var _ = peers[who].observe(Answerer.NOBODY.found(), time);
                }
            }
        }

        private long observe(int who, Answerer found, long now, long before) {
            long ran = now - before - Math.max(0, Math.min(now, starved.to) - Math.max(before, starved.from));
            unheard = found == Answerer.PROCESS ? 0 : unheard + ran;
            unanswered = found == Answerer.PROCESS || found == Answerer.KERNEL ? 0 : unanswered + ran;
            Peer.State state = peers[who].observe(asSeen(found).found(), now);
            boolean lost = state == Peer.State.LOST;
            boolean mayBe =
                    unanswered > PEER_TIMEOUT.toNanos() - SLACK / 2 || unheard > STOPPED_TIMEOUT.toNanos() - SLACK / 2;
            boolean mustBe = unanswered > PEER_TIMEOUT.toNanos() + SLACK || unheard > STOPPED_TIMEOUT.toNanos() + SLACK;
            check(!lost || mayBe, "is lost, though it answers", now);
            check(lost || !mustBe, "is not lost, though nobody answers", now);
            check(lost || found != Answerer.PROCESS || state == Peer.State.REACHED, "answers and is not reached", now);
            return now;
        }

        private Answerer asSeen(Answerer found) {
            return switch (defect) {
                case THE_KERNEL_IS_NOBODY -> found == Answerer.KERNEL ? Answerer.NOBODY : found;
                case ANY_ANSWER_IS_THE_PEERS -> found == Answerer.ANOTHER ? Answerer.PROCESS : found;
                case NONE, EACH_CONNECTION_FOR_ITSELF, STARVATION_COUNTS -> found;
            };
        }

        private void check(boolean right, String what, long time) {
            if (!right) {
                throw new AssertionError("seed %d at %d ms, %s: the peer %s: cuts %s, stopped %s, starved %s, ends %d"
                        .formatted(seed, time / MILLI, defect, what, Arrays.toString(cuts), stopped, starved, ends));
            }
        }
    }
}
