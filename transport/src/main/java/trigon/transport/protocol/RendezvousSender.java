package trigon.transport.protocol;

import java.util.List;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import trigon.system.Memory;
import trigon.transport.path.PathChannel;
import trigon.transport.path.RegisteredMemory;
import trigon.transport.request.Requests;
import trigon.verbs.QueuePair;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletions;

/**
 * The sending end with {@link MessageProtocol#RENDEZVOUS}. A message waits for the receiver's {@link ClearToSend}
 * entry, then goes out as RDMA WRITEs to the memory named there, the last of them with an immediate that is the
 * message's size.
 *
 * <p>Over several paths a long message goes in parts, one over each, each of which ends with an immediate: the part's
 * size, and {@link #PART}. A short message goes over the first path alone. Over one path whose device C can reach, a
 * {@link LaneSender} does it.
 *
 * <p>Requests are finished in their order, though work requests of several paths complete in any: what is done is what
 * the peer has, and all before it. So what the peer does not have is open here, in memory that NCCL has not got back,
 * and can be sent again over other paths, each message as a whole.
 */
final class RendezvousSender implements SendProtocol {

    /** Set in an immediate: this is a part, and every path carries one. */
    static final int PART = 1 << 31;

    private final Requests requests;
    private final OpenMessages open;
    private OutgoingPath[] paths;
    private OutgoingPath first;
    private Division division;
    private long ring;

    private long nextSequence;

    /** The message that is to be sent again next; {@link #nextSequence} if none is. */
    private long repeated;

    /** New messages are refused. */
    private boolean held;

    private boolean waited;
    // messages below this one are finished
    private long settled;
    private @Nullable ProtocolFailure failure;

    RendezvousSender(List<PathChannel> paths, Requests requests, OpenMessages.Handover from) {
        this.requests = requests;
        open = from.open();
        nextSequence = from.begun();
        repeated = nextSequence;
        settled = from.complete();
        this.paths = over(paths);
        first = this.paths[0];
        division = divisionAmong(paths);
        ring = paths.getFirst().clearToSendRing().address();
    }

    private static OutgoingPath[] over(List<PathChannel> paths) {
        return paths.stream().map(OutgoingPath::new).toArray(OutgoingPath[]::new);
    }

    private static Division divisionAmong(List<PathChannel> paths) {
        return new Division(paths.stream().mapToInt(PathChannel::speedMbps).toArray());
    }

    @Override
    public long isend(long address, int size, int tag, @Nullable RegisteredMemory memory) {
        long sequence = nextSequence;
        if (repeated < sequence || held) {
            return NO_ROOM;
        }
        long entry = ring + ClearToSend.offset(sequence);
        if (Memory.getLongAcquire(entry + ClearToSend.SEQUENCE) != sequence + 1) {
            return mustWait();
        }
        int slot = Requests.slot(sequence);
        if (!requests.isFree(slot) || !hasRoom(slot, size)) {
            return NO_ROOM;
        }
        if (!post(address, size, tag, memory, entry, sequence)) {
            return FAILED;
        }
        waited = false;
        open.add(sequence, address, tag, memory);
        nextSequence = sequence + 1;
        repeated = nextSequence;
        return requests.begin(sequence, size);
    }

    private long mustWait() {
        if (!waited) {
            waited = true;
            first.counters.waited();
        }
        return NO_RECEIVE;
    }

    private boolean isDivided(int size) {
        return paths.length > 1 && size >= MessageProtocol.MIN_DIVIDED_BYTES;
    }

    /** Tells whether the send queues have room for a message now; decides what goes over which path. */
    private boolean hasRoom(int slot, int size) {
        if (!isDivided(size)) {
            division.whole(slot);
            return first.hasRoom(size);
        }
        division.divide(slot, size);
        boolean room = true;
        for (int path = 0; path < paths.length && room; path++) {
            room = paths[path].hasRoom(division.bytes(slot, path));
        }
        return room;
    }

    /** Posts a message for which there is room, over one path or all. */
    private boolean post(
            long address, int size, int tag, @Nullable RegisteredMemory memory, long entry, long sequence) {
        int capacity = Memory.getInt(entry + ClearToSend.CAPACITY);
        int receiveTag = Memory.getInt(entry + ClearToSend.TAG);
        if (size > capacity || tag != receiveTag) {
            failure = new ProtocolFailure.Mismatch(sequence, size, tag, capacity, receiveTag);
            return false;
        }
        return isDivided(size)
                ? postParts(address, memory, entry, sequence)
                : post(first, 0, address, 0, size, memory == null ? 0 : memory.localKey(), entry, sequence, 0);
    }

