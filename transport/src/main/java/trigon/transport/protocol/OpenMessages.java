package trigon.transport.protocol;

import org.jspecify.annotations.Nullable;
import trigon.transport.path.RegisteredMemory;
import trigon.transport.request.RequestRow;
import trigon.transport.request.Requests;

/**
 * Places of the messages of a session's requests, so that they can be sent, or asked for, again over other paths.
 * Preallocated; for the thread that makes the session's data-path calls, or who has stopped them.
 */
final class OpenMessages {

    /**
     * State of a session's messages, for the protocol that goes on with them. All that are under way are
     * in the memory that NCCL has given for them, and their requests are open.
     *
     * @param open where the messages are; the next protocol's from now on
     * @param begun messages so far
     * @param complete of these, messages that are done, in their order
     */
    record Handover(OpenMessages open, long begun, long complete) {

        static Handover atFirst() {
            return new Handover(new OpenMessages(), 0, 0);
        }
    }

    private final long[] addresses = new long[RequestRow.REQUESTS];
    private final int[] tags = new int[RequestRow.REQUESTS];
    private final @Nullable RegisteredMemory[] memories = new @Nullable RegisteredMemory[RequestRow.REQUESTS];

    /** A message has begun; it takes the place of the one that had its request. */
    void add(long sequence, long address, int tag, @Nullable RegisteredMemory memory) {
        int slot = Requests.slot(sequence);
        addresses[slot] = address;
        tags[slot] = tag;
        memories[slot] = memory;
    }

    /** Address of a message whose request is open, as are the following. */
    long address(long sequence) {
        return addresses[Requests.slot(sequence)];
    }

    int tag(long sequence) {
        return tags[Requests.slot(sequence)];
    }

    /** Null if it is empty. */
    @Nullable
    RegisteredMemory memory(long sequence) {
        return memories[Requests.slot(sequence)];
    }
}
