package trigon.software;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** The lane workers of a provider, started as lanes are dealt to them. Thread-safe. */
final class LaneWorkers implements AutoCloseable {

    private final LaneSettings settings;
    private final List<LaneWorker> workers = new ArrayList<>();
    private int dealt;
    private boolean closed;

    LaneWorkers(LaneSettings settings) {
        this.settings = settings;
    }

    LaneSettings settings() {
        return settings;
    }

    /** The one for the next lane, whichever way it goes. */
    synchronized LaneWorker next() throws IOException {
        return worker(dealt++);
    }

    private LaneWorker worker(int number) throws IOException {
        int index = Math.floorMod(number, settings.workers());
        if (closed && workers.isEmpty()) {
            throw new IOException("the software devices are closed");
        }
        if (index >= workers.size() && !closed) {
            LaneWorker started = new LaneWorker(
                    "trigon-lane-" + workers.size(), settings.busyPoll().toNanos());
            started.start();
            workers.add(started);
        }
        return workers.get(index % workers.size());
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
