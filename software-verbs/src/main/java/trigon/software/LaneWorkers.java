package trigon.software;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** The lane workers of a provider, started as lanes are dealt to them. Thread-safe. */
final class LaneWorkers implements AutoCloseable {

    private final LaneSettings settings;
    private final Crew first;
    private final Crew others;
    private final List<LaneWorker> workers = new ArrayList<>();
    private boolean closed;

    /** Those who serve the same lanes: started one by one, then dealt lanes in turns. */
    private final class Crew {

        private final LaneSettings.Workers wanted;
        private final List<LaneWorker> members = new ArrayList<>();
        private int dealt;

        Crew(LaneSettings.Workers wanted) {
            this.wanted = wanted;
        }

        LaneWorker next() throws IOException {
            if (closed && members.isEmpty()) {
                throw new IOException("the software devices are closed");
            }
            if (members.size() < wanted.count() && !closed) {
                LaneWorker started = new LaneWorker(
                        "trigon-lane-" + workers.size(), wanted.busyPoll().toNanos());
                started.start();
                members.add(started);
                workers.add(started);
                return started;
            }
            dealt = (dealt + 1) % members.size();
            return members.get(dealt);
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

    /** The one for a new lane, whichever way that goes, by its number in its queue pair, from 1. */
    synchronized LaneWorker forLane(int number) throws IOException {
        return (number == 1 || settings.others().count() == 0 ? first : others).next();
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
