package trigon.software.connection;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.software.MoverSettings;
import trigon.software.call.NativeMover;

/** The threads of a provider that move long messages. Each starts with a queue pair, the first ones. Thread-safe. */
public final class Movers implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Movers.class);

    private final MoverSettings settings;
    private final List<Mover> movers = new ArrayList<>();

    /** A thread, and how many queue pairs have it. */
    public static final class Mover {

        private final NativeMover thread;
        private int queuePairs; // guarded by the movers

        private Mover(NativeMover thread) {
            this.thread = thread;
        }

        public NativeMover thread() {
            return thread;
        }
    }

    private int most;

    /** Threads that are not started yet. */
    public Movers(MoverSettings settings) {
        this.settings = settings;
        most = settings.threads();
    }

    /** The one with the fewest queue pairs, for one more; null if there is none. */
    public synchronized @Nullable Mover assign() {
        Mover least = least();
        if ((least == null || least.queuePairs > 0) && movers.size() < most) {
            start();
            least = least();
        }
        if (least != null) {
            least.queuePairs++;
        }
        return least;
    }

    private @Nullable Mover least() {
        return movers.stream()
                .min(Comparator.comparingInt(mover -> mover.queuePairs))
                .orElse(null);
    }

    private void start() {
        try {
            movers.add(new Mover(new NativeMover("trigon-move-" + movers.size(), settings.fromBytes())));
        } catch (IOException | OutOfMemoryError e) {
            most = movers.size();
            log.warn("{} of {} threads move long messages: {}", most, settings.threads(), e.toString());
        }
    }

    /** A queue pair that had it is closed. */
    public synchronized void release(@Nullable Mover mover) {
        if (mover != null) {
            mover.queuePairs--;
        }
    }

    /** Ends the threads. */
    @Override
    public void close() {
        List<Mover> running;
        synchronized (this) {
            most = 0;
            running = List.copyOf(movers);
            movers.clear();
        }
        running.forEach(mover -> mover.thread.stop());
    }
}
