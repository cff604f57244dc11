package trigon.software;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** The lane workers of a provider, started as lanes are dealt to them. Thread-safe. */
final class LaneWorkers implements AutoCloseable {

    private final LaneSettings settings;
    private final Crew first;
    private final Crew others;
    private final List<LaneWorker> workers = new ArrayList<>();
    private boolean closed;

    /** Which way a lane goes. */
    enum Direction {
        OUTGOING,
        INCOMING
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
         * busy at the same time, and a message is as slow as the slowest of its lanes. Two lanes that ask at the same time may
         * get the same worker.
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
            LaneWorker started = new LaneWorker(
                    "trigon-lane-" + workers.size(), wanted.busyPoll().toNanos());
            started.start();
            members.add(started);
            workers.add(started);
            return started;
        }
    }

    LaneWorkers(LaneSettings settings) {
        this.settings = settings;
        first = new Crew(settings.first());
        others = new Crew(settings.others());
    }

    LaneSettings settings() {
        return settings;
    }

    /** The one for a new lane, by its number in its queue pair, from 1. */
    synchronized LaneWorker forLane(int number, Direction direction) throws IOException {
        return (number == 1 || settings.others().count() == 0 ? first : others).leastBusy(direction);
    }

    /** Returns once each of them has finished the turn that it was in when this was called. */
    void passBarrier() {
        for (LaneWorker worker : started()) {
            worker.between(() -> {});
        }
    }

    private synchronized List<LaneWorker> started() {
        return List.copyOf(workers);
    }

    @Override
    public void close() {
        synchronized (this) {
            closed = true;
        }
        started().forEach(LaneWorker::close);
    }
}
