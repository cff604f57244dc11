package trigon.report.read;

import java.nio.ByteBuffer;
import java.util.Arrays;
import trigon.trace.Fields;
import trigon.trace.RecordLayout;
import trigon.trace.RingLayout;

/** The content of one ring of a process: a comm's records, or those of a thread of NCCL's. */
public final class Stream {

    private final Fields fields;
    private final Records records = new Records();
    private long[] histograms = new long[0];
    private long lost;

    Stream(Fields fields) {
        this.fields = fields;
    }

    /** The process's description of it when it was opened: the comm, its peer, its link. */
    public Fields fields() {
        return fields;
    }

    /** In the order in which they were written, without those that were {@linkplain #lost lost}. */
    public Records records() {
        return records;
    }

    /** Records that were overwritten before they were taken. */
    public long lost() {
        return lost;
    }

    void lost(long soFar) {
        lost = Math.max(lost, soFar);
    }

    void histograms(long[] words) {
        histograms = words;
    }

    /**
     * A word of a histogram.
     *
     * @param measure which of {@link RingLayout#MEASURES}
     * @param sizeClass which of {@link RingLayout#SIZE_CLASSES}
     * @param word 0: how many; 1: their sum; from {@link RingLayout#FIRST_BUCKET} on, the buckets
     */
    public long histogram(int measure, int sizeClass, int word) {
        int at = (measure * RingLayout.SIZE_CLASSES + sizeClass) * RingLayout.HISTOGRAM_WORDS + word;
        return at < histograms.length ? histograms[at] : 0;
    }

    /** The records of a stream, in their order, by columns: a record takes 36 bytes here. */
    public static final class Records {

        private long[] times = new long[64];
        private long[] subjects = new long[64];
        private long[] values = new long[64];
        private int[] kinds = new int[64];
        private int[] arguments = new int[64];
        private int size;

        /** Adds those of a buffer, from its position to its limit. */
        void add(ByteBuffer records) {
            int count = records.remaining() / RecordLayout.BYTES;
            reserve(size + count);
            for (int i = 0; i < count; i++) {
                int at = records.position() + i * RecordLayout.BYTES;
                times[size] = records.getLong(at + RecordLayout.TIME);
                subjects[size] = records.getLong(at + RecordLayout.SUBJECT);
                kinds[size] = records.getInt(at + RecordLayout.KIND);
                arguments[size] = records.getInt(at + RecordLayout.ARGUMENT);
                values[size] = records.getLong(at + RecordLayout.VALUE);
                size++;
            }
        }

        private void reserve(int needed) {
            if (needed > times.length) {
                int length = Math.max(needed, times.length * 2);
                times = Arrays.copyOf(times, length);
                subjects = Arrays.copyOf(subjects, length);
                values = Arrays.copyOf(values, length);
                kinds = Arrays.copyOf(kinds, length);
                arguments = Arrays.copyOf(arguments, length);
            }
        }

        /** Number of records read from it. */
        public int size() {
            return size;
        }

        /** When, in nanoseconds of the machine's clock. */
        public long time(int index) {
            return times[index];
        }

        /** A record's subject, see {@link trigon.trace.RecordLayout}. */
        public long subject(int index) {
            return subjects[index];
        }

        /** Code of the {@link trigon.trace.RecordKind}. */
        public int kind(int index) {
            return kinds[index] & 0xFFFF;
        }

        /** A record's detail, which depends on its kind. */
        public int detail(int index) {
            return kinds[index] >>> 16;
        }

        /** A record's argument without a sign, which depends on its kind. */
        public long argument(int index) {
            return Integer.toUnsignedLong(arguments[index]);
        }

        /** A record's value, which depends on its kind. */
        public long value(int index) {
            return values[index];
        }
    }
}
