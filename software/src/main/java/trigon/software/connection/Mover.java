package trigon.software.connection;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.stream.loop.EventLoop;

/**
 * A thread that makes the progress of queue pairs while they have long messages under way, and sleeps in the kernel as
 * long as no socket of theirs is ready. It never looks for work. A queue pair has the same one for life.
 */
public final class Mover {

    private static final Logger log = LoggerFactory.getLogger(Mover.class);

    private final int fromBytes;
    private final Selector selector;
    private final Thread thread;
    /** Those to be moved from now on, the latest first: a list without nodes, since data paths add to it. */
    private final AtomicReference<@Nullable ProgressLock> newlyGiven = new AtomicReference<>();

    private final List<ProgressLock> given = new ArrayList<>();

    /** It waits for sockets, or is about to. */
    private volatile boolean asleep;

    private volatile boolean hasToLookAtAll;
    private volatile boolean closed;
    private volatile boolean ended;
    private int queuePairs; // guarded by Movers

    /**
     * Starts the thread.
     *
     * @param fromBytes the shortest message that it moves
     * @throws IOException if there are no file descriptors
     */
    Mover(String name, int fromBytes) throws IOException {
        this.fromBytes = fromBytes;
        selector = Selector.open();
        thread = new Thread(this::run, name);
        thread.setDaemon(true);
        thread.start();
    }

    // ---- any thread

    /** A queue pair has a long message. Allocates nothing; the caller has said so in the queue pair. */
    void take(ProgressLock queuePair) {
        ProgressLock latest;
        do {
            latest = newlyGiven.get();
            queuePair.setGivenBefore(latest);
        } while (!newlyGiven.compareAndSet(latest, queuePair));
        if (asleep) {
            selector.wakeup();
        }
        if (ended) {
            queuePair.takeBack();
        }
    }

    /** Has it look again at what it moves, whatever the sockets say. */
    void wakeUp() {
        hasToLookAtAll = true;
        selector.wakeup();
    }

    int fromBytes() {
        return fromBytes;
    }

    boolean hasEnded() {
        return ended;
    }

    int queuePairs() {
        return queuePairs;
    }

    void count(int more) {
        queuePairs += more;
    }

    // ---- its thread

    private void run() {
        try (selector) {
            while (!closed) {
                asleep = true;
                if (newlyGiven.get() == null) {
                    selector.select(Mover::onReady);
                }
                asleep = false;
                begin();
                if (hasToLookAtAll) {
                    hasToLookAtAll = false;
                    given.forEach(ProgressLock::setReady);
                }
                given.removeIf(queuePair -> !queuePair.move(selector));
            }
        } catch (IOException | RuntimeException | VirtualMachineError e) {
            log.error("{} ends: from now on the polling thread copies long messages itself", thread.getName(), e);
        } finally {
            ended = true;
            begin();
            given.forEach(ProgressLock::takeBack);
        }
    }

    private static void onReady(SelectionKey key) {
        if (key.attachment() instanceof ProgressLock queuePair) {
            queuePair.setReady();
        }
    }

    private void begin() {
        ProgressLock next = newlyGiven.getAndSet(null);
        while (next != null) {
            ProgressLock queuePair = next;
            next = queuePair.givenBefore();
            queuePair.setGivenBefore(null); // it may outlive that one
            queuePair.setReady();
            given.add(queuePair);
        }
    }

    /** Ends the thread. What it moved stays where it is. */
    void close() {
        closed = true;
        selector.wakeup();
        try {
            thread.join(EventLoop.JOIN_MILLIS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }
}
