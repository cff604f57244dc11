package trigon.trace;

import java.io.IOException;
import java.nio.ByteBuffer;

/** A destination of rings' records. */
@FunctionalInterface
public interface RecordSink {

    /**
     * Takes records that were copied out of a ring.
     *
     * @param stream whose records they are
     * @param lost records of the stream so far that were overwritten before they were taken
     * @param first how many records of the stream were before these
     * @param records whole ones, see {@link RecordLayout}; the caller uses the memory again
     * @throws IOException if they cannot be kept: they stay in the ring
     */
    void addRecords(int stream, long lost, long first, ByteBuffer records) throws IOException;
}
