package trigon.software.connection;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.software.MoverSettings;

/** The threads of a provider that move long messages; they start with the first queue pair. Thread-safe. */
public final class Movers implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Movers.class);

    private final MoverSettings settings;
    private final List<Mover> movers = new ArrayList<>();
    private boolean started;
    private boolean closed;

    /** Threads that are not started yet. */
    public Movers(MoverSettings settings) {
        this.settings = settings;
    }

    /** The one with the fewest queue pairs, for one more; null if there is none. */
    public synchronized @Nullable Mover assign() {
        if (!started && !closed) {
            started = true;
            start();
        }
        Mover least =
                movers.stream().min(Comparator.comparingInt(Mover::queuePairs)).orElse(null);
        if (least != null) {
            least.count(1);
        }
        return least;
    }

    private void start() {
        try {
            for (int i = 0; i < settings.threads(); i++) {
                movers.add(new Mover("trigon-move-" + i, settings.fromBytes()));
            }
        } catch (IOException | OutOfMemoryError e) {
            log.warn("{} of {} threads move long messages: {}", movers.size(), settings.threads(), e.toString());
        }
    }

    /** A queue pair that had it is closed. */
    public synchronized void release(@Nullable Mover mover) {
        if (mover != null) {
            mover.count(-1);
        }
    }

    /** Ends the threads. */
    @Override
    public void close() {
        List<Mover> running;
        synchronized (this) {
            closed = true;
            running = List.copyOf(movers);
            movers.clear();
        }
        running.forEach(Mover::close);
    }
}
