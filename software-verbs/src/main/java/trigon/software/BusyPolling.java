package trigon.software;

import io.netty.channel.SelectStrategy;
import io.netty.util.IntSupplier;
import java.util.ArrayList;
import java.util.List;

/**
 * What an event loop does at the start of each turn: it works off what has been posted to its queue pairs, looks at its
 * sockets without waiting, and blocks only after a while without work. Waking a blocked thread takes many times as long
 * as a short message does. Owned by the event loop but for {@link #signal}.
 *
 * <p>No wake-up is lost: a posting thread publishes its work, then looks whether the loop sleeps; the loop says that it
 * sleeps, then looks for work once more. All four are volatile accesses, so at least one side sees the other.
 */
final class BusyPolling implements SelectStrategy {

    private static final long AWAKE = 0;
    private static final long ASLEEP = 1;

    /**
     * How long an acknowledgement may wait. It takes the thread as long as the next message does, which often is posted
     * in answer to the one that is acknowledged, and is waited for.
     */
    private static final long ACKNOWLEDGE_NANOS = 20_000;

    private final long pollNanos;
    private final List<PostedWork> queuePairs = new ArrayList<>();
    private final List<ResponseStream> acknowledgements = new ArrayList<>();
    private long acknowledgementsSince;
    private long activeAt = System.nanoTime();
    /** A task came from another thread, with a wake-up of the selector that only blocking takes back. */
    private boolean wakeUpLeft;
    /** ASLEEP while the loop blocks, or is about to, and nobody has woken it yet; apart from what the loop changes. */
    private final PaddedIndex state = new PaddedIndex();

    /** A strategy that looks for work for so long before it blocks; 0 to block at once. */
    BusyPolling(long pollNanos) {
        this.pollNanos = pollNanos;
    }

    /** Any thread, after it has published work: whether the caller has to wake the loop. */
    boolean signal() {
        return state.getVolatile() == ASLEEP && state.compareAndSet(ASLEEP, AWAKE);
    }

    void attach(PostedWork queuePair) {
        queuePairs.add(queuePair);
    }

    void detach(PostedWork queuePair) {
        queuePairs.remove(queuePair);
    }

    /** Has a stream send its acknowledgement in a moment. */
    void ringLater(ResponseStream stream) {
        if (stream.startWaiting()) {
            if (acknowledgements.isEmpty()) {
                acknowledgementsSince = System.nanoTime();
            }
            acknowledgements.add(stream);
        }
    }

    private void acknowledge() {
        for (int i = 0; i < acknowledgements.size(); i++) {
            acknowledgements.get(i).ringAfterWaiting();
        }
        acknowledgements.clear();
    }

    private boolean isAcknowledgementDue() {
        return !acknowledgements.isEmpty()
                && (pollNanos == 0 || System.nanoTime() - acknowledgementsSince >= ACKNOWLEDGE_NANOS);
    }

    void onForeignTask() {
        wakeUpLeft = true;
    }

    @Override
    @SuppressWarnings("ThreadPriorityCheck") // yielding is a courtesy here, nothing relies on it
    public int calculateStrategy(IntSupplier selectNow, boolean hasTasks) throws Exception {
        if (state.get() == ASLEEP) {
            state.setVolatile(AWAKE);
        }
        boolean worked = workOff();
        if (isAcknowledgementDue()) {
            acknowledge();
        }
        if (hasTasks) {
            return selectNow.get();
        }
        if (pollNanos > 0 && !wakeUpLeft) {
            int ready = selectNow.get();
            long now = System.nanoTime();
            if (worked || ready > 0) {
                activeAt = now;
                return ready;
            }
            if (now - activeAt < pollNanos) {
                Thread.yield(); // to whoever has no core of its own
                return SelectStrategy.CONTINUE;
            }
        }
        acknowledge();
        wakeUpLeft = false;
        state.setVolatile(ASLEEP);
        if (hasPosted()) {
            state.setVolatile(AWAKE);
            return SelectStrategy.CONTINUE;
        }
        return SelectStrategy.SELECT;
    }

    private boolean workOff() {
        boolean worked = false;
        for (int i = 0; i < queuePairs.size(); i++) {
            PostedWork queuePair = queuePairs.get(i);
            if (queuePair.hasPosted()) {
                worked = true;
                queuePair.work();
            }
        }
        return worked;
    }

    private boolean hasPosted() {
        for (int i = 0; i < queuePairs.size(); i++) {
            if (queuePairs.get(i).hasPosted()) {
                return true;
            }
        }
        return false;
    }
}
