package trigon.trace;

/**
 * Layout of a ring: a header, histograms, and behind them records. One thread writes; it overwrites the oldest record
 * when nobody has taken it. The entry library compares these numbers with its own when it starts.
 */
public final class RingLayout {

    /** The first 8 bytes of a ring: "TrgnRing" as it lies in memory, least byte first. */
    public static final long MAGIC = 0x676E69526E677254L;

    /** In the header: records that there is room for, 4 bytes, a power of two. */
    public static final long CAPACITY = 8;

    /** In the header: number of the stream that the ring is for, 4 bytes. */
    public static final long STREAM = 12;

    /** In the header: records ever written, 8 bytes; written with a release behind each. */
    public static final long HEAD = 16;

    /** In the header: records taken from it, 8 bytes; written by who drains. */
    public static final long DRAINED = 24;

    /** In the header: when the next message was refused first, 8 bytes; 0: it was not. */
    public static final long WAITING_SINCE = 32;

    /** In the header: messages posted, 8 bytes. */
    public static final long POSTED = 40;

    /** In the header: time of the comm's last call, 8 bytes. */
    public static final long LAST_CALL = 48;

    /** In the header: messages done, 8 bytes. */
    public static final long DONE = 56;

    /** In the header: for each of the comm's slots, when its request was posted, 8 bytes each. */
    public static final long POSTED_AT = 64;

    /** In the header: for each of the comm's slots, the number of its message, 8 bytes each. */
    public static final long NUMBERS = POSTED_AT + 32 * 8;

    /** In the header of a thread's ring: 1 while a thread of NCCL's has it, 8 bytes. */
    public static final long OWNER = NUMBERS + 32 * 8;

    /** In the header of a comm's ring: 1 if it sends, 8 bytes. */
    public static final long IS_SEND = OWNER + 16;

    /** Offset of the histograms: for each measure, for each size class, {@link #HISTOGRAM_BYTES}. */
    public static final long HISTOGRAMS = 1024;

    /** Number of measures: a message's wait for its receiver, a send from posted to done, a receive likewise. */
    public static final int MEASURES = 3;

    /** Classes of message sizes: up to 64 B, 1 KiB, 8 KiB, 64 KiB, 256 KiB, 1 MiB, 4 MiB, and above. */
    public static final int SIZE_CLASSES = 8;

    /** Words of a histogram: how many, the sum of their nanoseconds, and so many for each bucket. */
    public static final int HISTOGRAM_WORDS = 128;

    /** The first of the buckets among the words. */
    public static final int FIRST_BUCKET = 2;

    /** Buckets of a histogram: four for each power of two. */
    public static final int BUCKETS = HISTOGRAM_WORDS - FIRST_BUCKET;

    /** Length of a histogram. */
    public static final int HISTOGRAM_BYTES = HISTOGRAM_WORDS * 8;

    /** Length of all of them. */
    public static final int ALL_HISTOGRAMS_BYTES = MEASURES * SIZE_CLASSES * HISTOGRAM_BYTES;

    /** Offset of the records. */
    public static final long RECORDS = 28 << 10;

    private static final long[] LARGEST = {64, 1 << 10, 8 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, Long.MAX_VALUE};

    private RingLayout() {}

    /** A ring's length with that many records. */
    public static long bytes(int capacity) {
        return RECORDS + (long) capacity * RecordLayout.BYTES;
    }

    /** The largest message of a size class. */
    public static long largestOf(int sizeClass) {
        return LARGEST[sizeClass];
    }

    /** The bucket of a time: four for each power of two of nanoseconds, the last for all beyond. */
    public static int bucketOf(long nanoseconds) {
        if (nanoseconds < 4) {
            return (int) Math.max(0, nanoseconds);
        }
        int power = 63 - Long.numberOfLeadingZeros(nanoseconds);
        int bucket = 4 * (power - 1) + (int) ((nanoseconds >>> (power - 2)) & 3);
        return Math.min(bucket, BUCKETS - 1);
    }

    /** The least time that does not fall into a bucket nor into one before it; the last bucket has no such time. */
    public static long endOf(int bucket) {
        int next = bucket + 1;
        if (next < 4) {
            return next;
        }
        if (bucket == BUCKETS - 1) {
            return Long.MAX_VALUE;
        }
        return (4L + next % 4) << (next / 4 - 1);
    }
}
