package trigon.report.read;

import trigon.trace.Fields;
import trigon.trace.RingLayout;

/** The content of one ring of a process: a comm's records, or those of a thread of NCCL's. */
public final class Stream {

    private final Fields fields;
    private final Records records = new Records();
    private long[] histograms = new long[0];
    private long lost;
    private boolean ended;

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

    /** Tells whether the comm was closed. */
    public boolean ended() {
        return ended;
    }

    void lost(long soFar) {
        lost = Math.max(lost, soFar);
    }

    void end() {
        ended = true;
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
}
