package trigon.transport.resume;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Exactly once, whatever fails in whatever order. {@code -Dtrigon.resume.schedules=} says how many schedules,
 * {@code -Dtrigon.seed=} where they begin; {@code -Dtrigon.resume.failures=} how many failures are tried in every
 * order, of which two take a minute.
 */
class ResumeSimulationTest {

    private static final int FAILURES = Integer.getInteger("trigon.resume.failures", 1);
    private static final long SCHEDULES = Long.getLong("trigon.resume.schedules", 30_000);

    @Test
    void everyScheduleDeliversEachMessageOnce() {
        Long given = Long.getLong("trigon.seed");
        long first = given != null ? given : ThreadLocalRandom.current().nextLong(1L << 40);
        System.out.println("schedules " + first + " to " + (first + SCHEDULES - 1));
        LongStream.range(first, first + SCHEDULES).parallel().forEach(seed -> Schedule.run(seed, Mutation.NONE));
    }

    /** What the protocol is made of is needed: without each of its parts the same schedules find a wrong message. */
    @ParameterizedTest
    @EnumSource(value = Mutation.class, mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void findsWhatIsDoneWrong(Mutation mutation) {
        assertThatThrownBy(() -> {
                    for (long seed = 0; seed < 100_000; seed++) {
                        Schedule.run(seed, mutation);
                    }
                })
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("seed");
    }

    private record Reached(SimulatedSession session, int failures) {}

    /** Two messages, two links, few failures, in every order: from each state the rest gets across. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void everyOrderOfFailuresIsSurvived(boolean secondThroughRelays) {
        int most = FAILURES;
        Deque<Reached> open = new ArrayDeque<>();
        Set<String> known = new HashSet<>();
        open.add(new Reached(twoMessages(secondThroughRelays ? 1 : 2), 0));
        while (!open.isEmpty()) {
            Reached from = open.removeLast();
            for (Reached next : following(from, most)) {
                if (known.add(next.failures + next.session.description())) {
                    open.add(next);
                    Schedule.settle(next.session.copy(), null);
                }
            }
        }
        System.out.println(known.size() + " states of two messages with up to " + FAILURES + " failures");
        assertThat(known).hasSizeGreaterThan(10_000);
    }

    private static SimulatedSession twoMessages(int firstBySend) {
        SimulatedApplications applications = new SimulatedApplications(2, 1, false, Mutation.NONE);
        return new SimulatedSession(applications, 1, 2, firstBySend, Mutation.NONE);
    }

    private static List<Reached> following(Reached from, int most) {
        List<Reached> next = new ArrayList<>();
        for (SimulatedEvent event : SimulatedEvent.values()) {
            int failures = from.failures + (isFailure(event) ? 1 : 0);
            if (failures > most || !isTried(event)) {
                continue;
            }
            int choices = choices(event, from.session);
            for (int which = 0; which < choices; which++) {
                SimulatedSession session = from.session.copy();
                if (session.happens(event, which) && session.pathCount() <= most + 2 && session.wireCount() <= 1) {
                    next.add(new Reached(session, failures));
                }
            }
        }
        return next;
    }

    private static boolean isFailure(SimulatedEvent event) {
        return event.compareTo(SimulatedEvent.LOSE_PACKETS) >= 0 && event != SimulatedEvent.LINK_UP;
    }

    /** Deaths end it, and doubled messages are for the schedules: there are too many states otherwise. */
    private static boolean isTried(SimulatedEvent event) {
        return switch (event) {
            case KILL_SENDER,
                    KILL_RECEIVER,
                    SENDER_HAS_NO_THREAD,
                    RECEIVER_HAS_NO_THREAD,
                    LOSE_COMPLETIONS,
                    LINKS_DOWN,
                    DOUBLE,
                    STOP_SENDER,
                    STOP_RECEIVER,
                    CONTINUE -> false;
            default -> true;
        };
    }

    private static int choices(SimulatedEvent event, SimulatedSession session) {
        return switch (event) {
            case LAND, ACKNOWLEDGE, WRITE_ENTRY -> session.pathCount();
            case DELIVER, DROP -> session.wireCount();
            case LOSE_PACKETS -> session.pathCount() << 3;
            case SENDER_TIMER, RECEIVER_TIMER, SUSPECT, LINK_DOWN, LINK_UP -> 2;
            default -> 1;
        };
    }
}
