package trigon.software.requester;

import trigon.software.call.NativePair;
import trigon.software.call.Reason;
import trigon.software.call.Word;
import trigon.software.wire.WireFormat;
import trigon.stream.loop.EventLoop;
import trigon.stream.loop.Timer;
import trigon.verbs.WorkCompletionStatus;

/**
 * A requester's patience with its peer: for any progress (timeout and retry count), and for a receive (RNR retry).
 * Used under the queue pair's lock. In the steady state there is a timer that looks once per period; C asks for it when
 * an answer is waited for and none runs.
 */
final class TimeLimits {

    private final RequestingQueuePair queuePair;
    private final NativePair pair;
    private final EventLoop eventLoop;
    private final Timer retryTimer;
    private final Timer rnrTimer;
    private long retryNanos;
    private int rnrRetry;
    /** Longer than {@link #retryNanos} while the peer waits for a receive and only says so now and then. */
    private long silenceAllowance;

    TimeLimits(RequestingQueuePair queuePair) {
        this.queuePair = queuePair;
        pair = queuePair.inC();
        eventLoop = queuePair.device().eventLoop();
        retryTimer = new Timer(queuePair.lock()::locked, this::onRetryTimer);
        rnrTimer = new Timer(queuePair.lock()::locked, this::onRnrTimer);
    }

    /** Sets the limits; 0 nanoseconds for no limit. */
    void start(long newRetryNanos, int newRnrRetry) {
        retryNanos = newRetryNanos;
        rnrRetry = newRnrRetry;
        silenceAllowance = 0;
        pair.set(Word.RETRY_NANOS, retryNanos);
        pair.set(Word.RNR_RETRY, rnrRetry);
    }

    void stop() {
        eventLoop.cancel(retryTimer);
        eventLoop.cancel(rnrTimer);
        pair.set(Word.TIMER_ARMED, 0);
    }

    /** There is something to wait for. */
    void arm() {
        if (queuePair.isReadyToSend() && !retryTimer.isScheduled()) {
            schedule(retryNanos);
        }
    }

    private void schedule(long nanos) {
        pair.set(Word.TIMER_ARMED, 1);
        eventLoop.schedule(retryTimer, nanos);
    }

    void onRetryTimer() {
        pair.set(Word.TIMER_ARMED, 0);
        if (!queuePair.isReadyToSend()) {
            return;
        }
        if (!pair.has(Word.WAITS_FOR_PEER)) {
            pair.work(); // arms it again for what has just been posted, with the full time
            return;
        }
        long left = Math.max(retryNanos, silenceAllowance) - (System.nanoTime() - pair.get(Word.PROGRESS_AT));
        if (left > 0) {
            schedule(left);
        } else {
            pair.failOldest(WorkCompletionStatus.RETRY_EXCEEDED.code(), Reason.NO_ANSWER);
        }
    }

    /**
     * The peer waits for a receive, or has one. It says so again and again; silence longer than that is not waiting.
     */
    void onReceiver() {
        if (!pair.has(Word.RECEIVER_NOT_READY)) {
            silenceAllowance = 0;
            if (rnrTimer.isScheduled()) {
                eventLoop.cancel(rnrTimer);
            }
            return;
        }
        silenceAllowance = 4 * WireFormat.NOT_READY_REPEAT_NANOS;
        if (queuePair.isReadyToSend() && rnrRetry < TimerCodes.RNR_RETRY_FOR_EVER && !rnrTimer.isScheduled()) {
            eventLoop.schedule(rnrTimer, rnrRetry * TimerCodes.rnrNanos((int) pair.get(Word.RECEIVER_CODE)));
        }
    }

    private void onRnrTimer() {
        if (queuePair.isReadyToSend()) {
            pair.failOldest(WorkCompletionStatus.RNR_RETRY_EXCEEDED.code(), Reason.NO_RECEIVE);
        }
    }
}
