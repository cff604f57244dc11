package trigon.onesided.peer;

import trigon.onesided.record.RecordLayout;

/**
 * Records that write to the same place. A long payload goes straight into its window, so it may come before what was
 * put earlier: it may not come at all until that is there.
 *
 * <p>Data path; no state.
 */
final class Overlap {

    private Overlap() {}

    /** Whether a record writes where one of those before it does, of which the first has that number. */
    static boolean withEarlier(Staging staging, long first, long number) {
        long record = staging.record(number);
        int window = RecordLayout.window(record);
        long from = RecordLayout.offset(record);
        long to = from + RecordLayout.size(record);
        for (long earlier = first; earlier < number; earlier++) {
            if (writes(staging.record(earlier), window, from, to)) {
                return true;
            }
        }
        return false;
    }

    private static boolean writes(long record, int window, long from, long to) {
        long offset = RecordLayout.offset(record);
        boolean isData = RecordLayout.kind(record) != RecordLayout.GET
                && RecordLayout.window(record) == window
                && offset < to
                && from < offset + RecordLayout.size(record);
        long word = RecordLayout.signalOffset(record);
        boolean isSignal = RecordLayout.signalWindow(record) == window && word < to && from < word + Long.BYTES;
        return isData || isSignal;
    }
}
