package trigon.report.read;

import java.nio.ByteBuffer;
import java.util.Arrays;
import trigon.trace.RecordLayout;

/** The records of a stream, in their order, by columns: a record takes 36 bytes here. */
public final class Records {

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

    /** Number of records. */
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
