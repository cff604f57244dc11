package trigon.onesided.peer;

import org.jspecify.annotations.Nullable;
import trigon.onesided.memory.Window;
import trigon.onesided.memory.Windows;
import trigon.onesided.record.PutRecordLayout;

/** The check of a record from another rank: nothing that it says is trusted. Data path. */
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
}
