package trigon.software;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/** The lane workers of a provider, started as lanes are dealt to them. Thread-safe. */
final class LaneWorkers implements AutoCloseable {

    private final LaneSettings settings;
    /** By the lanes that they serve: the first, the second, and so on; the last also those after it. */
    private final List<Crew> crews = new ArrayList<>();

    private final AtomicInteger senders = new AtomicInteger();

    /** Replaced with every change, for workers that help others. */
    private volatile LaneWorker[] started = new LaneWorker[0];

    private boolean closed;

    /** Which way a lane goes. */
    enum Direction {
        OUTGOING,
        INCOMING
    }

    /** Puts a lane on a worker. */
    interface Placing {
        void on(LaneWorker worker) throws IOException;
    }

    /** Those who serve the same lanes. */
    private final class Crew {

        private final LaneSettings.Workers wanted;
        private final List<LaneWorker> members = new ArrayList<>();

        Crew(LaneSettings.Workers wanted) {
            this.wanted = wanted;
        }

        /**
         * The one with the fewest lanes of that direction: NCCL's channels are alike, so lanes of one direction are
         * busy at the same time, and a message is as slow as the slowest of its lanes.
         */
        LaneWorker leastBusy(Direction direction) throws IOException {
            if (closed) {
                throw new IOException("the software devices are closed");
            }
            members.removeIf(LaneWorker::hasFailed);
            Comparator<LaneWorker> byLanes = Comparator.comparingInt(worker -> worker.lanes(direction));
            Optional<LaneWorker> best = members.stream().min(byLanes.thenComparingInt(LaneWorker::lanes));
            if (members.size() < wanted.count() && best.stream().allMatch(worker -> worker.lanes() > 0)) {
                return start();
            }
            return best.orElseThrow();
        }

        private LaneWorker start() throws IOException {
            int number = started.length;
            LaneWorker worker =
                    new LaneWorker("trigon-lane-" + number, wanted.busyPoll().toNanos(), LaneWorkers.this);
            LaneWorker[] before = started;
            LaneWorker[] more = Arrays.copyOf(before, number + 1);
            more[number] = worker;
            started = more; // now, since it helps from its first turn on, and the barrier is to wait for that one, too
            try {
                worker.start();
            } catch (IOException | OutOfMemoryError e) {
                started = before;
                throw e;
            }
            members.add(worker);
            return worker;
        }
    }

    LaneWorkers(LaneSettings settings) {
        this.settings = settings;
        crews.add(new Crew(settings.first()));
        for (int i = 2; i <= settings.perQueuePair() && settings.others().count() > 0; i++) {
            crews.add(new Crew(settings.others()));
        }
    }

    LaneSettings settings() {
        return settings;
    }

    /**
     * Has a new lane put on the worker that suits it best.
     *
     * @param number the lane's in its queue pair, from 1
     */
    synchronized void deal(int number, Direction direction, Placing lane) throws IOException {
        lane.on(crews.get(Math.min(number, crews.size()) - 1).leastBusy(direction));
    }

    /** Returns once each of them has finished the turn that it was in when this was called. */
    void passBarrier() {
        for (LaneWorker worker : started) {
            worker.between(() -> {});
        }
    }

    /** All that have been started; not to be changed. */
    LaneWorker[] started() {
        return started;
    }

    /** Counts the queue pairs that have lanes to send on. */
    void addSenders(int more) {
        senders.addAndGet(more);
    }

    /** How many queue pairs have lanes to send on. */
    int senders() {
        return senders.get();
    }

    @Override
    public void close() {
        synchronized (this) {
            closed = true;
        }
        for (LaneWorker worker : started) {
            worker.close();
        }
    }
}
