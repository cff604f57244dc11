package trigon.transport.protocol;

import java.util.List;
import org.jspecify.annotations.Nullable;
import trigon.nccl.NetPlugin;
import trigon.system.Errno;
import trigon.system.Memory;
import trigon.transport.path.PathChannel;
import trigon.transport.request.LaneFunctions;
import trigon.transport.request.MemoryTable;
import trigon.transport.request.RequestRow;
import trigon.transport.request.Requests;
import trigon.transport.request.UnconfirmedMessages;
import trigon.verbs.NativePoll;
import trigon.verbs.NativePost;
import trigon.verbs.SendFlag;

/**
 * The lane of a session: its messages over one path, moved by the functions of {@code lane/lane.h}, which the entry
 * library calls while the session's {@link trigon.transport.request.Gate} is open, and this otherwise.
 *
 * <p>For who has the lane: the thread of the data path inside of the gate, or who has shut it. Allocates nothing while
 * messages move.
 */
final class Lane {

    /** Bytes of an entry, which are written inline where the device takes so many. */
    private static final int ENTRY_BYTES = ClearToSend.BYTES - ClearToSend.OF_ONE_PATH;

    private final Requests requests;
    private final LaneFunctions functions;
    private final MemoryTable memories;
    private final long row;
    private final boolean sends;

    /** Of an eager sender that copies short messages; else null. */
    private final @Nullable UnconfirmedMessages unconfirmed;

    /**
     * The lane of a session, which begins at a message: {@link #use} is to follow.
     *
     * @param begun messages so far
     * @param complete of these, messages that are done, in their order
     */
    Lane(Requests requests, boolean sends, @Nullable UnconfirmedMessages unconfirmed, long begun, long complete) {
        this.requests = requests;
        this.sends = sends;
        this.unconfirmed = unconfirmed;
        functions = requests.functions();
        memories = requests.memories();
        row = requests.row();
        requests.completeFrom(complete);
        Memory.putLong(row + RequestRow.NEXT, begun);
    }

    /** Tells whether that is one path, and C can post to it and poll it. */
    static boolean fits(List<PathChannel> paths) {
        PathChannel path = paths.getFirst();
        return paths.size() == 1
                && path.queuePair().nativePost().isPresent()
                && path.completionQueue().nativePoll().isPresent();
    }

    /**
     * The lane goes on over a path that {@linkplain #fits fits}, over which nothing has gone yet.
     *
     * @param room send work requests that fit
     * @param from messages that the peer has, or has sent
     */
    void use(PathChannel path, int room, long from) {
        NativePost post = path.queuePair().nativePost().orElseThrow();
        NativePoll poll = path.completionQueue().nativePoll().orElseThrow();
        Memory.putLong(row + RequestRow.QUEUE_PAIR, post.queuePair());
        Memory.putLong(row + RequestRow.POST_SEND, post.send());
        Memory.putLong(row + RequestRow.POST_RECEIVE, post.receive());
        Memory.putLong(row + RequestRow.QUEUE, poll.queue());
        Memory.putLong(row + RequestRow.POLL, poll.function());
        Memory.putLong(row + RequestRow.COUNTERS, path.counters().address());
        int longest = (int) Math.min(path.maxMessageBytes(), NetPlugin.MAX_MESSAGE_BYTES);
        Memory.putInt(row + RequestRow.LONGEST, longest);
        Memory.putInt(row + RequestRow.ROOM, room);
        Memory.putInt(row + RequestRow.SENDS, sends ? 1 : 0);
        Memory.putInt(row + RequestRow.RECEIVES, 0);
        Memory.putShort(row + RequestRow.WAITED, (short) 0);
        Memory.putInt(row + RequestRow.WRITTEN, 0);
        Memory.putLong(row + RequestRow.DELIVERED, post.delivered());
        Memory.putLong(row + RequestRow.CONFIRMED, from);
    }

