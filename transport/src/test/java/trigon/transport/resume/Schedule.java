package trigon.transport.resume;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * One run of a {@link SimulatedSession}: events in an order that a seed decides, faults among them, then a quiet time
 * without faults in which everything has to get across, unless an end has died.
 */
final class Schedule {

    /** Without faults; those that move data are there more often. */
    private static final SimulatedEvent[] USUAL = {
        SimulatedEvent.SEND,
        SimulatedEvent.SEND,
        SimulatedEvent.TELL_SENT,
        SimulatedEvent.RECEIVE,
        SimulatedEvent.RECEIVE,
        SimulatedEvent.TELL_RECEIVED,
        SimulatedEvent.POLL_SENDER,
        SimulatedEvent.POLL_RECEIVER,
        SimulatedEvent.LAND,
        SimulatedEvent.LAND,
        SimulatedEvent.LAND,
        SimulatedEvent.ACKNOWLEDGE,
        SimulatedEvent.ACKNOWLEDGE,
        SimulatedEvent.WRITE_ENTRY,
        SimulatedEvent.WRITE_ENTRY,
        SimulatedEvent.DELIVER,
        SimulatedEvent.DELIVER,
        SimulatedEvent.DELIVER,
        SimulatedEvent.FENCE_SENDER,
        SimulatedEvent.FENCE_RECEIVER,
        SimulatedEvent.SENDER_SEES_ERROR,
        SimulatedEvent.HEARD
    };

    private static final SimulatedEvent[] TIMERS = {SimulatedEvent.SENDER_TIMER, SimulatedEvent.RECEIVER_TIMER};

    private static final SimulatedEvent[] FAULTS = {
        SimulatedEvent.LOSE_PACKETS,
        SimulatedEvent.LOSE_PACKETS,
        SimulatedEvent.LOSE_PACKETS,
        SimulatedEvent.SENDER_ERROR,
        SimulatedEvent.SENDER_ERROR,
        SimulatedEvent.RECEIVER_ERROR,
        SimulatedEvent.RECEIVER_ERROR,
        SimulatedEvent.SUSPECT,
        SimulatedEvent.LINK_DOWN,
        SimulatedEvent.LINK_DOWN,
        SimulatedEvent.LINKS_DOWN,
        SimulatedEvent.LINK_UP,
        SimulatedEvent.DROP,
        SimulatedEvent.DROP,
        SimulatedEvent.DOUBLE,
        SimulatedEvent.DOUBLE,
        SimulatedEvent.STOP_SENDER,
        SimulatedEvent.STOP_RECEIVER,
        SimulatedEvent.CONTINUE
    };

    private static final SimulatedEvent[] RARE = {
        SimulatedEvent.KILL_SENDER,
        SimulatedEvent.KILL_RECEIVER,
        SimulatedEvent.SENDER_HAS_NO_THREAD,
        SimulatedEvent.RECEIVER_HAS_NO_THREAD,
        SimulatedEvent.LOSE_COMPLETIONS
    };

    private static final int LINKS = 2;
    private static final int QUIET_ROUNDS = 400;

    private final SplittableRandom random;
    private final SimulatedSession session;
    private final @Nullable List<String> events;

    /** The one of a seed. */
    Schedule(long seed, Mutation mutation, @Nullable List<String> events) {
        random = new SplittableRandom(seed);
        int slots = 1 + random.nextInt(3);
        int messages = 2 + random.nextInt(6);
        boolean copies = random.nextBoolean();
        int firstBySend = copies ? 0 : LINKS - random.nextInt(2);
        SimulatedApplications applications = new SimulatedApplications(messages, slots, copies, mutation);
        session = new SimulatedSession(applications, slots, LINKS, firstBySend, mutation);
        this.events = events;
    }

    /** Runs the one of a seed; throws what it finds, with the events that led there. */
    static void run(long seed, Mutation mutation) {
        try {
            new Schedule(seed, mutation, null).run();
        } catch (AssertionError e) {
            List<String> events = new ArrayList<>();
            try {
                new Schedule(seed, mutation, events).run();
            } catch (AssertionError again) {
                throw new AssertionError("seed " + seed + ": " + again.getMessage() + " after " + events, again);
            }
            throw new AssertionError("seed " + seed + " fails once and not twice", e);
        }
    }

    private void run() {
        int faults = random.nextInt(8);
        int length = 60 + random.nextInt(160);
        boolean rare = random.nextInt(8) == 0;
        for (int i = 0; i < length && session.pathCount() < SimulatedPaths.MAX / 2; i++) {
            int choice = random.nextInt(16);
            if (choice == 0 && faults > 0) {
                faults -= faulty(rare) ? 1 : 0;
            } else if (choice == 1) {
                happens(TIMERS[random.nextInt(TIMERS.length)], random.nextInt(LINKS));
            } else {
                usual(USUAL[random.nextInt(USUAL.length)]);
            }
        }
        settle(session, events);
    }

    private boolean faulty(boolean rare) {
        SimulatedEvent event = rare && random.nextInt(6) == 0
                ? RARE[random.nextInt(RARE.length)]
                : FAULTS[random.nextInt(FAULTS.length)];
        return switch (event) {
            case LOSE_PACKETS -> happens(event, random.nextInt(session.pathCount()) << 3 | 1 + random.nextInt(7));
            case DROP, DOUBLE -> happens(event, session.wireCount() == 0 ? 0 : random.nextInt(session.wireCount()));
            default -> happens(event, random.nextInt(LINKS));
        };
    }

    private void usual(SimulatedEvent event) {
        int newest = session.pathCount() - 1;
        int which = event == SimulatedEvent.DELIVER
                ? (session.wireCount() == 0 ? 0 : random.nextInt(session.wireCount()))
                : random.nextInt(3) == 0 ? random.nextInt(newest + 1) : newest;
        happens(event, which);
    }

    private boolean happens(SimulatedEvent event, int which) {
        return happens(session, event, which, events);
    }

    /** The faults are over: everything gets across now, or has failed for a reason. */
    static void settle(SimulatedSession session, @Nullable List<String> events) {
        session.happens(SimulatedEvent.CONTINUE, 0);
        for (int link = 0; link < LINKS; link++) {
            session.happens(SimulatedEvent.LINK_UP, link);
        }
        for (int round = 0; round < QUIET_ROUNDS; round++) {
            if (session.isDone() || session.isRightlyLost()) {
                return;
            }
            boolean moved = false;
            for (SimulatedEvent event : USUAL) {
                moved |= all(session, event, events);
            }
            if (!moved) {
                for (SimulatedEvent timer : TIMERS) {
                    happens(session, timer, round % LINKS, events);
                }
            }
        }
        throw new AssertionError("stuck: " + session.description());
    }

    private static boolean all(SimulatedSession session, SimulatedEvent event, @Nullable List<String> events) {
        boolean any = false;
        int most = event == SimulatedEvent.DELIVER ? session.wireCount() : session.pathCount();
        int first = event == SimulatedEvent.LAND
                        || event == SimulatedEvent.ACKNOWLEDGE
                        || event == SimulatedEvent.WRITE_ENTRY
                ? 0
                : most - 1;
        for (int which = event == SimulatedEvent.DELIVER ? 0 : Math.max(0, first); which < Math.max(1, most); which++) {
            any |= happens(session, event, which, events);
        }
        return any;
    }

    private static boolean happens(
            SimulatedSession session, SimulatedEvent event, int which, @Nullable List<String> events) {
        boolean happened = session.happens(event, which);
        if (happened && events != null) {
            events.add(event + " " + which);
        }
        return happened;
    }
}
