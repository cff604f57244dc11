package trigon.policy.host;

import java.nio.ByteBuffer;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.function.Consumer;
import trigon.policy.host.OpenEvent.EndedEvent;
import trigon.trace.RecordKind;
import trigon.trace.RecordLayout;
import trigon.trace.RecordListener;

/**
 * Makes whole events of the records that NCCL's profiler leaves in the rings of several threads: an event may begin on
 * one and end on another. So records wait until all rings have been asked, and are looked at by their times.
 *
 * <p>For NCCL a collective ends once it is enqueued. Here it lasts from its first message to the end of its last
 * operation of the network; one that does not use the network is not told of. Bounded: what never ends is forgotten.
 */
final class EventAssembly implements RecordListener {

    /** So long may a thread be held up between asking for the time and writing its record. */
    static final long HELD_UP_NANOS = 20_000_000;

    /** A collective whose operations have ended may have others, on channels that begin later. */
    static final long SETTLES_NANOS = 10_000_000;

    private static final int MAX_OPEN = 16_384;

    // NCCL's states of a step, see nccl_profiler_abi.h
    private static final int SEND_WAIT = 9;
    private static final int RECV_WAIT = 10;
    private static final int RECV_FLUSH_WAIT = 11;
    private static final int RECV_GPU_WAIT = 12;
    private static final int SEND_PEER_WAIT = 20;

    private final Consumer<EndedEvent> told;
    private final PriorityQueue<Entry> waiting =
            new PriorityQueue<>(Comparator.comparingLong(Entry::time).thenComparingLong(Entry::order));
    private final Map<Long, OpenEvent> open = new OpenEvents();
    private final Map<OpenEvent, Long> quietSince = new LinkedHashMap<>();
    private long order;

    /** A record, and which one it is of all. */
    private record Entry(long time, long order, long subject, int kind, int detail, int argument, long value) {}

    private static final class OpenEvents extends LinkedHashMap<Long, OpenEvent> {

        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, OpenEvent> eldest) {
            return size() > MAX_OPEN;
        }
    }

    /**
     * Knows no event yet.
     *
     * @param told gets each event that has ended, on the thread that brings the records
     */
    EventAssembly(Consumer<EndedEvent> told) {
        this.told = told;
    }

    @Override
    public void heard(ByteBuffer records) {
        for (int at = records.position(); at < records.limit(); at += RecordLayout.BYTES) {
            int kind = records.getShort(at + RecordLayout.KIND);
            if (kind >= RecordKind.EVENT_START.code()) {
                waiting.add(new Entry(
                        records.getLong(at + RecordLayout.TIME),
                        order++,
                        records.getLong(at + RecordLayout.SUBJECT),
                        kind,
                        records.getShort(at + RecordLayout.DETAIL),
                        records.getInt(at + RecordLayout.ARGUMENT),
                        records.getLong(at + RecordLayout.VALUE)));
            }
        }
    }

    @Override
    public void caughtUp(long since) {
        long now = since - HELD_UP_NANOS;
        for (Entry next = waiting.peek(); next != null && next.time() - now <= 0; next = waiting.peek()) {
            take(waiting.remove());
        }
        quietSince.entrySet().removeIf(entry -> isOver(entry.getKey(), entry.getValue(), now));
    }

    private boolean isOver(OpenEvent event, long since, long now) {
        if (!event.isQuiet()) {
            return true;
        }
        if (now - since < SETTLES_NANOS) {
            return false;
        }
        told.accept(event.end());
        return true;
    }

    private void take(Entry entry) {
        RecordKind kind = RecordKind.of(entry.kind()).orElse(RecordKind.CALL_FAILED);
        if (kind == RecordKind.EVENT_START) {
            begin(entry);
            return;
        }
        OpenEvent event = open.get(entry.subject());
        if (event == null) {
            return;
        }
        switch (kind) {
            case EVENT_DETAIL -> event.learn(entry.detail(), entry.argument(), entry.value());
            case EVENT_STATE -> changed(event, entry.detail(), entry.time());
            case EVENT_STOP -> stop(event, entry);
            default -> {}
        }
    }

    private void begin(Entry entry) {
        int type = entry.detail();
        if (type >= OpenEvent.COLLECTIVE && type <= OpenEvent.STEP) {
            OpenEvent parent = open.get(entry.value());
            open.put(entry.subject(), new OpenEvent(type, parent, entry.time(), entry.argument()));
        }
    }

    private static void changed(OpenEvent step, int state, long time) {
        switch (state) {
            case SEND_WAIT, SEND_PEER_WAIT -> step.sends(time);
            case RECV_WAIT -> step.receives(time);
            case RECV_FLUSH_WAIT, RECV_GPU_WAIT -> step.arrived(time);
            default -> {}
        }
    }

    private void stop(OpenEvent event, Entry entry) {
        event.stop(entry.time());
        if (event.type() != OpenEvent.OPERATION && event.type() != OpenEvent.STEP) {
            return; // its operations have it for a parent still
        }
        open.remove(entry.subject());
        told.accept(event.end());
        OpenEvent above = event.parent();
        if (event.type() == OpenEvent.OPERATION && above != null && above.isQuiet()) {
            quietSince.put(above, entry.time());
        }
    }
}
