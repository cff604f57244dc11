package trigon.software;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import trigon.verbs.WorkCompletionStatus;

/**
 * How long a requester waits for its peer: for any progress (timeout and retry count), and for a receive (RNR retry).
 * Owned by the event loop. In the steady state nothing is scheduled but a timer that looks once per period.
 */
final class TimeLimits {

    private final Requester requester;
    private final EventLoop loop;
    private long retryNanos;
    private int rnrRetry;
    private long progressAt;
    /** Longer than {@link #retryNanos} while the peer waits for a receive and only says so now and then. */
    private long silenceAllowance;

    private @Nullable ScheduledFuture<?> retryTimer;
    private @Nullable ScheduledFuture<?> rnrTimer;

    TimeLimits(Requester requester, EventLoop loop) {
        this.requester = requester;
        this.loop = loop;
    }

    /** Sets the limits; 0 nanoseconds for no limit. */
    void start(long newRetryNanos, int newRnrRetry) {
        retryNanos = newRetryNanos;
        rnrRetry = newRnrRetry;
        silenceAllowance = 0;
    }

    void stop() {
        retryTimer = cancelled(retryTimer);
        rnrTimer = cancelled(rnrTimer);
    }

    private static @Nullable ScheduledFuture<?> cancelled(@Nullable ScheduledFuture<?> timer) {
        if (timer != null) {
            timer.cancel(false);
        }
        return null;
    }

    /** The peer, or the socket towards it, has given a sign of life. */
    void onProgress() {
        progressAt = System.nanoTime();
    }

    /** There is something to wait for. */
    void arm() {
        if (retryTimer == null && retryNanos > 0) {
            onProgress();
            schedule(retryNanos);
        }
    }

    private void schedule(long nanos) {
        retryTimer = loop.schedule(this::onRetryTimer, nanos, TimeUnit.NANOSECONDS);
    }

    private void onRetryTimer() {
        retryTimer = null;
        if (!requester.isRunning()) {
            return;
        }
        if (!requester.isWaitingForPeer()) {
            requester.work(); // arms it again for what has just been posted, with the full time
            return;
        }
        long left = Math.max(retryNanos, silenceAllowance) - (System.nanoTime() - progressAt);
        if (left > 0) {
            schedule(left);
        } else {
            requester.onTimeLimit(WorkCompletionStatus.RETRY_EXCEEDED, "no answer in time");
        }
    }

    /** The peer waits for a receive. It says so again and again; silence longer than that is not waiting. */
    void onReceiverNotReady(int timerCode) {
        silenceAllowance = 4 * Timing.NOT_READY_REPEAT_NANOS;
        if (rnrRetry == 0) {
            onRnrTimer();
        } else if (rnrRetry < Timing.RNR_RETRY_FOR_EVER && rnrTimer == null) {
            rnrTimer = loop.schedule(this::onRnrTimer, rnrRetry * Timing.rnrNanos(timerCode), TimeUnit.NANOSECONDS);
        }
    }

    /** The peer has a receive now. */
    void onReceiverReady() {
        rnrTimer = cancelled(rnrTimer);
        silenceAllowance = 0;
    }

    private void onRnrTimer() {
        rnrTimer = null;
        requester.onTimeLimit(WorkCompletionStatus.RNR_RETRY_EXCEEDED, "the peer posted no receive in time");
    }
}
