package trigon.software.lanes;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import trigon.software.LaneSettings;

/** The lane workers of a provider, started as lanes are assigned to them. Thread-safe. */
public final class LaneWorkers implements AutoCloseable {

    private final LaneSettings settings;
    /** By the lanes that they serve: the first, the second, and so on; the last also those after it. */
    private final List<Pool> pools = new ArrayList<>();

    private final AtomicInteger senders = new AtomicInteger();

    /** Replaced with every change, for workers that help others. */
    private volatile LaneWorker[] started = new LaneWorker[0];

    private boolean closed;

    /** Has a worker begin with a lane. */
    interface Assignment {
        void to(LaneWorker worker) throws IOException;
    }

    /** Workers for the same lanes. */
    private final class Pool {

        private final LaneSettings.Workers wanted;
        private final List<LaneWorker> members = new ArrayList<>();

        Pool(LaneSettings.Workers wanted) {
            this.wanted = wanted;
        }

        /**
         * The one with the fewest lanes of that direction: NCCL's channels are alike, so lanes of one direction are
         * busy at the same time, and a message is as slow as the slowest of its lanes.
         */
        LaneWorker leastBusy(WorkerLanes.Direction direction) throws IOException {
            if (closed) {
                throw new IOException("the software devices are closed");
            }
            members.removeIf(LaneWorker::hasFailed);
            Comparator<LaneWorker> byLanes =
                    Comparator.comparingInt(worker -> worker.lanes().count(direction));
            Optional<LaneWorker> best = members.stream()
                    .min(byLanes.thenComparingInt(worker -> worker.lanes().count()));
            if (members.size() < wanted.count()
                    && best.stream().allMatch(worker -> worker.lanes().count() > 0)) {
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
            // now, since it helps from its first iteration on, and the barrier is to wait for that one, too
            started = more;
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

    /** None is started yet. */
    public LaneWorkers(LaneSettings settings) {
        this.settings = settings;
        pools.add(new Pool(settings.first()));
        for (int i = 2; i <= settings.perQueuePair() && settings.others().count() > 0; i++) {
            pools.add(new Pool(settings.others()));
        }
    }

    LaneSettings settings() {
        return settings;
    }

    /**
     * Assigns a new lane to the worker that suits it best.
     *
     * @param number the lane's in its queue pair, from 1
     */
    synchronized void assign(int number, WorkerLanes.Direction direction, Assignment assignment) throws IOException {
        assignment.to(pools.get(Math.min(number, pools.size()) - 1).leastBusy(direction));
    }

    /** Returns once each of them has finished the iteration that it was in when this was called. */
    public void passBarrier() {
        for (LaneWorker worker : started) {
            worker.lanes().betweenIterations(() -> {});
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
