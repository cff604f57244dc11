package trigon.handshake.listen;

import java.time.Duration;
import org.slf4j.Logger;
import trigon.system.NanoClock;

/**
 * Warns of connections that came to nothing, at most once per interval, and then says how much was left out. Event loop
 * only.
 */
final class RateLimitedWarning {

    private final Logger logger;
    private final long intervalNanos;
    private final NanoClock clock;
    private boolean warnedBefore;
    private long lastNanos;
    private int leftOut;

    RateLimitedWarning(Logger logger, Duration interval, NanoClock clock) {
        this.logger = logger;
        this.intervalNanos = interval.toNanos();
        this.clock = clock;
    }

    void warn(String text) {
        long now = clock.nanoTime();
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
