package trigon.transport.protocol;

import java.util.List;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import trigon.system.Memory;
import trigon.transport.metrics.PathCounters;
import trigon.transport.path.ClearToSendRing;
import trigon.transport.path.PathChannel;
import trigon.transport.path.RegisteredMemory;
import trigon.transport.request.RequestRow;
import trigon.transport.request.Requests;
import trigon.verbs.QueuePair;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletionOpcode;
import trigon.verbs.WorkCompletions;

/**
 * The receiving end with {@link MessageProtocol#RENDEZVOUS}; see {@link RendezvousSender}. A receive is a {@link
 * ClearToSend} entry written into the sender's ring over the first path, and any of the receive work requests that are
 * posted beforehand, to be taken by the message's immediate. The entry is written at once: a sender waits for no
 * further call of the receiver's.
 *
 * <p>Every message announces itself by an immediate on the first path, which says whether the other paths carry parts
 * of it. Each path keeps its own order, so its next immediate is for the next message that has parts.
 */
final class RendezvousReceiver implements ReceiveProtocol {

    private final Requests requests;
    private final OpenMessages open;
    private IncomingPath[] paths;
    private IncomingPath first;
    private long staging;
    private int stagingKey;
    private long remoteRing;
    private int remoteRingKey;
    private int inline;

    /** Bytes of an entry, at its beginning, that say nothing to the sender. */
    private final int unused;

    private int sendQueueRoom = MessageProtocol.ENTRY_WRITES;

    /** Entries written over these paths. */
    private long written;

    private long nextSequence;

    /** The message that is to be asked for again next; {@link #nextSequence} if none is. */
    private long repeated;

    // messages below this one have come
    private long complete;
    // of these, messages in parts, over these paths
    private long dividedComplete;
    private @Nullable ProtocolFailure failure;

    RendezvousReceiver(List<PathChannel> over, Requests requests, OpenMessages.Handover from) {
        this.requests = requests;
        open = from.open();
        nextSequence = from.begun();
        repeated = nextSequence;
        complete = from.complete();
        unused = over.size() > 1 ? 0 : ClearToSend.OF_ONE_PATH;
        paths = incoming(over, complete);
        first = paths[0];
        use(over.getFirst());
    }

    /** Over the first path each message announces itself; the others count those in parts. */
    private static IncomingPath[] incoming(List<PathChannel> over, long complete) {
        IncomingPath[] incoming = new IncomingPath[over.size()];
        for (int path = 0; path < incoming.length; path++) {
            incoming[path] = new IncomingPath(over.get(path), path == 0 ? complete : 0);
        }
        return incoming;
    }

    /** The first path carries the entries. */
    private void use(PathChannel path) {
        ClearToSendRing ring = path.clearToSendRing();
        staging = ring.address();
        stagingKey = ring.localKey();
        remoteRing = path.remoteMemory().address();
        remoteRingKey = path.remoteMemory().key();
        inline = first.queuePair.maxInlineBytes() >= ClearToSend.BYTES - unused ? SendFlag.INLINE : SendFlag.NONE;
    }

    @Override
    public long irecv(long address, int size, int tag, @Nullable RegisteredMemory memory) {
        long sequence = nextSequence;
        if (!requests.isFree(Requests.slot(sequence)) || sendQueueRoom == 0) {
            return NO_ROOM;
        }
        if (!ask(sequence, address, size, tag, memory)) {
            return FAILED;
        }
        open.add(sequence, address, tag, memory);
        nextSequence = sequence + 1;
        repeated = nextSequence;
        return requests.begin(sequence, size);
    }

    /** Asks for a message: has a receive for it on each path, and says where it may go. */
    private boolean ask(long sequence, long address, int size, int tag, @Nullable RegisteredMemory memory) {
        if (!postReceives(sequence + 1 - complete)) {
            return false;
        }
        makeEntry(sequence, address, size, tag, memory);
        int errno = writeEntry(sequence);
        if (errno != 0) {
            failure = new ProtocolFailure.Refused(0, "ibv_post_send", errno);
        }
        return errno == 0;
    }

    /** Has as many receive work requests on each path as there are messages that may come over it. */
    private boolean postReceives(long messages) {
        for (int path = 0; path < paths.length; path++) {
            int errno = paths[path].prepare(messages);
            if (errno != 0) {
                failure = new ProtocolFailure.Refused(path, "ibv_post_recv", errno);
                return false;
            }
        }
        return true;
    }

