package trigon.report.model;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import trigon.report.read.ProcessTrace;
import trigon.report.read.Records;
import trigon.report.read.Stream;
import trigon.trace.RecordKind;

/** The events of NCCL's profiler that one process recorded, by number. Times are the machine's. */
final class ProfilerEvents {

    /** Types, as the bits of NCCL's mask are numbered. */
    static final int COLLECTIVE = 1;

    static final int POINT_TO_POINT = 2;
    static final int PROXY_OPERATION = 3;
    static final int PROXY_STEP = 4;
    static final int KERNEL_CHANNEL = 6;
    static final int COLLECTIVE_CALL = 9;
    static final int POINT_TO_POINT_CALL = 10;

    /** NCCL's number of the state in which a send's data are there. */
    static final int STATE_DATA_READY = 20;

    /** One of them. */
    static final class ProfilerEvent {

        final long number;
        final int type;
        final long start;
        final long parent;
        long stop;
        long lastStop;
        long ready;
        final long[] values = new long[4];
        final long[] arguments = new long[4];

        ProfilerEvent(long number, int type, long start, long parent) {
            this.number = number;
            this.type = type;
            this.start = start;
            this.parent = parent;
        }
    }

    private final Map<Long, ProfilerEvent> events = new HashMap<>();
    private final Map<Long, ProfilerEvent> steps = new HashMap<>();

    ProfilerEvents(ProcessTrace trace) {
        for (Stream stream : trace.streams().values()) {
            if (stream.fields().get("kind").equals("thread")) {
                take(stream.records());
            }
        }
        for (ProfilerEvent event : events.values()) {
            long end = Math.max(event.stop, event.lastStop);
            ProfilerEvent ancestor = events.get(event.parent);
            for (int depth = 0; ancestor != null && depth < 8; depth++) {
                ancestor.lastStop = Math.max(ancestor.lastStop, end);
                ancestor = events.get(ancestor.parent);
            }
        }
    }

    private void take(Records records) {
        for (int i = 0; i < records.size(); i++) {
            long number = records.subject(i);
            RecordKind kind = RecordKind.of(records.kind(i)).orElse(null);
            ProfilerEvent event = events.get(number);
            if (kind == RecordKind.EVENT_START && event == null) {
                ProfilerEvent begun = new ProfilerEvent(number, records.detail(i), records.time(i), records.value(i));
                events.put(number, begun);
                if (begun.type == PROXY_STEP) {
                    steps.put(number & 0xFFFF_FFFFL, begun);
                }
            } else if (event != null && kind == RecordKind.EVENT_DETAIL && records.detail(i) < event.values.length) {
                event.values[records.detail(i)] = records.value(i);
                event.arguments[records.detail(i)] = records.argument(i);
            } else if (event != null && kind == RecordKind.EVENT_STOP) {
                event.stop = records.time(i);
            } else if (event != null
                    && kind == RecordKind.EVENT_STATE
                    && records.detail(i) == STATE_DATA_READY
                    && event.ready == 0) {
                event.ready = records.time(i);
            }
        }
    }

    Iterable<ProfilerEvent> all() {
        return events.values();
    }

    @Nullable
    ProfilerEvent event(long number) {
        return events.get(number);
    }

    /** The proxy's step that a message's record names; null if there is none. */
    @Nullable
    ProfilerEvent step(long lowerBits) {
        return lowerBits == 0 ? null : steps.get(lowerBits);
    }

    /** The collective, or the message of the program's own, that an event belongs to; null if it is of none. */
    @Nullable
    ProfilerEvent operation(@Nullable ProfilerEvent event) {
        ProfilerEvent ancestor = event;
        for (int depth = 0; ancestor != null && depth < 8; depth++) {
            if (ancestor.type == COLLECTIVE || ancestor.type == POINT_TO_POINT) {
                return ancestor;
            }
            ancestor = events.get(ancestor.parent);
        }
        return null;
    }
}
