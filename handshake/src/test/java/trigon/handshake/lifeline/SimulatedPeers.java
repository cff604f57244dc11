package trigon.handshake.lifeline;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import trigon.handshake.lifeline.Lifelines.BeatingChannel;

/**
 * Two processes with connections over two paths, by a clock of their own. Each process is one thread that reads what
 * has arrived and then runs what is due; it stalls before either. An end whose path is quiet asks over the other path,
 * and takes its own for lost if it stays quiet once the answer has come.
 */
final class SimulatedPeers {

    /** As long as a quiet path is listened to after the answer. */
    private static final long HEARING = TimeUnit.MILLISECONDS.toNanos(300);

    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(1);
    private static final long NEVER = Long.MAX_VALUE;
    private static final int PATHS = 2;

    /** Connections are made at different times, and their sessions later. */
    private static final long LAST_MADE = TimeUnit.SECONDS.toNanos(5);

    private static final long SESSION = TimeUnit.MILLISECONDS.toNanos(500);

    /** A planted defect. */
    enum Mutation {
        NONE,
        JUDGES_BEFORE_READING,
        ANSWERS_BEFORE_BEATING,
        TAKES_THE_HANDSHAKE_FOR_SILENCE
    }

    private record Event(long time, long number, Runnable what) {}

    private final SplittableRandom random;
    private final Mutation mutation;
    private final double stalls;
    private final PriorityQueue<Event> events =
            new PriorityQueue<>(Comparator.comparingLong(Event::time).thenComparingLong(Event::number));
    private final List<SimulatedProcess> processes = List.of(new SimulatedProcess(), new SimulatedProcess());
    private final List<End> ends = new ArrayList<>();

    /** Since when nothing arrives over a path, by the path and the receiver. */
    private final long[][] cuts = {{NEVER, NEVER}, {NEVER, NEVER}};

    private long now;
    private long posted;
    private long lastStall = NEVER;

    /** Healthy paths; the random numbers say how often the processes stall. */
    SimulatedPeers(SplittableRandom random, Mutation mutation) {
        this.random = random;
        this.mutation = mutation;
        stalls = random.nextInt(4) * 0.01;
        for (int path = 0; path < PATHS; path++) {
            for (int i = 0; i < 4; i++) {
                connect(path, processes.get(i % 2), processes.get(1 - i % 2));
            }
        }
    }

    private void connect(int path, SimulatedProcess dialling, SimulatedProcess listening) {
        End dialler = new End(path, dialling, true);
        End listener = new End(path, listening, false);
        dialler.other = listener;
        listener.other = dialler;
        for (End end : List.of(dialler, listener)) {
            ends.add(end);
        }
        listening.later(random.nextLong(LAST_MADE), listener::begin);
    }

    /** From that time on, nothing arrives over a path in one direction, or in both; no process stalls any more. */
    void cut(int path, long time, boolean bothWays) {
        int direction = random.nextInt(2);
        cuts[path][direction] = time;
        cuts[path][1 - direction] = bothWays ? time : NEVER;
        lastStall = time;
    }

    void runUntil(long time) {
        for (Event event = events.peek(); event != null && event.time <= time; event = events.peek()) {
            events.remove();
            now = event.time;
            event.what.run();
        }
    }

    /** True if an end of each connection over the path has found it lost. */
    boolean isFoundLost(int path) {
        return ends.stream().filter(end -> end.path == path).allMatch(end -> end.lost || end.other.lost);
    }

    private void post(long delay, Runnable what) {
        events.add(new Event(now + delay, posted++, what));
    }

    private long stall() {
        double drawn = random.nextDouble();
        if (drawn >= stalls || now > lastStall) {
            return random.nextLong(TimeUnit.MICROSECONDS.toNanos(100));
        }
        return random.nextLong(TimeUnit.MILLISECONDS.toNanos(drawn < stalls / 3 ? 3000 : 400));
    }

