package trigon.software.requester;

import java.util.concurrent.TimeUnit;
import trigon.software.call.NativePair;
import trigon.software.call.Word;

/** What tests ask of a requester; racy outside of its queue pair's lock. */
public final class RequesterState {

    private RequesterState() {}

    /** Its peer has been silent for a day, and the timer looks. */
    public static void letADayPass(Requester requester, NativePair pair) {
        pair.set(Word.PROGRESS_AT, pair.get(Word.PROGRESS_AT) - TimeUnit.DAYS.toNanos(1));
        requester.limits.onRetryTimer();
    }
}