    private boolean postParts(long address, @Nullable RegisteredMemory memory, long entry, long sequence) {
        int slot = Requests.slot(sequence);
        int offset = 0;
        for (int path = 0; path < paths.length; path++) {
            int bytes = division.bytes(slot, path);
            int localKey = memory == null ? 0 : memory.region(path).localKey();
            division.posted(path, System.nanoTime());
            if (!post(paths[path], path, address + offset, offset, bytes, localKey, entry, sequence, PART)) {
                return false;
            }
            offset += bytes;
        }
        return true;
    }

    /** Posts a message, or a part of it that begins at an offset. */
    private boolean post(
            OutgoingPath to,
            int path,
            long address,
            int offset,
            int size,
            int localKey,
            long entry,
            long sequence,
            int flag) {
        long remote = Memory.getLong(entry + ClearToSend.ADDRESS) + offset;
        int remoteKey = Memory.getInt(entry + ClearToSend.remoteKey(path));
        QueuePair queuePair = to.queuePair;
        int longest = to.longestWrite();
        int sent = 0;
        int errno = 0;
        while (size - sent > longest && errno == 0) {
            errno = queuePair.postWrite(
                    sequence, address + sent, longest, localKey, remote + sent, remoteKey, SendFlag.NONE);
            sent += longest;
        }
        if (errno == 0) {
            errno = queuePair.postWriteWithImmediate(
                    sequence,
                    address + sent,
                    size - sent,
                    localKey,
                    remote + sent,
                    remoteKey,
                    flag | size,
                    SendFlag.SIGNALED);
        }
        if (errno != 0) {
            failure = new ProtocolFailure.Refused(path, "ibv_post_send", errno);
            return false;
        }
        to.posted(size);
        return true;
    }

    @Override
    public boolean succeeded(int path, WorkCompletions completions, int index) {
        int slot = Requests.slot(completions.workRequestId(index));
        int size = requests.size(slot);
        if (isDivided(size)) {
            paths[path].arrived(division.bytes(slot, path));
            division.arrived(slot, path, System.nanoTime());
        } else {
            paths[path].arrived(size);
            division.arrived(slot);
        }
        while (settled < repeated && division.isComplete(Requests.slot(settled))) {
            finish();
        }
        return true;
    }

    /** The oldest message is. */
    private void finish() {
        int slot = Requests.slot(settled);
        requests.complete(slot, requests.size(slot));
        settled++;
    }

    // ---- other paths

    @Override
    public MessageProtocol kind() {
        return MessageProtocol.RENDEZVOUS;
    }

    @Override
    public Protocol as(
            MessageProtocol next, List<PathChannel> over, LongFunction<@Nullable RegisteredMemory> memories) {
        if (next == MessageProtocol.RENDEZVOUS && !Lane.fits(over)) {
            return this;
        }
        return SendProtocol.following(next, over, requests, new OpenMessages.Handover(open, nextSequence, settled));
    }

    @Override
    public long begun() {
        return nextSequence;
    }

    @Override
    public long confirmed() {
        return settled;
    }

    @Override
    public void holdBack(boolean on) {
        held = on;
    }

    @Override
    public long unconfirmedBytes() {
        return requests.bytes(settled, nextSequence);
    }

    @Override
    public void moveTo(List<PathChannel> next, long received) {
        if (next.size() != paths.length || received < confirmed() || received > nextSequence) {
            throw new IllegalArgumentException("%d paths instead of %d, and %d messages received of %d to %d"
                    .formatted(next.size(), paths.length, received, settled, nextSequence));
        }
        while (settled < received) {
            finish();
        }
        paths = over(next);
        first = paths[0];
        division = divisionAmong(next);
        ring = next.getFirst().clearToSendRing().address();
        repeated = received;
        held = false;
    }

    @Override
    public int repeat() {
        boolean goesOn = true;
        while (goesOn && repeated < nextSequence) {
            int slot = Requests.slot(repeated);
            long entry = ring + ClearToSend.offset(repeated);
            int size = requests.size(slot);
            goesOn = Memory.getLongAcquire(entry + ClearToSend.SEQUENCE) == repeated + 1 && hasRoom(slot, size);
            if (goesOn) {
                if (!post(open.address(repeated), size, open.tag(repeated), open.memory(repeated), entry, repeated)) {
                    return (int) FAILED;
                }
                repeated++;
            }
        }
        return (int) (nextSequence - repeated);
    }

    @Override
    public @Nullable ProtocolFailure failure() {
        return failure;
    }
}
