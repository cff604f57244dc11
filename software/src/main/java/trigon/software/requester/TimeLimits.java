package trigon.software.requester;

import trigon.software.wire.WireFormat;
import trigon.stream.loop.EventLoop;
import trigon.stream.loop.Timer;
import trigon.verbs.WorkCompletionStatus;

/**
 * A requester's patience with its peer: for any progress (timeout and retry count), and for a receive (RNR retry).
 * Used under the queue pair's lock. In the steady state there is a timer that looks once per period, and nothing is
 * allocated.
 */
final class TimeLimits {

    /** Whose time is limited. Called under the queue pair's lock. */
    interface Owner {

        /** Returns whether the queue pair sends at all. */
        boolean isRunning();

        /** Returns whether the peer owes an answer, or a connection. */
        boolean isWaitingForPeer();

        /** Looks for something to do, and arms the limits if there is something to wait for. */
        void work();

        /** The peer has taken too long. */
        void onTimeLimit(WorkCompletionStatus status, String reason);
    }

    private final Owner owner;
    private final EventLoop eventLoop;
    private final Timer retryTimer;
    private final Timer rnrTimer;
    private long retryNanos;
    private int rnrRetry;
    long progressAt;
    /** Longer than {@link #retryNanos} while the peer waits for a receive and only says so now and then. */
    private long silenceAllowance;

    TimeLimits(Owner owner, RequestingQueuePair queuePair) {
        this.owner = owner;
        eventLoop = queuePair.device().eventLoop();
        retryTimer = new Timer(queuePair.lock()::locked, this::onRetryTimer);
        rnrTimer = new Timer(queuePair.lock()::locked, this::onRnrTimer);
    }

    /** Sets the limits; 0 nanoseconds for no limit. */
    void start(long newRetryNanos, int newRnrRetry) {
        retryNanos = newRetryNanos;
        rnrRetry = newRnrRetry;
        silenceAllowance = 0;
    }

    void stop() {
        eventLoop.cancel(retryTimer);
        eventLoop.cancel(rnrTimer);
    }

    /** The peer, or the socket towards it, has given a sign of life. */
    void onProgress() {
        progressAt = System.nanoTime();
    }

    /** There is something to wait for. */
    void arm() {
        if (retryNanos > 0 && !retryTimer.isScheduled()) {
            onProgress();
            eventLoop.schedule(retryTimer, retryNanos);
        }
    }

    void onRetryTimer() {
        if (!owner.isRunning()) {
            return;
        }
        if (!owner.isWaitingForPeer()) {
            owner.work(); // arms it again for what has just been posted, with the full time
            return;
        }
        long left = Math.max(retryNanos, silenceAllowance) - (System.nanoTime() - progressAt);
        if (left > 0) {
            eventLoop.schedule(retryTimer, left);
        } else {
            owner.onTimeLimit(WorkCompletionStatus.RETRY_EXCEEDED, "no answer in time");
        }
    }

    /** The peer waits for a receive. It says so again and again; silence longer than that is not waiting. */
    void onReceiverNotReady(int timerCode) {
        silenceAllowance = 4 * WireFormat.NOT_READY_REPEAT_NANOS;
        if (rnrRetry == 0) {
            onRnrTimer();
        } else if (rnrRetry < TimerCodes.RNR_RETRY_FOR_EVER && !rnrTimer.isScheduled()) {
            eventLoop.schedule(rnrTimer, rnrRetry * TimerCodes.rnrNanos(timerCode));
        }
    }

    /** The peer has a receive now. */
    void onReceiverReady() {
        if (rnrTimer.isScheduled()) {
            eventLoop.cancel(rnrTimer);
        }
        silenceAllowance = 0;
    }

    private void onRnrTimer() {
        owner.onTimeLimit(WorkCompletionStatus.RNR_RETRY_EXCEEDED, "the peer posted no receive in time");
    }
}
