package trigon.trace;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/** A recorder's destination. */
interface TraceOutput extends Ring.Sink, AutoCloseable {

    /** For a recorder that has a listener only. */
    TraceOutput NOWHERE = new TraceOutput() {
        @Override
        public void add(ChunkKind kind, int stream, Fields fields) {}

        @Override
        public void addRecords(int stream, long lost, long first, ByteBuffer records) {}

        @Override
        public void addHistograms(int stream, MemorySegment histograms) {}

        @Override
        public void close() {}
    };

    /** Adds a chunk of fields. */
    void add(ChunkKind kind, int stream, Fields fields) throws IOException;

    /** Adds a ring's histograms. */
    void addHistograms(int stream, MemorySegment histograms) throws IOException;

    @Override
    void close() throws IOException;
}
