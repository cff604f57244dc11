package trigon.software.requester;

import java.util.concurrent.TimeUnit;

/** What tests ask of a requester; racy outside of its queue pair's lock. */
public final class RequesterState {

    private RequesterState() {}

    /** Its peer has been silent for a day, and the timer looks. */
    public static void letADayPass(Requester requester) {
        requester.limits.progressAt -= TimeUnit.DAYS.toNanos(1);
        requester.limits.onRetryTimer();
    }
}
