package trigon.relay;

import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;

/** Warns of what may come often, once in 10 s; the rest is counted, and in the log for who debugs. One thread. */
final class Warnings {

    private static final long INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final Logger log;
    private long last = System.nanoTime() - INTERVAL_NANOS;
    private long notTold;

    Warnings(Logger log) {
        this.log = log;
    }

    void warn(String what) {
        long now = System.nanoTime();
        if (now - last < INTERVAL_NANOS) {
            notTold++;
            log.debug("{}", what);
            return;
        }
        last = now;
        log.warn("{}{}", what, notTold == 0 ? "" : " (and " + notTold + " more before)");
        notTold = 0;
    }
}
