package trigon.transport;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import trigon.nccl.NetPlugin;
import trigon.system.Memory;
import trigon.transport.testsupport.Connected;
import trigon.transport.testsupport.TestNode;

/**
 * Messages over one connection, each end driven by its node's own thread: receives and sends posted late, requests
 * asked for late and in any order. When it is enough, both ends go on until every send has its receive, and the other
 * way round.
 *
 * <p>The checksum of each message goes beside it, through this object. Buffers lie in slots that are full of a pattern,
 * which must be untouched around the message and, once a request is done, everywhere.
 */
final class TrafficStream {

    private static final byte UNTOUCHED = 0x5A;
    private static final byte SENT = (byte) 0xE7;
    private static final long UNKNOWN = Long.MAX_VALUE;

    /** A message that has its slot. */
    private record Prepared(PlannedMessage message, int slot, long buffer) {}

    /** A message under way at one end; {@code memory} is its own registration, or 0. */
    private record Outstanding(PlannedMessage message, int slot, long memory, long request) {}

    private final long seed;
    private final int number;
    private final int longest;
    private final int depth;
    private final Map<Long, Integer> checksums = new ConcurrentHashMap<>();
    private volatile long sendsAtLeast = UNKNOWN;
    private volatile long receivesAtLeast = UNKNOWN;

    final End sending;
    final End receiving;

    /**
     * A stream over a connection that is up.
     *
     * @param number tells it from others of the same seed
     * @param longest longest message in bytes
     * @param depth messages outstanding at each end at most
     */
    TrafficStream(Connected connection, long seed, int number, int longest, int depth) {
        this.seed = seed;
        this.number = number;
        this.longest = longest;
        this.depth = depth;
        sending = new Sending(connection.sender, connection.sendComm);
        receiving = new Receiving(connection.receiver, connection.receiveComm);
    }

    /** How many messages there are, once both ends have had enough: either may be ahead of the other. */
    private long last() {
        return Math.max(sendsAtLeast, receivesAtLeast);
    }

    /** One end. Used by one thread. */
    abstract class End {

        final TestNode node;
        final long comm;
        final long slots;
        final long slotBytes = PlannedMessage.slotBytes(longest);
        final long wholeMemory;
        final SplittableRandom random;
        private final List<Integer> free = new ArrayList<>();
        private final List<Outstanding> outstanding = new ArrayList<>();
        private @Nullable Prepared next;
        private long idleUntil;
        private boolean paused;
        long posted;
        long bytes;

        End(TestNode node, long comm, int side) {
            this.node = node;
            this.comm = comm;
            random = new SplittableRandom(seed + 31L * number + side);
            slots = node.allocate(slotBytes * depth);
            Memory.fill(slots, slotBytes * depth, UNTOUCHED);
            wholeMemory = node.register(comm, slots, slotBytes * depth);
            for (int slot = 0; slot < depth; slot++) {
                free.add(slot);
            }
        }

        /** Does one thing, or nothing. Returns whether anything was finished. */
        final boolean step(boolean enough) {
            if (enough && !paused) {
                paused = true;
                pause();
            }
            long now = System.nanoTime();
            if (now - idleUntil < 0) {
                return false;
            }
            if (random.nextInt(64) == 0) {
                idleUntil = now + random.nextLong(random.nextInt(16) == 0 ? 20_000_000 : 500_000);
            }
            if (next == null && !free.isEmpty() && wantsMore()) {
                PlannedMessage message = PlannedMessage.of(seed, number, posted, longest);
                int slot = free.removeLast();
                next = new Prepared(message, slot, prepare(message, slotAddress(slot)));
            }
            if (next != null && random.nextBoolean() && wantsMore()) {
                post(next);
            }
            return !outstanding.isEmpty() && random.nextInt(3) > 0 && ask();
        }

        /** Says how much this end has posted, now that it is enough. */
        abstract void pause();

        /** Whether another message is to be posted. */
        private boolean wantsMore() {
            return !paused || (last() != UNKNOWN && posted < last());
        }

        /** Makes a slot ready for a message; the buffer in it. */
        abstract long prepare(PlannedMessage message, long slotAddress);

        /** Posts a message; what the plugin answers. */
        abstract long post(PlannedMessage message, long buffer, long memory);

        /** A message is done. */
        abstract void check(PlannedMessage message, long slotAddress);

