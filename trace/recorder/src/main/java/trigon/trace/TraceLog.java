package trigon.trace;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Log of the control path's events: transitions of queue pairs, handshakes, losses and repairs of paths. Like a logger
 * there is one for the process, so that every module can say a word in one line. It says nothing until a recorder is
 * there.
 *
 * <p>Thread-safe. Writes to a file, so not for the data path.
 */
public final class TraceLog {

    private static volatile @Nullable Recorder recorder;

    private TraceLog() {}

    /** Tells whether anybody listens; for events that are worth a question first. */
    public static boolean isOn() {
        return recorder != null;
    }

    /**
     * Records an event with the time.
     *
     * @param what a word
     * @param namesAndValues by turns; no secrets, no payload
     */
    public static void event(String what, Object... namesAndValues) {
        Recorder known = recorder;
        if (known != null) {
            known.event(what, Fields.of(namesAndValues));
        }
    }

    /**
     * A comm is there: what the entry library does with it is recorded from now on. Before NCCL knows the handle.
     *
     * @param fields what the comm is; with "kind" "send" or "receive"
     */
    public static void opened(long handle, Supplier<Fields> fields) {
        Recorder known = recorder;
        if (known != null) {
            known.opened(handle, fields.get());
        }
    }

    /** No call for the comm comes any more. */
    public static void closed(long handle) {
        Recorder known = recorder;
        if (known != null) {
            known.closed(handle);
        }
    }

    /** That one listens from now on; null: nobody. */
    static void listen(@Nullable Recorder to) {
        recorder = to;
    }
}