    /** Messages go by {@link MessageProtocol#RENDEZVOUS} over that path. */
    void goByRendezvous(PathChannel path) {
        Memory.putInt(row + RequestRow.EAGER, 0);
        Memory.putLong(row + RequestRow.DELIVERED, 0); // completions tell
        Memory.putLong(row + RequestRow.RING, path.clearToSendRing().address());
        Memory.putInt(row + RequestRow.RING_KEY, path.clearToSendRing().localKey());
        Memory.putLong(row + RequestRow.REMOTE_RING, path.remoteMemory().address());
        Memory.putInt(row + RequestRow.REMOTE_RING_KEY, path.remoteMemory().key());
        boolean inline = path.queuePair().maxInlineBytes() >= ENTRY_BYTES;
        Memory.putInt(row + RequestRow.INLINED, inline ? SendFlag.INLINE : SendFlag.NONE);
    }

    /**
     * Messages go by {@link MessageProtocol#EAGER}.
     *
     * @param doneWhen the flag by which they are, where none is copied
     */
    void goEagerly(int doneWhen) {
        UnconfirmedMessages copies = unconfirmed;
        Memory.putInt(row + RequestRow.EAGER, 1);
        Memory.putInt(row + RequestRow.DONE_WHEN, doneWhen);
        Memory.putLong(row + RequestRow.UNCONFIRMED, copies == null ? 0 : copies.address());
    }

    boolean isEager() {
        return Memory.getInt(row + RequestRow.EAGER) != 0;
    }

    /** The next message; a request, or a number that is none and says why. */
    long begin(long address, int size, int tag, int key, long memory) {
        return sends
                ? functions.isend(row, address, size, key, tag, memory)
                : functions.irecv(row, address, size, key, tag, memory);
    }

    /** An outstanding message goes out, or is asked for, again; 1, or a number that says why not. */
    long repeat(long sequence) {
        UnconfirmedMessages copies = unconfirmed;
        long memory = copies == null ? memory(sequence) : copies.memory(sequence);
        return functions.repeat(row, sequence, memories.key(memory, !sends && !isEager()));
    }

    /** Takes account of a completion that is a success; false if the lane has asked for nothing like it. */
    boolean take(long completion) {
        return functions.take(row, completion);
    }

    /** Copies those messages whose copies are due, so that they are done. */
    void settle() {
        functions.settle(row);
    }

    /** The errno of the post that the device has refused; 0 if none was by the last call. */
    int refused() {
        int errno = Memory.getInt(row + RequestRow.REFUSED);
        return errno < 0 ? Errno.EIO : errno; // some providers return -1 where they know none
    }

    /** Returns why a message could not go out: the device has refused it, or it does not fit what its receiver says. */
    ProtocolFailure whyNotSent(long sequence, int size, int tag) {
        if (refused() != 0) {
            return new ProtocolFailure.Refused(0, "ibv_post_send", refused());
        }
        long entry = Memory.getLong(row + RequestRow.RING) + ClearToSend.offset(sequence);
        int capacity = Memory.getInt(entry + ClearToSend.CAPACITY);
        return new ProtocolFailure.Mismatch(sequence, size, tag, capacity, Memory.getInt(entry + ClearToSend.TAG));
    }

    /** Messages begun so far, by C and Java. */
    long begun() {
        return Memory.getLong(row + RequestRow.NEXT);
    }

    /** Messages done, in their order. */
    long complete() {
        long begun = begun();
        return begun - Integer.toUnsignedLong((int) begun - requests.completed());
    }

    /** Sender: messages that the peer is known to have, in their order. */
    long confirmed() {
        return functions.confirmed(row);
    }

    /** Address of an outstanding message, as are the following. */
    long address(long sequence) {
        return Memory.getLong(message(sequence));
    }

    /** The handle of its registration; 0 if it has none. */
    long memory(long sequence) {
        return Memory.getLong(message(sequence) + RequestRow.MESSAGE_MEMORY);
    }

    int size(long sequence) {
        return requests.size(Requests.slot(sequence));
    }

    int tag(long sequence) {
        return Memory.getInt(message(sequence) + RequestRow.MESSAGE_TAG);
    }

    /** An outstanding message that another protocol has begun. */
    void takeOver(long sequence, long address, int tag, long memory) {
        Memory.putLong(message(sequence), address);
        Memory.putLong(message(sequence) + RequestRow.MESSAGE_MEMORY, memory);
        Memory.putInt(message(sequence) + RequestRow.MESSAGE_TAG, tag);
    }

    private long message(long sequence) {
        return row + RequestRow.MESSAGES + Requests.slot(sequence) * RequestRow.MESSAGE_BYTES;
    }
}
