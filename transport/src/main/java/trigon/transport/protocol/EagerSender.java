package trigon.transport.protocol;

import java.util.EnumSet;
import java.util.List;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import trigon.system.Errno;
import trigon.transport.path.PathChannel;
import trigon.transport.path.RegisteredMemory;
import trigon.transport.request.Requests;
import trigon.verbs.AccessFlag;
import trigon.verbs.MemoryRegion;
import trigon.verbs.ProtectionDomain;
import trigon.verbs.SendFlag;

/**
 * The sending end with {@link MessageProtocol#EAGER}, of a session that may go on over another path: a message is a
 * SEND whose immediate is NCCL's tag. A short one is copied, and done when the socket has it; a longer one is done when
 * the peer has it. So what the peer has not confirmed can be sent again.
 */
final class EagerSender extends EagerSendingEnd {

    /** Done when the peer has it. */
    private static final int LONG = SendFlag.SIGNALED | SendFlag.DELIVERY_COMPLETE;

    /** Done when the socket has it. */
    private static final int SHORT = SendFlag.SIGNALED | SendFlag.INJECT_COMPLETE;

    /** The same, and the peer is to say that it has it, and all before it. */
    private static final int SHORT_ASKING = SHORT | SendFlag.DELIVERY_COMPLETE;

    private final UnconfirmedMessages unconfirmed = new UnconfirmedMessages();
    private ProtectionDomain protectionDomain;

    /** By the rings' numbers; null: there is no such ring. */
    private final @Nullable MemoryRegion[] rings = new @Nullable MemoryRegion[UnconfirmedMessages.mostRings()];

    // once held: a message has asked the peer what it has, as one may
    private boolean asked;

    EagerSender(PathChannel path, Requests requests) {
        super(path, requests);
        protectionDomain = path.link().protectionDomain();
        register(0);
    }

    private void register(int ring) {
        rings[ring] = protectionDomain.registerMemory(
                unconfirmed.ringAddress(ring), unconfirmed.ringBytes(ring), EnumSet.noneOf(AccessFlag.class));
    }

    @Override
    public long isend(long address, int size, int tag, @Nullable RegisteredMemory memory) {
        long sequence = unconfirmed.next();
        if (repeated < sequence || !requests.isFree(Requests.slot(sequence))) {
            return NO_ROOM;
        }
        if (held && (asked || unconfirmed.oldest() == sequence)) {
            return NO_ROOM;
        }
        if (!unconfirmed.hasRoom(size) && !makesRoom(size)) {
            return NO_ROOM;
        }
        unconfirmed.add(address, size, tag, memory);
        int errno = post(sequence, unconfirmed.askIfDue() || held);
        if (errno != 0) {
            unconfirmed.takeBack();
            return errno == Errno.ENOMEM ? NO_ROOM : refused(errno);
        }
        repeated = sequence + 1;
        asked = held;
        counters.message(size);
        return requests.begin(sequence, size);
    }

    private boolean makesRoom(int size) {
        confirmed();
        if (unconfirmed.grow(size)) {
            register(unconfirmed.ring());
        }
        return unconfirmed.hasRoom(size);
    }

    private int post(long sequence, boolean ask) {
        RegisteredMemory memory = unconfirmed.memory(sequence);
        return queuePair.postSendWithImmediate(
                sequence,
                unconfirmed.address(sequence),
                unconfirmed.size(sequence),
                memory == null ? ringKey(sequence) : memory.localKey(),
                unconfirmed.tag(sequence),
                memory != null ? LONG : ask ? SHORT_ASKING : SHORT);
    }

    private int ringKey(long sequence) {
        MemoryRegion ring = rings[unconfirmed.ring(sequence)];
        return ring == null ? 0 : ring.localKey();
    }

    // ---- another path

    /** Copies are not in NCCL's memory any more, so nothing but a SEND can send them again. */
    @Override
    public Protocol as(
            MessageProtocol next, List<PathChannel> paths, LongFunction<@Nullable RegisteredMemory> memories) {
        if (next != MessageProtocol.EAGER) {
            throw new IllegalArgumentException("its messages do not go by " + next);
        }
        return this;
    }

    @Override
    public long begun() {
        return unconfirmed.next();
    }

    @Override
    public long confirmed() {
        unconfirmed.confirm(confirmedBefore + queuePair.delivered());
        return unconfirmed.oldest();
    }

    @Override
    public void holdBack(boolean on) {
        super.holdBack(on);
        asked = false;
    }

    @Override
    public long unconfirmedBytes() {
        return unconfirmed.bytes();
    }

    @Override
    public void moveTo(List<PathChannel> paths, long received) {
        ProtectionDomain next = paths.getFirst().link().protectionDomain();
        if (!next.equals(protectionDomain)) {
            protectionDomain = next;
            registerAnew();
        }
        take(paths, received, unconfirmed.oldest());
        unconfirmed.confirm(received);
    }

    private void registerAnew() {
        for (int ring = 0; ring < rings.length; ring++) {
            MemoryRegion former = rings[ring];
            if (former != null) {
                former.close();
                register(ring);
            }
        }
    }

    @Override
    public int repeat() {
        while (repeated < unconfirmed.next()) {
            int errno = post(repeated, true);
            if (errno == Errno.ENOMEM) {
                break;
            }
            if (errno != 0) {
                return (int) refused(errno);
            }
            repeated++;
        }
        return (int) (unconfirmed.next() - repeated);
    }

    /** After the path's queue pair. */
    @Override
    public void close() {
        unconfirmed.clear();
        for (MemoryRegion ring : rings) {
            if (ring != null) {
                ring.close();
            }
        }
    }
}
