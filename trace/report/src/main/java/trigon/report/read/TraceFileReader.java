package trigon.report.read;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.zip.CRC32;
import trigon.report.read.TraceContents.Event;
import trigon.system.file.OpenFile;
import trigon.trace.Fields;
import trigon.trace.RingLayout;
import trigon.trace.TraceFile;
import trigon.trace.TraceFile.ChunkKind;

/**
 * Reads a trace file as far as it goes: what is behind the first damage is left out, and that is said.
 *
 * <p>A file is read as a stream, so its size is bounded by what its records take in memory alone.
 */
final class TraceFileReader {

    private static final int RECORDS_PREFIX = 16;

    private final Path path;
    private final Consumer<String> problems;
    private final TraceContents trace;
    private long whole;

    private TraceFileReader(Path path, Consumer<String> problems) {
        this.path = path;
        this.problems = problems;
        trace = new TraceContents(String.valueOf(path.getFileName()));
    }

    /**
     * A file's content, and how many bytes of it are whole chunks.
     *
     * @param trace what was read
     * @param wholeBytes up to the end of the last whole chunk
     */
    record Content(TraceContents trace, long wholeBytes) {}

    /**
     * Reads a trace file, as far as it is whole.
     *
     * @param problems hears what is wrong with it, one sentence each
     * @return empty if it is no trace of a version that is understood
     */
    static Optional<Content> read(Path path, Consumer<String> problems) {
        TraceFileReader reader = new TraceFileReader(path, problems);
        try (OpenFile file = OpenFile.open(path)) {
            var in = new DataInputStream(new BufferedInputStream(file.stream(), 1 << 20));
            if (!reader.readHeader(in)) {
                return Optional.empty();
            }
            boolean more = true;
            while (more) {
                more = reader.readChunk(in);
            }
            return Optional.of(new Content(reader.trace, reader.whole));
        } catch (IOException e) {
            problems.accept(path + " cannot be read: " + TraceFolder.reason(e) + "; it is left out");
            return Optional.empty();
        }
    }

    private boolean readHeader(DataInputStream in) throws IOException {
        ByteBuffer header =
                ByteBuffer.wrap(in.readNBytes(TraceFile.HEADER_BYTES)).order(ByteOrder.LITTLE_ENDIAN);
        if (header.remaining() < TraceFile.HEADER_BYTES || header.getLong() != TraceFile.MAGIC) {
            problems.accept(path + " is not a Trigon trace; it is left out");
            return false;
        }
        int version = header.getInt();
        if (version != TraceFile.VERSION) {
            problems.accept(
                    "%s is a trace of version %d, but this program reads version %d; use the trigon that wrote it"
                            .formatted(path, version, TraceFile.VERSION));
            return false;
        }
        whole = TraceFile.HEADER_BYTES;
        return true;
    }

    private boolean readChunk(DataInputStream in) throws IOException {
        byte[] start = in.readNBytes(TraceFile.CHUNK_HEADER_BYTES);
        if (start.length == 0) {
            return false;
        }
        if (start.length < TraceFile.CHUNK_HEADER_BYTES) {
            return cut("in the middle of a chunk's header");
        }
        ByteBuffer header = ByteBuffer.wrap(start).order(ByteOrder.LITTLE_ENDIAN);
        int kind = header.getInt();
        int stream = header.getInt();
        int length = header.getInt();
        int checksum = header.getInt();
        if (length < 0 || length > TraceFile.LONGEST_CHUNK) {
            return cut("by a chunk that claims to have " + Integer.toUnsignedLong(length) + " bytes");
        }
        byte[] content = new byte[length];
        try {
            in.readFully(content);
        } catch (EOFException e) {
            return cut("in the middle of a chunk");
        }
        CRC32 actual = new CRC32();
        actual.update(content);
        if ((int) actual.getValue() != checksum) {
            return cut("by a chunk whose checksum is wrong");
        }
        take(kind, stream, content);
        whole += TraceFile.CHUNK_HEADER_BYTES + length;
        return true;
    }

    private boolean cut(String how) {
        problems.accept(
                "%s is damaged behind its first %d bytes, %s; what comes before is shown".formatted(path, whole, how));
        return false;
    }

    private void take(int code, int number, byte[] content) {
        Optional<ChunkKind> kind = ChunkKind.of(code);
        if (kind.isEmpty()) {
            problems.accept(path + " has a chunk of the unknown kind " + code + "; it is left out");
            return;
        }
        switch (kind.get()) {
            case PROCESS -> trace.process(Fields.decode(content));
            case STREAM -> trace.streams().put(number, new Stream(Fields.decode(content)));
            case RECORDS -> takeRecords(stream(number), content);
            case EVENT -> {
                Fields fields = Fields.decode(content);
                trace.events().add(new Event(fields.get("what"), fields.number("time", 0), fields));
            }
            case HISTOGRAMS -> takeHistograms(stream(number), content);
            case STREAM_END -> {}
            case END -> trace.end(Fields.decode(content));
        }
    }

    private Stream stream(int number) {
        return trace.streams().computeIfAbsent(number, _ -> new Stream(Fields.NONE));
    }

    private static void takeRecords(Stream stream, byte[] content) {
        ByteBuffer buffer = ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN);
        if (content.length >= RECORDS_PREFIX) {
            stream.lost(buffer.getLong(0));
            stream.records().add(buffer.position(RECORDS_PREFIX));
        }
    }

    private static void takeHistograms(Stream stream, byte[] content) {
        long[] words = new long[Math.min(content.length, RingLayout.ALL_HISTOGRAMS_BYTES) / Long.BYTES];
        ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN).asLongBuffer().get(words);
        stream.histograms(words);
    }
}
