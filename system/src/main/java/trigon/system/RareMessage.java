package trigon.system;

import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.event.Level;

/**
 * Something that may happen any number of times, as strangers like, and is told at once, but then not again for
 * {@link #INTERVAL}. The next line says how many were left out. All of them are told at the level DEBUG. Any thread.
 */
public final class RareMessage {

    /** From one line to the next. */
    public static final Duration INTERVAL = Duration.ofMinutes(10);

    private final Logger logger;
    private final Level level;
    private final NanoClock clock;
    private boolean told;
    private long toldAt;
    private long leftOut;

    /**
     * One that has not happened yet.
     *
     * @param level of the lines that are not left out
     */
    public RareMessage(Logger logger, Level level, NanoClock clock) {
        this.logger = logger;
        this.level = level;
        this.clock = clock;
    }

    /**
     * It has happened.
     *
     * @return whether it was told, and not left out
     */
    public synchronized boolean log(String text) {
        long now = clock.nanoTime();
        if (told && now - toldAt < INTERVAL.toNanos()) {
            leftOut++;
            logger.debug("{}", text);
            return false;
        }
        logger.atLevel(level).log("{}{}", text, leftOut == 0 ? "" : " (" + leftOut + " more of this kind left out)");
        told = true;
        toldAt = now;
        leftOut = 0;
        return true;
    }
}
