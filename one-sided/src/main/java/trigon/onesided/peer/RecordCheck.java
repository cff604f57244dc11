package trigon.onesided.peer;

import org.jspecify.annotations.Nullable;
import trigon.onesided.memory.Window;
import trigon.onesided.memory.Windows;
import trigon.onesided.record.RecordLayout;

/** Whether a record from another rank can be applied: nothing that it says is trusted. Data path. */
final class RecordCheck {

    private RecordCheck() {}

    /**
     * What is wrong with a record; null if nothing is.
     *
     * @param bytes of the message that it came in
     * @param sequence the number that it has to have
     */
    static @Nullable String objection(long record, long bytes, long sequence, Windows windows) {
        if (bytes < RecordLayout.HEADER_BYTES
                || bytes != RecordLayout.HEADER_BYTES + RecordLayout.inlineBytes(record)) {
            return "a record has not the length that it says";
        }
        if (RecordLayout.sequence(record) != sequence) {
            return "a record is missing, or has come twice";
        }
        int kind = RecordLayout.kind(record);
        if (kind < RecordLayout.PUT || kind > RecordLayout.LEAVING) {
            return "a record is of no kind that is known here";
        }
        Window window = windows.find(RecordLayout.window(record));
        long size = RecordLayout.size(record);
        if ((size != 0 || kind == RecordLayout.GET)
                && (window == null || !window.covers(RecordLayout.offset(record), size))) {
            return "a record is about memory that is not, or no longer, registered here";
        }
        Window signal = windows.find(RecordLayout.signalWindow(record));
        if (RecordLayout.signalWindow(record) != RecordLayout.NO_WINDOW
                && (signal == null || !signal.hasWord(RecordLayout.signalOffset(record)))) {
            return "a record is about a signal that is not, or no longer, registered here";
        }
        return null;
    }
}
