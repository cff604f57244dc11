package trigon.transport.request;

import java.util.LinkedHashMap;
import java.util.Map;
import trigon.nccl.NetPlugin;
import trigon.transport.handle.HandleTable;
import trigon.transport.metrics.MetricsRow;

/**
 * The layout of a session's row in the {@link RequestTable}: its requests, and the lane by which the entry library
 * moves their messages ({@code struct lane} of {@code lane/lane.h}, which says what each word is for and whose it is).
 * When the library starts, these numbers are compared with its own.
 *
 * <p>The fields of a request share half a cache line, because with many sessions each line that a message touches is a
 * miss. Rows are an odd number of lines long, so that equal slots of many sessions do not compete for the same sets of
 * a cache.
 */
public final class RequestRow {

    /** Most sessions that can be open, and so the length of the library's table of rows. */
    public static final int ROWS = HandleTable.MAX_SLOTS;

    /** Entries at the start of a row: the most requests of a session ({@code NCCL_NET_MAX_REQUESTS}). */
    public static final int REQUESTS = 32;

    public static final long ENTRY_BYTES = 32;

    /** In an entry: the handle of a finished request that NCCL has not been told of, 8 bytes; or 0. */
    public static final long FINISHED = 0;

    /** In an entry: the handle of the request that has the slot or had it last, 8 bytes. */
    public static final long REQUEST = 8;

    /** In an entry: the size of the message, 8 bytes. */
    public static final long SIZE = 16;

    /** In an entry: the state of the request, 8 bytes, see {@link Requests}. */
    public static final long STATE = 24;

    /** In a row: the session's handle, 8 bytes; 0 if the row is nobody's. */
    public static final long HANDLE = REQUESTS * ENTRY_BYTES;

    /** In a row: who may come in, 4 bytes; its values are {@link Gate}'s. */
    public static final long GATE = HANDLE + 8;

    /** In a row: not 0 while the thread of the data path is inside, 4 bytes. */
    public static final long INSIDE = HANDLE + 12;

    /** In a row: the thread of the first request, 8 bytes, see {@link Requests#callingThread}; or 0. */
    public static final long THREAD = HANDLE + 16;

    /** In a row: address of the path's counters of messages, bytes and waits. */
    public static final long COUNTERS = HANDLE + 24;

    /** In a row: where polls write completions; there is room for {@link #COMPLETIONS_AT_ONCE}. */
    public static final long COMPLETIONS = HANDLE + 32;

    /** In a row: what the entry library's last poll returned, if Java has to take it, 4 bytes; or 0. */
    public static final long POLLED = HANDLE + 40;

    /** In a row: how many of these completions are accounted for, 2 bytes. */
    public static final long TAKEN = HANDLE + 44;

    /** In a row: whether the next message has been counted as waiting, 2 bytes. */
    public static final long WAITED = HANDLE + 46;

    /** In a row: number of requests that the lane has finished, 4 bytes, modulo 2^32. */
    public static final long COMPLETED = HANDLE + 48;

    /** In a row: errno of the post that was refused last, 4 bytes. */
    public static final long REFUSED = HANDLE + 52;

    /** In a row: address of a receiver's flushes, of {@link FlushLayout}; 0: it has no memory of a GPU. */
    public static final long FLUSHES = HANDLE + 56;

    /** In a row: what the entry library posts to and polls, 8 bytes each. */
    public static final long QUEUE_PAIR = HANDLE + 64;

    public static final long QUEUE = QUEUE_PAIR + 8;
    public static final long POST_SEND = QUEUE_PAIR + 16;
    public static final long POST_RECEIVE = QUEUE_PAIR + 24;
    public static final long POLL = QUEUE_PAIR + 32;

    /** In a row: number of the next message, 8 bytes. */
    public static final long NEXT = QUEUE_PAIR + 40;

    /** In a row: bytes of the longest RDMA WRITE, 4 bytes. */
    public static final long LONGEST = QUEUE_PAIR + 48;

    /** In a row: send work requests that can be posted now, 4 bytes. */
    public static final long ROOM = QUEUE_PAIR + 52;

    /** In a row: 1 where messages go out, 4 bytes. */
    public static final long SENDS = QUEUE_PAIR + 56;

    /** In a row: receive work requests that no message has taken, 4 bytes. */
    public static final long RECEIVES = QUEUE_PAIR + 60;

    /** In a row: where clear-to-send entries are read, or made, and where the receiver writes them. */
    public static final long RING = QUEUE_PAIR + 64;

    public static final long REMOTE_RING = RING + 8;
    public static final long RING_KEY = RING + 16;
    public static final long REMOTE_RING_KEY = RING + 20;

    /** In a row: the flag by which entries are written, 4 bytes; and how many were, over this path. */
    public static final long INLINED = RING + 24;

