package trigon.handshake;

import java.time.Duration;
import java.util.function.LongSupplier;
import org.slf4j.Logger;

/**
 * Warns of connections that came to nothing, at most once per interval, and then says how much was left out. Event loop
 * only.
 */
final class RateLimitedWarning {

    private final Logger logger;
    private final long intervalNanos;
    private final LongSupplier nanoTime;
    private boolean warnedBefore;
    private long lastNanos;
    private int leftOut;

    RateLimitedWarning(Logger logger, Duration interval, LongSupplier nanoTime) {
        this.logger = logger;
        this.intervalNanos = interval.toNanos();
        this.nanoTime = nanoTime;
    }

    void warn(String text) {
        long now = nanoTime.getAsLong();
        if (warnedBefore && now - lastNanos < intervalNanos) {
            leftOut++;
            return;
        }
        if (leftOut == 0) {
            logger.warn("{}", text);
        } else {
            logger.warn("{} ({} similar warnings left out)", text, leftOut);
        }
        warnedBefore = true;
        lastNanos = now;
        leftOut = 0;
    }
}
