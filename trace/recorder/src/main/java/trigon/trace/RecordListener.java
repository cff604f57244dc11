package trigon.trace;

import java.nio.ByteBuffer;

/**
 * Hears of records a moment after they were written, on the recorder's thread. What it throws ends its listening, not
 * the trace. It must not block.
 */
public interface RecordListener {

    /**
     * Records of one stream, in their order.
     *
     * @param records whole ones, see {@link RecordLayout}, least byte first; the caller uses the memory again
     */
    void heard(ByteBuffer records);

    /**
     * All streams have been asked.
     *
     * @param since when the first one was, by {@link System#nanoTime}: what was written before has been heard
     */
    void caughtUp(long since);
}