    public static final long WRITTEN = RING + 28;

    /** In a row: an eager sender's {@link UnconfirmedMessages}, and where its queue pair counts what the peer has. */
    public static final long UNCONFIRMED = RING + 32;

    public static final long DELIVERED = RING + 40;

    /** In a row: messages that the peer had when the path was taken. */
    public static final long CONFIRMED = RING + 48;

    /** In a row: 1 where messages go by SEND, 4 bytes; and when they are done where there are no copies. */
    public static final long EAGER = RING + 56;

    public static final long DONE_WHEN = RING + 60;

    /** In a row: where the messages of the requests are, for each slot. */
    public static final long MESSAGES = RING + 64;

    public static final long MESSAGE_BYTES = 24;

    /** In a message: its registration's handle, 8 bytes behind its address; and its tag, 4 bytes. */
    public static final long MESSAGE_MEMORY = 8;

    public static final long MESSAGE_TAG = 16;

    public static final long BYTES = MESSAGES + REQUESTS * MESSAGE_BYTES;

    /** Most completions of a poll. */
    public static final int COMPLETIONS_AT_ONCE = 16;

    private RequestRow() {}

    /** The numbers that the entry library has, too, by the names there. */
    public static Map<String, Long> facts() {
        Map<String, Long> facts = new LinkedHashMap<>();
        facts.put("lanes", (long) ROWS);
        facts.put("lanes.requests", (long) REQUESTS);
        facts.put("lanes.completions", (long) COMPLETIONS_AT_ONCE);
        facts.put("lanes.longest", NetPlugin.MAX_MESSAGE_BYTES);
        facts.put("lane", BYTES);
        facts.put("lane.entries", 0L);
        facts.put("lane.handle", HANDLE);
        facts.put("lane.gate", GATE);
        facts.put("lane.inside", INSIDE);
        facts.put("lane.thread", THREAD);
        facts.put("lane.counters", COUNTERS);
        facts.put("lane.completions", COMPLETIONS);
        facts.put("lane.polled", POLLED);
        facts.put("lane.taken", TAKEN);
        facts.put("lane.completed", COMPLETED);
        facts.put("lane.refused", REFUSED);
        facts.put("lane.waited", WAITED);
        facts.put("lane.flushes", FLUSHES);
        facts.put("lane.queue_pair", QUEUE_PAIR);
        facts.put("lane.queue", QUEUE);
        facts.put("lane.post_send", POST_SEND);
        facts.put("lane.post_receive", POST_RECEIVE);
        facts.put("lane.poll", POLL);
        facts.put("lane.next", NEXT);
        facts.put("lane.longest", LONGEST);
        facts.put("lane.room", ROOM);
        facts.put("lane.sends", SENDS);
        facts.put("lane.receives", RECEIVES);
        facts.put("lane.ring", RING);
        facts.put("lane.remote_ring", REMOTE_RING);
        facts.put("lane.ring_key", RING_KEY);
        facts.put("lane.remote_ring_key", REMOTE_RING_KEY);
        facts.put("lane.inlined", INLINED);
        facts.put("lane.written", WRITTEN);
        facts.put("lane.unconfirmed", UNCONFIRMED);
        facts.put("lane.delivered", DELIVERED);
        facts.put("lane.confirmed", CONFIRMED);
        facts.put("lane.eager", EAGER);
        facts.put("lane.done_when", DONE_WHEN);
        facts.put("lane.messages", MESSAGES);
        facts.put("open_message", MESSAGE_BYTES);
        facts.put("open_message.memory", MESSAGE_MEMORY);
        facts.put("open_message.tag", MESSAGE_TAG);
        facts.put("request_entry", ENTRY_BYTES);
        facts.put("request_entry.finished", FINISHED);
        facts.put("request_entry.request", REQUEST);
        facts.put("request_entry.size", SIZE);
        facts.put("request_entry.state", STATE);
        facts.put("request.free", (long) Requests.FREE);
        facts.put("request.pending", (long) Requests.PENDING);
        facts.put("request.done", (long) Requests.DONE);
        facts.put("request.failed", (long) Requests.FAILED);
        facts.put("lane_counters", MetricsRow.WAITS + Long.BYTES - MetricsRow.MESSAGES);
        facts.put("lane_counters.bytes", MetricsRow.MESSAGE_BYTES - MetricsRow.MESSAGES);
        facts.put("lane_counters.waits", MetricsRow.WAITS - MetricsRow.MESSAGES);
        facts.put("gate.open", (long) Gate.OPEN);
        facts.put("gate.ask", (long) Gate.ASK);
        facts.put("gate.fenced", (long) Gate.FENCED);
        return facts;
    }
}