        private void post(Prepared prepared) {
            PlannedMessage message = prepared.message();
            int length = message.size() + message.slack();
            // as NCCL does with user buffers: now and then memory is registered for one message
            boolean own = length > 0 && random.nextInt(8) == 0;
            long memory = own ? node.register(comm, prepared.buffer(), length) : wholeMemory;
            long request = post(message, prepared.buffer(), memory);
            if (request < 0) {
                throw new AssertionError("%s was refused with %d".formatted(message, request));
            }
            if (request == NetPlugin.TRY_AGAIN) {
                if (own) {
                    node.plugin.deregisterMemory(comm, memory);
                }
                return;
            }
            next = null;
            outstanding.add(new Outstanding(message, prepared.slot(), own ? memory : 0, request));
            posted++;
        }

        private boolean ask() {
            int index = random.nextInt(outstanding.size());
            Outstanding asked = outstanding.get(index);
            PlannedMessage message = asked.message();
            long result = node.plugin.test(asked.request());
            if (result == NetPlugin.NOT_DONE) {
                return false;
            }
            if (result != message.size()) {
                throw new AssertionError("%s: test returned %d".formatted(message, result));
            }
            outstanding.remove(index);
            node.plugin.deregisterMemory(comm, asked.memory());
            bytes += message.size();
            check(message, slotAddress(asked.slot()));
            free.add(random.nextInt(free.size() + 1), asked.slot());
            return true;
        }

        private long slotAddress(int slot) {
            return slots + slot * slotBytes;
        }

        final void requireUntouched(PlannedMessage message, String when, long from, long to) {
            if (from == to) {
                return;
            }
            // all bytes are alike if each is like the next
            long alike = Memory.segment(from, to - from - 1).mismatch(Memory.segment(from + 1, to - from - 1));
            if (alike != -1 || Memory.getByte(from) != UNTOUCHED) {
                throw new AssertionError("%s: %s, bytes near 0x%x were written, which are not its own"
                        .formatted(message, when, from + Math.max(alike, 0)));
            }
        }

        /** All that was posted is done, and nothing more is to be posted. */
        final boolean isDone() {
            return posted == last() && outstanding.isEmpty();
        }

        @Override
        public String toString() {
            return "stream %d %s: %d posted of %s, outstanding %s"
                    .formatted(
                            number,
                            this instanceof Sending ? "sends" : "receives",
                            posted,
                            last() == UNKNOWN ? "any number" : last(),
                            outstanding);
        }
    }

    private final class Sending extends End {

        Sending(TestNode node, long comm) {
            super(node, comm, 1);
        }

        @Override
        void pause() {
            sendsAtLeast = posted;
        }

        @Override
        long prepare(PlannedMessage message, long slotAddress) {
            long buffer = slotAddress + message.sendOffset();
            message.write(buffer);
            checksums.put(message.index(), message.checksum(buffer));
            return buffer;
        }

        @Override
        long post(PlannedMessage message, long buffer, long memory) {
            return node.plugin.isend(comm, buffer, message.size(), message.tag(), memory);
        }

        @Override
        void check(PlannedMessage message, long slotAddress) {
            // what is read from here later is found by the receiver
            Memory.fill(slotAddress, slotBytes, SENT);
        }
    }

    private final class Receiving extends End {

        Receiving(TestNode node, long comm) {
            super(node, comm, 2);
        }

        @Override
        void pause() {
            receivesAtLeast = posted;
        }

        @Override
        long prepare(PlannedMessage message, long slotAddress) {
            requireUntouched(message, "before it", slotAddress, slotAddress + slotBytes);
            return slotAddress + message.receiveOffset();
        }

        @Override
        long post(PlannedMessage message, long buffer, long memory) {
            return node.plugin.irecv(comm, buffer, message.size() + message.slack(), message.tag(), memory);
        }

        @Override
        void check(PlannedMessage message, long slotAddress) {
            long buffer = slotAddress + message.receiveOffset();
            int expected = Objects.requireNonNull(checksums.remove(message.index()));
            if (message.checksum(buffer) != expected) {
                throw new AssertionError("%s: %s".formatted(message, message.damage(buffer)));
            }
            requireUntouched(message, "at its end", slotAddress, buffer);
            requireUntouched(message, "at its end", buffer + message.size(), slotAddress + slotBytes);
            Memory.fill(slotAddress, slotBytes, UNTOUCHED);
        }
    }
}
