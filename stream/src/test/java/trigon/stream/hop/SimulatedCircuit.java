package trigon.stream.hop;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A relayed connection over simulated queue pairs: chunks of a stream go from the first node of a route to its last,
 * and acknowledgements back. Each hop has the real {@link ChunkWindow}s, and a relay a slot until its chunk has been
 * sent on. One action at a time; who calls chooses which.
 */
final class SimulatedCircuit {

    /** What is done wrong on purpose. */
    enum Flaw {
        NONE,
        NO_RECEIVES_FOR_CREDITS,
        CREDITS_ONLY_RIDE_ON_CHUNKS
    }

    private static final int CREDITS = -1;
    private static final int END = -2;

    private record Message(int immediate, int value, boolean fromSlot) {}

    /** A node's end of a hop. */
    private static final class End {
        final int node;
        final int slots;
        final ChunkWindow window;
        final Deque<Message> wire = new ArrayDeque<>();
        final Deque<Message> landed = new ArrayDeque<>();

        /** In slots, read by nobody so far. */
        final Deque<Integer> held = new ArrayDeque<>();

        /** Of sends: whether a slot of the node's other end is free by it. */
        final Deque<Boolean> completions = new ArrayDeque<>();

        int posted;
        int used;

        End(int node, int slots, int peerSlots, Flaw flaw) {
            this.node = node;
            this.slots = slots;
            window = new ChunkWindow(peerSlots, slots);
            posted = slots + (flaw == Flaw.NO_RECEIVES_FOR_CREDITS ? 0 : ChunkWindow.CREDIT_MESSAGES);
        }
    }

    private final Flaw flaw;
    private final int chunks;

    /** By hop: the ends nearer to the first node, and the others. */
    private final List<End> near = new ArrayList<>();

    private final List<End> far = new ArrayList<>();

    private int written;
    private boolean endWritten;
    private int read;
    private boolean endRead;
    private int owed;
    private int acknowledged;
    private boolean broken;

    /** Along a route of nodes, with so many chunks. */
    SimulatedCircuit(List<Integer> route, int chunks, Flaw flaw, SplittableRandom random) {
        this.flaw = flaw;
        this.chunks = chunks;
        for (int hop = 0; hop + 1 < route.size(); hop++) {
            int nearSlots = 1 + random.nextInt(2);
            int farSlots = 1 + random.nextInt(3);
            near.add(new End(route.get(hop), nearSlots, farSlots, flaw));
            far.add(new End(route.get(hop + 1), farSlots, nearSlots, flaw));
        }
    }

    int hops() {
        return near.size();
    }

    /** Nothing more happens to it: a hop has failed. */
    void fail() {
        broken = true;
    }

    /** Whether all has come across, or need not any more. */
    boolean isDone() {
        return broken || (endRead && acknowledged == chunks);
    }

    /** A NIC's: what is under route lands. */
    boolean land(int hop, boolean forward) {
        End from = forward ? near.get(hop) : far.get(hop);
        End to = forward ? far.get(hop) : near.get(hop);
        if (broken || from.wire.isEmpty()) {
            return false;
        }
        check(to.posted > 0, "a message comes without a receive");
        to.posted--;
        Message message = from.wire.remove();
        to.landed.add(message);
        from.completions.add(message.fromSlot);
        return true;
    }

    /** A node's: polls an end, and passes on, reads or writes what it can. */
    boolean work(int hop, boolean nearEnd, boolean[] stopped) {
        End end = nearEnd ? near.get(hop) : far.get(hop);
        if (broken || stopped[end.node]) {
            return false;
        }
        boolean polled = poll(end, hop, nearEnd);
        return (nearEnd ? back(hop) : forward(hop)) || polled;
    }

    private boolean poll(End end, int hop, boolean nearEnd) {
        boolean any = false;
        while (!end.completions.isEmpty()) {
            any = true;
            if (end.completions.remove()) {
                release(nearEnd ? far.get(hop - 1) : near.get(hop + 1));
            }
        }
        while (!end.landed.isEmpty()) {
            any = true;
            Message message = end.landed.remove();
            boolean credits = ChunkWindow.isCredits(message.immediate);
            String wrong = end.window.receive(message.immediate, message.value < 0 ? 0 : 1);
            check(wrong == null, "the window says: " + wrong);
            if (credits) {
                end.posted++;
            } else {
                end.held.add(message.value);
                end.used++;
                check(end.used <= end.slots, "more chunks than slots");
            }
        }
        return any;
    }

    private void release(End end) {
        end.used--;
        end.posted++;
        end.window.release();
        if (end.window.isCreditDue() && flaw != Flaw.CREDITS_ONLY_RIDE_ON_CHUNKS) {
            end.wire.add(new Message(end.window.sendCredits(), CREDITS, false));
        }
    }

    /** Towards the last node: at the far end of a hop. */
    private boolean forward(int hop) {
        End end = far.get(hop);
        if (hop + 1 < hops()) {
            return passOn(end, near.get(hop + 1));
        }
        boolean any = false;
        while (!end.held.isEmpty()) {
            any = true;
            int value = end.held.remove();
            if (value == END) {
                check(read == chunks, "the end comes before all chunks");
                endRead = true;
            } else {
                check(value == read, "chunk " + value + " comes instead of " + read);
                read++;
                owed++;
                release(end);
            }
        }
        while (owed > 0 && end.window.maySend()) {
            any = true;
            end.wire.add(new Message(end.window.sendChunk(false), owed, false));
            owed = 0;
        }
        return any;
    }

    /** Towards the first node: at the near end of a hop. */
    private boolean back(int hop) {
        End end = near.get(hop);
        if (hop > 0) {
            return passOn(end, far.get(hop - 1));
        }
        boolean any = false;
        while (!end.held.isEmpty()) {
            any = true;
            acknowledged += end.held.remove();
            check(acknowledged <= written, "more is acknowledged than was sent");
            release(end);
        }
        if (end.window.maySend() && !endWritten) {
            any = true;
            endWritten = written == chunks;
            int value = endWritten ? END : written++;
            end.wire.add(new Message(end.window.sendChunk(endWritten), value, false));
        }
        return any;
    }

    private boolean passOn(End from, End to) {
        if (from.held.isEmpty() || !to.window.maySend()) {
            return false;
        }
        int value = from.held.remove();
        to.wire.add(new Message(to.window.sendChunk(value == END), value, value != END));
        return true;
    }

    private static void check(boolean right, String what) {
        if (!right) {
            throw new AssertionError(what);
        }
    }
}