    private void makeEntry(long sequence, long address, int capacity, int tag, @Nullable RegisteredMemory memory) {
        long entry = staging + ClearToSend.offset(sequence);
        Memory.putLong(entry + ClearToSend.ADDRESS, address);
        Memory.putInt(entry + ClearToSend.CAPACITY, capacity);
        Memory.putInt(entry + ClearToSend.TAG, tag);
        Memory.putInt(entry + ClearToSend.remoteKey(0), memory == null ? 0 : memory.remoteKey());
        for (int path = 1; path < paths.length; path++) {
            int remoteKey = memory == null ? 0 : memory.region(path).remoteKey();
            Memory.putInt(entry + ClearToSend.remoteKey(path), remoteKey);
        }
        Memory.putLong(entry + ClearToSend.SEQUENCE, sequence + 1);
    }

    private int writeEntry(long sequence) {
        int offset = ClearToSend.offset(sequence) + unused;
        int signal = written % MessageProtocol.SIGNAL_INTERVAL == MessageProtocol.SIGNAL_INTERVAL - 1
                ? SendFlag.SIGNALED
                : SendFlag.NONE;
        written++;
        sendQueueRoom--;
        return first.queuePair.postWrite(
                sequence,
                staging + offset,
                ClearToSend.BYTES - unused,
                stagingKey,
                remoteRing + offset,
                remoteRingKey,
                inline | signal);
    }

    @Override
    public boolean succeeded(int path, WorkCompletions completions, int index) {
        if (completions.opcode(index) != WorkCompletionOpcode.RECEIVE_RDMA_WITH_IMMEDIATE) {
            sendQueueRoom += MessageProtocol.SIGNAL_INTERVAL;
            return true;
        }
        paths[path].arrived(completions.immediate(index));
        completeInOrder();
        return true;
    }

    /** Completes the messages all of whose parts are there. */
    private void completeInOrder() {
        while (complete < first.arrivals()) {
            int slot = Requests.slot(complete);
            int size = first.immediate(complete);
            if ((size & RendezvousSender.PART) != 0) {
                size &= ~RendezvousSender.PART;
                for (int path = 1; path < paths.length; path++) {
                    if (paths[path].arrivals() == dividedComplete) {
                        return;
                    }
                    size += paths[path].immediate(dividedComplete) & ~RendezvousSender.PART;
                }
                dividedComplete++;
            }
            requests.complete(slot, size);
            complete++;
        }
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
        return ReceiveProtocol.following(next, over, requests, new OpenMessages.Handover(open, nextSequence, complete));
    }

    @Override
    public long begun() {
        return nextSequence;
    }

    @Override
    public long confirmed() {
        return complete;
    }

    @Override
    public void moveTo(List<PathChannel> next, long received) {
        if (next.size() != paths.length || received != confirmed()) {
            throw new IllegalArgumentException("%d paths instead of %d, %d messages instead of %d"
                    .formatted(next.size(), paths.length, received, complete));
        }
        paths = incoming(next, complete);
        first = paths[0];
        use(next.getFirst());
        sendQueueRoom = MessageProtocol.ENTRY_WRITES;
        written = 0;
        dividedComplete = 0;
        repeated = complete;
    }

    /** The send queue has room for all requests. */
    @Override
    public int repeat() {
        for (; repeated < nextSequence; repeated++) {
            int size = requests.size(Requests.slot(repeated));
            if (!ask(repeated, open.address(repeated), size, open.tag(repeated), open.memory(repeated))) {
                return (int) FAILED;
            }
        }
        return 0;
    }

    @Override
    public @Nullable ProtocolFailure failure() {
        return failure;
    }

    /** A receiver's side of one of its paths. */
    private static final class IncomingPath {

        final QueuePair queuePair;
        private final PathCounters counters;

        /** Receive work requests posted, and those of them that an immediate has taken. */
        private long posted;

        private long arrived;

        /** By slot, the latest immediates. */
        private final int[] immediates = new int[RequestRow.REQUESTS];

        /**
         * Over which nothing has come yet.
         *
         * @param before messages that came over the paths before it, where its own are counted from
         */
        IncomingPath(PathChannel path, long before) {
            posted = before;
            arrived = before;
            queuePair = path.queuePair();
            counters = path.counters();
        }

        /** Has a receive work request for each of so many messages that may come. Returns 0 or an errno. */
        int prepare(long messages) {
            if (posted - arrived >= messages) {
                return 0;
            }
            posted += MessageProtocol.RECEIVES_AT_ONCE;
            // a message's receive work request says nothing of it, so any will do
            return queuePair.postEmptyReceives(MessageProtocol.RECEIVES_AT_ONCE);
        }

        /** A message, or a part of one, has come with that immediate. */
        void arrived(int immediate) {
            immediates[Requests.slot(arrived)] = immediate;
            arrived++;
            counters.message(immediate & ~RendezvousSender.PART);
        }

        long arrivals() {
            return arrived;
        }

        int immediate(long number) {
            return immediates[Requests.slot(number)];
        }
    }
}
