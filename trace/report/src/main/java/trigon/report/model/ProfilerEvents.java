package trigon.report.model;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import trigon.report.read.Stream;
import trigon.report.read.Stream.Records;
import trigon.report.read.TraceContents;
import trigon.trace.RecordKind;

/** The events of NCCL's profiler that one process recorded, by number. Times are the machine's. */
final class ProfilerEvents {

    /** Event types: bit numbers of NCCL's mask. */
    static final int COLLECTIVE = 1;

    static final int POINT_TO_POINT = 2;

    static final int COPY_COLLECTIVE = 12;

    /** NCCL's state numbers: a send's data is ready; isend or irecv has taken a step's message. */
    private static final int STATE_DATA_READY = 20;

    private static final int STATE_SEND_TAKEN = 9;
    private static final int STATE_RECEIVE_TAKEN = 10;

    /** One event of NCCL's profiler: begin, states and end, on the process's clock. */
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

        /** Tells whether it is a collective, or a message of the program's own. */
        boolean isOperation() {
            return type == COLLECTIVE || type == POINT_TO_POINT || type == COPY_COLLECTIVE;
        }
    }

    /** Finds a message of one of the process's comms, by the comm's stream. */
    private record Taken(int stream, long message) {}

    private final Map<Long, ProfilerEvent> events = new LinkedHashMap<>();
    private final Map<Taken, ProfilerEvent> steps = new HashMap<>();

    ProfilerEvents(TraceContents trace) {
        List<Records> ofThreads = trace.streams().values().stream()
                .filter(stream -> stream.fields().get("kind").equals("thread"))
                .map(Stream::records)
                .toList();
        ofThreads.forEach(this::takeStarts);
        ofThreads.forEach(this::takeRest); // an event may end on another thread
        for (ProfilerEvent event : events.values()) {
            long end = Math.max(event.stop, event.lastStop);
            ProfilerEvent ancestor = events.get(event.parent);
            for (int depth = 0; ancestor != null && depth < 8; depth++) {
                ancestor.lastStop = Math.max(ancestor.lastStop, end);
                ancestor = events.get(ancestor.parent);
            }
        }
    }

    private void takeStarts(Records records) {
        for (int i = 0; i < records.size(); i++) {
            if (records.kind(i) == RecordKind.EVENT_START.code()) {
                long number = records.subject(i);
                events.putIfAbsent(
                        number, new ProfilerEvent(number, records.detail(i), records.time(i), records.value(i)));
            }
        }
    }

    private void takeRest(Records records) {
        for (int i = 0; i < records.size(); i++) {
            RecordKind kind = RecordKind.of(records.kind(i)).orElse(null);
            ProfilerEvent event = events.get(records.subject(i));
            if (event == null || kind == null) {
                continue;
            }
            switch (kind) {
                case EVENT_DETAIL -> {
                    if (records.detail(i) < event.values.length) {
                        event.values[records.detail(i)] = records.value(i);
                        event.arguments[records.detail(i)] = records.argument(i);
                    }
                }
                case EVENT_STOP -> event.stop = records.time(i);
                case EVENT_STATE -> takeState(event, records, i);
                default -> {}
            }
        }
    }

    private void takeState(ProfilerEvent event, Records records, int index) {
        switch (records.detail(index)) {
            case STATE_DATA_READY -> event.ready = event.ready == 0 ? records.time(index) : event.ready;
            case STATE_SEND_TAKEN, STATE_RECEIVE_TAKEN ->
                steps.put(new Taken((int) records.argument(index), records.value(index)), event);
            default -> {}
        }
    }

    Iterable<ProfilerEvent> all() {
        return events.values();
    }

    @Nullable
    ProfilerEvent event(long number) {
        return events.get(number);
    }

    /** The proxy's step of a message; null if there is none. */
    @Nullable
    ProfilerEvent step(int stream, long message) {
        return steps.get(new Taken(stream, message));
    }

    /** The collective, or the message of the program's own, that an event belongs to; null if it belongs to none. */
    @Nullable
    ProfilerEvent operation(@Nullable ProfilerEvent event) {
        ProfilerEvent ancestor = event;
        for (int depth = 0; ancestor != null && depth < 8; depth++) {
            if (ancestor.isOperation()) {
                return ancestor;
            }
            ancestor = events.get(ancestor.parent);
        }
        return null;
    }
}
