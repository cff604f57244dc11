package trigon.transport.resume;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import trigon.transport.resume.SimulatedSession.Event;
import trigon.transport.resume.SimulatedSession.Mutation;

/**
 * One run of a {@link SimulatedSession}: events in an order that a seed decides, faults among them, then a quiet time
 * without faults in which everything has to get across, unless an end has died.
 */
final class Schedule {

    /** Without faults; those that move data are there more often. */
    private static final Event[] USUAL = {
        Event.SEND,
        Event.SEND,
        Event.TELL_SENT,
        Event.RECEIVE,
        Event.RECEIVE,
        Event.TELL_RECEIVED,
        Event.POLL_SENDER,
        Event.POLL_RECEIVER,
        Event.LAND,
        Event.LAND,
        Event.LAND,
        Event.ACKNOWLEDGE,
        Event.ACKNOWLEDGE,
        Event.WRITE_ENTRY,
        Event.WRITE_ENTRY,
        Event.DELIVER,
        Event.DELIVER,
        Event.DELIVER,
        Event.FENCE_SENDER,
        Event.FENCE_RECEIVER,
        Event.SENDER_SEES_ERROR,
        Event.HEARD
    };

    private static final Event[] TIMERS = {Event.SENDER_TIMER, Event.RECEIVER_TIMER};

    private static final Event[] FAULTS = {
        Event.LOSE_PACKETS,
        Event.LOSE_PACKETS,
        Event.LOSE_PACKETS,
        Event.SENDER_ERROR,
        Event.SENDER_ERROR,
        Event.RECEIVER_ERROR,
        Event.RECEIVER_ERROR,
        Event.SUSPECT,
        Event.LINK_DOWN,
        Event.LINK_DOWN,
        Event.LINK_UP,
        Event.DROP,
        Event.DROP,
        Event.DOUBLE,
        Event.DOUBLE,
        Event.STOP_SENDER,
        Event.STOP_RECEIVER,
        Event.CONTINUE
    };

    private static final Event[] RARE = {Event.KILL_SENDER, Event.KILL_RECEIVER, Event.LOSE_COMPLETIONS};

    private static final int LINKS = 2;
    private static final int QUIET_ROUNDS = 400;

    private final SplittableRandom random;
    private final SimulatedSession session;
    private final @Nullable List<String> events;

    /** The one of a seed. */
    Schedule(long seed, Mutation mutation, @Nullable List<String> events) {
        random = new SplittableRandom(seed);
        session = new SimulatedSession(2 + random.nextInt(6), 1 + random.nextInt(3), LINKS, mutation);
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
        for (int i = 0; i < length && session.pathCount() < SimulatedPaths.MOST / 2; i++) {
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
        Event event = rare && random.nextInt(6) == 0
                ? RARE[random.nextInt(RARE.length)]
                : FAULTS[random.nextInt(FAULTS.length)];
        return switch (event) {
            case LOSE_PACKETS -> happens(event, random.nextInt(session.pathCount()) << 3 | 1 + random.nextInt(7));
            case DROP, DOUBLE -> happens(event, session.wireCount() == 0 ? 0 : random.nextInt(session.wireCount()));
            default -> happens(event, random.nextInt(LINKS));
        };
    }

    private void usual(Event event) {
        int newest = session.pathCount() - 1;
        int which = event == Event.DELIVER
                ? (session.wireCount() == 0 ? 0 : random.nextInt(session.wireCount()))
                : random.nextInt(3) == 0 ? random.nextInt(newest + 1) : newest;
        happens(event, which);
    }

    private boolean happens(Event event, int which) {
        return happens(session, event, which, events);
    }

    /** The faults are over: everything gets across now, or has failed for a reason. */
    static void settle(SimulatedSession session, @Nullable List<String> events) {
        session.happens(Event.CONTINUE, 0);
        for (int link = 0; link < LINKS; link++) {
            session.happens(Event.LINK_UP, link);
        }
        for (int round = 0; round < QUIET_ROUNDS; round++) {
            if (session.isDone() || session.isRightlyLost()) {
                return;
            }
            boolean moved = false;
            for (Event event : USUAL) {
                moved |= all(session, event, events);
            }
            if (!moved) {
                for (Event timer : TIMERS) {
                    happens(session, timer, round % LINKS, events);
                }
            }
        }
        throw new AssertionError("stuck: " + session.description());
    }

    private static boolean all(SimulatedSession session, Event event, @Nullable List<String> events) {
        boolean any = false;
        int most = event == Event.DELIVER ? session.wireCount() : session.pathCount();
        int first = event == Event.LAND || event == Event.ACKNOWLEDGE || event == Event.WRITE_ENTRY ? 0 : most - 1;
        for (int which = event == Event.DELIVER ? 0 : Math.max(0, first); which < Math.max(1, most); which++) {
            any |= happens(session, event, which, events);
        }
        return any;
    }

    private static boolean happens(SimulatedSession session, Event event, int which, @Nullable List<String> events) {
        boolean happened = session.happens(event, which);
        if (happened && events != null) {
            events.add(event + " " + which);
        }
        return happened;
    }
}
