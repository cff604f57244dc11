package trigon.software;

import java.util.ArrayList;
import java.util.List;

/**
 * The event loop threads of a provider. The first one owns the listeners and the tables of what is open; queue pairs
 * are dealt out to all of them in turn. Thread-safe.
 */
final class DeviceThreads implements AutoCloseable {

    private final EventLoops settings;
    private final DeviceThread control;
    private final List<DeviceThread> threads = new ArrayList<>();
    private int dealt;
    private boolean closed;

    DeviceThreads(EventLoops settings) {
        this.settings = settings;
        control = create();
    }

    private DeviceThread create() {
        int index = threads.size();
        DeviceThread thread = new DeviceThread(index, settings.busyPoll().toNanos());
        threads.add(thread);
        return thread;
    }

    /** The one that owns what is not a queue pair. */
    DeviceThread control() {
        return control;
    }

    /** How many there are at most. */
    int most() {
        return settings.threads();
    }

    /** The one for the next queue pair. */
    synchronized DeviceThread next() {
        int index = dealt++ % settings.threads();
        boolean exists = index < threads.size() || closed;
        return exists ? threads.get(index % threads.size()) : create();
    }

    /**
     * Returns once every thread has finished what it was doing when this was called, so that from then on all of them
     * see what was changed before.
     */
    void passBarrier() {
        for (DeviceThread thread : existing()) {
            thread.run(() -> {});
        }
    }

    private synchronized List<DeviceThread> existing() {
        return List.copyOf(threads);
    }

    /** Ends the threads after the tasks that they have. */
    @Override
    public void close() {
        synchronized (this) {
            closed = true;
        }
        existing().forEach(DeviceThread::startClosing);
        existing().forEach(DeviceThread::close);
    }
}
