package trigon.onesided.peer;

import org.jspecify.annotations.Nullable;
import trigon.onesided.memory.Window;
import trigon.onesided.memory.Windows;

/** The checks of records from another rank: nothing that they say is trusted. Data path; no state. */
final class RecordCheck {

    private RecordCheck() {}

    /**
     * Returns what is wrong with a record; null if nothing is.
     *
     * @param bytes of the message that it came in
     * @param sequence the number that it has to have
     */
    static @Nullable String objection(long record, long bytes, long sequence, Windows windows) {
        if (bytes < PutRecordLayout.HEADER_BYTES
                || bytes != PutRecordLayout.HEADER_BYTES + PutRecordLayout.inlineBytes(record)) {
            return "a record has not the length that it says";
        }
        if (PutRecordLayout.sequence(record) != sequence) {
            return "a record is missing, or has come twice";
        }
        int kind = PutRecordLayout.kind(record);
        if (kind < PutRecordLayout.PUT || kind > PutRecordLayout.LEAVING) {
            return "a record is of no kind that is known here";
        }
        Window window = windows.find(PutRecordLayout.window(record));
        long size = PutRecordLayout.size(record);
        if ((size != 0 || kind == PutRecordLayout.GET)
                && (window == null || !window.covers(PutRecordLayout.offset(record), size))) {
            return "a record is about memory that is not, or no longer, registered here";
        }
        Window signal = windows.find(PutRecordLayout.signalWindow(record));
        if (PutRecordLayout.signalWindow(record) != PutRecordLayout.NO_WINDOW
                && (signal == null || !signal.hasWord(PutRecordLayout.signalOffset(record)))) {
            return "a record is about a signal that is not, or no longer, registered here";
        }
        return null;
    }

    /**
     * Tells whether a record writes where one of those before it does, of which the first has that number. A long
     * payload goes straight into its window, so it may come before what was put earlier: it may not come at all until
     * that is there.
     */
    static boolean overlapsEarlier(Staging staging, long first, long number) {
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
