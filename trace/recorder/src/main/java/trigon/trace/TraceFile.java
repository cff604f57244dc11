package trigon.trace;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Optional;
import java.util.zip.CRC32;

/**
 * A trace file that is being written: a header, and chunks behind it, each with its length and checksum, so that what
 * was written before a crash can be read. Numbers have the least byte first. Thread-safe.
 */
public final class TraceFile implements Recorder.Output {

    /** The first 8 bytes of a file: "TrgTrace". */
    public static final long MAGIC = 0x6563617254677254L;

    /** The format's version, 4 bytes behind it. Another one is not understood. */
    public static final int VERSION = 1;

    /** Length of the header. */
    public static final int HEADER_BYTES = 16;

    /** In front of each chunk: its kind, its stream, its length and its CRC-32, 4 bytes each. */
    public static final int CHUNK_HEADER_BYTES = 16;

    /** Length of a chunk in bytes; a longer one is no chunk. */
    public static final int LONGEST_CHUNK = 64 << 20;

    /** End of a file's name. */
    public static final String SUFFIX = ".trace";

    private final FileChannel channel;

    private TraceFile(FileChannel channel) {
        this.channel = channel;
    }

    /**
     * Creates a file and writes its header.
     *
     * @throws IOException if there is one already, or it cannot be made
     */
    public static TraceFile create(Path path) throws IOException {
        TraceFile file = new TraceFile(FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE));
        file.write(List.of(
                buffer(HEADER_BYTES).putLong(MAGIC).putInt(VERSION).putInt(0).flip()));
        return file;
    }

    /** An old file, to which a chunk is to be added behind the last whole one. */
    public static TraceFile append(Path path, long wholeBytes) throws IOException {
        FileChannel channel = FileChannel.open(path, StandardOpenOption.WRITE);
        channel.truncate(wholeBytes).position(wholeBytes);
        return new TraceFile(channel);
    }

    @Override
    public void add(ChunkKind kind, int stream, Fields fields) throws IOException {
        add(kind, stream, List.of(ByteBuffer.wrap(fields.encoded())));
    }

    @Override
    public void addRecords(int stream, long lost, long first, ByteBuffer records) throws IOException {
        add(
                ChunkKind.RECORDS,
                stream,
                List.of(buffer(16).putLong(lost).putLong(first).flip(), records));
    }

    @Override
    public void addHistograms(int stream, MemorySegment histograms) throws IOException {
        ByteBuffer copy = buffer(RingLayout.ALL_HISTOGRAMS_BYTES);
        MemorySegment.ofBuffer(copy).copyFrom(histograms);
        add(ChunkKind.HISTOGRAMS, stream, List.of(copy));
    }

    private synchronized void add(ChunkKind kind, int stream, List<ByteBuffer> parts) throws IOException {
        CRC32 checksum = new CRC32();
        int length = 0;
        for (ByteBuffer part : parts) {
            length += part.remaining();
            checksum.update(part.duplicate());
        }
        ByteBuffer header = buffer(CHUNK_HEADER_BYTES)
                .putInt(kind.code())
                .putInt(stream)
                .putInt(length)
                .putInt((int) checksum.getValue())
                .flip();
        ByteBuffer whole = buffer(CHUNK_HEADER_BYTES + length).put(header);
        parts.forEach(whole::put);
        write(List.of(whole.flip()));
    }

    private void write(List<ByteBuffer> buffers) throws IOException {
        for (ByteBuffer each : buffers) {
            while (each.hasRemaining()) {
                channel.write(each);
            }
        }
    }

    private static ByteBuffer buffer(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    /** The content of a chunk of a trace file. The codes are part of the format. */
    public enum ChunkKind {

        /** {@link Fields} of the process; the first chunk. */
        PROCESS(1),

        /** A stream begins: {@link Fields} of a comm, or of a thread of NCCL's. */
        STREAM(2),

        /** Records of a stream: how many are lost so far and the number of the first, 8 bytes each, and the records. */
        RECORDS(3),

        /** Something that happened beside the data path: {@link Fields} with "what" and "time". */
        EVENT(4),

        /** All histograms of a stream as they are now, as they lie in a ring. The last one counts. */
        HISTOGRAMS(5),

        /** A stream has ended: {@link Fields} with its totals. */
        STREAM_END(6),

        /** The process closed its trace: {@link Fields} with totals. */
        END(7);

        private final int code;

        ChunkKind(int code) {
            this.code = code;
        }

        /** The number in a file. */
        public int code() {
            return code;
        }

        /** The kind of that number; empty: a later version's. */
        public static Optional<ChunkKind> of(int code) {
            return code > 0 && code <= values().length ? Optional.of(values()[code - 1]) : Optional.empty();
        }
    }
}