    /** What arrives is read by its receiver; a packet in a hundred is sent again. */
    private void send(int path, SimulatedProcess to, Runnable read) {
        boolean again = random.nextInt(100) == 0;
        long delay =
                random.nextLong(TimeUnit.MILLISECONDS.toNanos(2)) + (again ? TimeUnit.MILLISECONDS.toNanos(200) : 0);
        post(delay, () -> {
            if (now < cuts[path][processes.indexOf(to)]) {
                to.inbox.add(read);
                to.wake();
            }
        });
    }

    private final class SimulatedProcess implements Lifelines.Timer {

        private final Lifelines lifelines = new Lifelines(this, () -> now);
        private final Deque<Runnable> inbox = new ArrayDeque<>();
        private final Deque<Runnable> due = new ArrayDeque<>();
        private boolean awake;

        private void wake() {
            if (!awake) {
                awake = true;
                post(stall(), this::read);
            }
        }

        private void read() {
            for (int unread = inbox.size(); unread > 0; unread--) {
                inbox.remove().run();
            }
            post(stall(), this::work);
        }

        private void work() {
            awake = false;
            for (int left = due.size(); left > 0; left--) {
                due.remove().run();
            }
            if (!due.isEmpty() || !inbox.isEmpty()) {
                wake();
            }
        }

        @Override
        public void later(long nanos, Runnable task) {
            post(nanos, () -> {
                due.add(task);
                wake();
            });
        }

        @Override
        public void afterReading(Runnable task) {
            if (mutation == Mutation.JUDGES_BEFORE_READING) {
                task.run();
            } else {
                due.add(task); // the next turn reads first
            }
        }

        private void answer(Runnable answer) {
            if (mutation != Mutation.ANSWERS_BEFORE_BEATING) {
                lifelines.beatOnDemand();
            }
            answer.run();
        }
    }

    private final class End implements BeatingChannel {

        private final int path;
        private final SimulatedProcess process;
        private final boolean dials;
        private final SilenceClock silence = new SilenceClock(now);
        private End other = this;
        private long asked;
        private boolean asking;
        private boolean lost;

        private End(int path, SimulatedProcess process, boolean dials) {
            this.path = path;
            this.process = process;
            this.dials = dials;
            silence.onQuiet(this::ask);
        }

        /** The connection is up, and somebody wants to know soon when its peer is silent, once there is a session. */
        private void begin() {
            if (mutation != Mutation.TAKES_THE_HANDSHAKE_FOR_SILENCE) {
                silence.begin(now);
            }
            process.lifelines.add(this);
            if (dials) {
                beat();
            } else {
                send(path, other.process, other::begin);
            }
            process.later(random.nextLong(SESSION), () -> process.lifelines.hurry(this));
        }

        @Override
        public void tellKey() {}

        @Override
        public void beat() {
            send(path, other.process, other::hear);
        }

        private void hear() {
            silence.recordHeard(now);
            if (silence.peerHurries() && !dials) {
                beat();
            }
        }

        @Override
        public void look(long passedNanos, long at) {
            silence.advance(passedNanos, at);
            silence.tellIfQuiet();
        }

        private void ask() {
            if (asking) {
                return;
            }
            asking = true;
            long question = ++asked;
            int over = 1 - path;
            send(
                    over,
                    other.process,
                    () -> other.process.answer(() -> send(
                            over,
                            process,
                            () -> process.later(HEARING, () -> process.afterReading(() -> decide(question))))));
            process.later(PATIENCE, () -> asking &= asked != question);
        }

        private void decide(long question) {
            if (asking && asked == question) {
                asking = false;
                if (silence.isQuiet()) {
                    lost = true;
                    if (now < Math.min(cuts[path][0], cuts[path][1])) {
                        throw new AssertionError("at %d ns a healthy path is found lost".formatted(now));
                    }
                }
            }
        }

        @Override
        public boolean isDialled() {
            return dials;
        }

        @Override
        public String peerAddress() {
            return "";
        }

        @Override
        public void letGo() {
            throw new UnsupportedOperationException("nothing ends here");
        }
    }
}
