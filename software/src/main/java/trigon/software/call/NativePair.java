package trigon.software.call;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import org.jspecify.annotations.Nullable;
import trigon.software.call.SoftwareFunctions.Function;
import trigon.verbs.NativePost;
import trigon.verbs.QueuePairCapacity;

/**
 * A queue pair in C: {@code struct queue_pair}. Freed when it is collected: a late post on a closed queue pair does not
 * meet foreign memory.
 */
@SuppressWarnings({"EnumOrdinal", "ReachabilityFenceUsage"}) // the order is that of C, which throws nothing
public final class NativePair {

    private final SoftwareFunctions functions = SoftwareFunctions.get();
    private final MemorySegment memory;
    private final long address;

    /** C uses them for as long as it uses this. */
    private final @Nullable Object[] kept = new @Nullable Object[5];

    /**
     * A queue pair in RESET.
     *
     * @param domain number of its protection domain
     * @param mover of its long messages; null if it has none that are
     * @throws OutOfMemoryError if there is no memory
     */
    public NativePair(
            NativeDevice device,
            int domain,
            int number,
            QueuePairCapacity capacity,
            NativeQueue sends,
            NativeQueue receives,
            @Nullable NativeMover mover) {
        kept[0] = sends;
        kept[1] = receives;
        kept[2] = mover;
        int inline = capacity.inlineBytes();
        memory = Buffers.allocateSegment(functions.call(
                Function.PAIR_BYTES, capacity.sendWorkRequests(), capacity.receiveWorkRequests(), inline));
        address = memory.address();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment sizes =
                    arena.allocateFrom(JAVA_LONG, capacity.sendWorkRequests(), capacity.receiveWorkRequests(), inline);
            functions.call(
                    Function.MAKE_PAIR,
                    address,
                    device.address(),
                    (long) domain << Integer.SIZE | number,
                    sends.address(),
                    receives.address(),
                    mover == null ? 0 : mover.address(),
                    sizes.address());
        }
    }

    // ---- the posting thread

    /** Posts a send; 0 or a positive errno. The words are as in {@code struct send_entry}. */
    public int send(long number, long start, long lengthAndKey, long remote, long remoteKeyAndImmediate, long opcode) {
        long errno = functions.call(
                Function.SEND, address, number, start, lengthAndKey, remote, remoteKeyAndImmediate, opcode);
        Reference.reachabilityFence(this);
        return (int) errno;
    }

    /** Posts a receive; 0 or a positive errno. */
    public int receive(long number, long start, long lengthAndKey) {
        long errno = functions.call(Function.RECEIVE, address, number, start, lengthAndKey);
        Reference.reachabilityFence(this);
        return (int) errno;
    }

    /** The way to post to it from C. */
    public NativePost nativePost() {
        return new NativePost(
                address,
                functions.address(Function.POST_SEND),
                functions.address(Function.POST_RECEIVE),
                get(Word.DELIVERED_AT));
    }

    // ---- any thread

    /** Reads a word. */
    public long get(Word word) {
        long value = functions.call(Function.GET, address, word.ordinal());
        Reference.reachabilityFence(this);
        return value;
    }

    /** Returns whether a word is not 0. */
    public boolean has(Word word) {
        return get(word) != 0;
    }

    /** Its completion queues are polled for it from now on; ends with {@link #detach}. */
    public void attach() {
        functions.call(Function.ATTACH, address);
    }

    /** The opposite of {@link #attach}. */
    public void detach() {
        functions.call(Function.DETACH, address);
        Reference.reachabilityFence(this);
    }

    /** Waits for its lock. */
    public void lock() {
        functions.call(Function.LOCK, address);
    }

    /** Lets go of the lock, and does what has come up meanwhile. */
    public void unlock() {
        functions.call(Function.UNLOCK, address);
        Reference.reachabilityFence(this);
    }

    /** Gives it to its mover, as {@link #progress} has asked for. */
    public void give() {
        functions.call(Function.GIVE, address);
    }

    /** Waits until its mover has let go of it, which it does once no long message is left. */
    public void awaitMover() {
        functions.call(Function.AWAIT_MOVER, address);
        Reference.reachabilityFence(this);
    }

    // ---- under its lock

    /** Writes a word of the C struct; under its lock, unless the word says that any thread may. */
    public void set(Word word, long value) {
        functions.call(Function.SET, address, word.ordinal(), value);
    }

    /** Requests go out on that connection from now on. */
    public void connect(NativeConnection connection) {
        kept[3] = connection;
        functions.call(Function.CONNECT, address, connection.address());
    }

    /** Requests come in on that connection from now on. */
    public void adopt(NativeConnection connection) {
        kept[4] = connection;
        functions.call(Function.ADOPT, address, connection.address());
    }

    /** Ends it: nothing is read or written any more, and what is posted is flushed. */
    public void fail(Reason reason) {
        functions.call(Function.FAIL, address, reason.ordinal());
    }

    /** The oldest request fails with that status, and the queue pair with it. */
    public void failOldest(int status, Reason reason) {
        functions.call(Function.FAIL_OLDEST, address, status, reason.ordinal());
    }

    /** Forgets everything, without completions. */
    public void reset() {
        functions.call(Function.RESET, address);
    }

    /** The connection of the requests that go out has ended, as Java knows. */
    public void loseOutbound() {
        functions.call(Function.LOSE_OUTBOUND, address);
    }

    /** The connection of the requests that come in has ended, as Java knows. */
    public void loseInbound() {
        functions.call(Function.LOSE_INBOUND, address);
    }

    /** Does not touch a region any more, which is closed. */
    public void forget(long region) {
        functions.call(Function.FORGET, address, region);
    }

    /** Looks for requests to be sent. */
    public void work() {
        functions.call(Function.WORK, address);
    }

    /** Tells the peer that there is no receive, if it waits for one. */
    public void sayNotReady() {
        functions.call(Function.SAY_NOT_READY, address);
    }

    /** Sends the responses. */
    public void answer() {
        functions.call(Function.ANSWER, address);
    }

    /** Moves what there is, since nobody polls; true if it is to be {@linkplain #give given} to the mover then. */
    public boolean progress() {
        return functions.call(Function.PROGRESS, address) != 0;
    }
}
