package trigon.onesided.peer;

import trigon.onesided.record.PutRecordLayout;

/**
 * Records that write to the same place. A long payload goes straight into its window, so it may come before what was
 * put earlier: it may not come at all until that is there.
 *
 * <p>Data path; no state.
 */
final class Overlap {

    private Overlap() {}

    /** Tells whether a record writes where one of those before it does, of which the first has that number. */
    static boolean withEarlier(Staging staging, long first, long number) {
        long record = staging.record(number);
        int window = PutRecordLayout.window(record);
        long from = PutRecordLayout.offset(record);
        long to = from + PutRecordLayout.size(record);
        for (long earlier = first; earlier < number; earlier++) {
            if (writes(staging.record(earlier), window, from, to)) {
                return true;
            }
        }
        return false;
    }

    private static boolean writes(long record, int window, long from, long to) {
        long offset = PutRecordLayout.offset(record);
        boolean isData = PutRecordLayout.kind(record) != PutRecordLayout.GET
                && PutRecordLayout.window(record) == window
                && offset < to
                && from < offset + PutRecordLayout.size(record);
        long word = PutRecordLayout.signalOffset(record);
        boolean isSignal = PutRecordLayout.signalWindow(record) == window && word < to && from < word + Long.BYTES;
        return isData || isSignal;
    }
}
