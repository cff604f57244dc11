package trigon.stream.hop;

import org.jspecify.annotations.Nullable;

/**
 * The credits of a hop: the credits of both directions, as one side knows them. Pure: no clock, no I/O.
 *
 * <p>A credit is a posted receive with an empty slot. A chunk takes one; when its slot is empty and posted again, the
 * credit is owed. Owed credits travel with chunks, or alone once a quarter of the window is owed. Messages that carry
 * credits alone take no credit. Credits are conserved: window = held + in chunks + owed + in messages under way. Each
 * of the latter has a quarter, so at most {@value #CREDIT_MESSAGES} are under way, and so many receives more suffice.
 *
 * <p>Each message has an immediate: credits in bits 31 to 24, END in 23, CREDITS in 22, zeros, and in 15 to 0 its
 * number among all messages of the direction.
 */
final class ChunkWindow {

    /** Messages under way, at most, that carry nothing but credits. */
    static final int CREDIT_MESSAGES = 4;

    static final int END = 1 << 23;
    static final int CREDITS = 1 << 22;

    private static final int CREDITS_SHIFT = 24;
    private static final int ZEROS = 0x3F << 16;
    private static final int NUMBER_MASK = 0xFFFF;

    private final int peerSlots;
    private final int ownSlots;
    private final int owedLimit;
    private int held;
    private int owed;
    private int occupied;
    private int sent;
    private int received;
    private boolean ended;
    private boolean peerEnded;

    /**
     * A fresh hop.
     *
     * @param peerSlots receive slots at the other side
     * @param ownSlots receive slots here
     */
    ChunkWindow(int peerSlots, int ownSlots) {
        this.peerSlots = peerSlots;
        this.ownSlots = ownSlots;
        owedLimit = Math.ceilDiv(ownSlots, CREDIT_MESSAGES);
        held = peerSlots;
    }

    /** Returns whether there is a credit for one more chunk. */
    boolean maySend() {
        return held > 0 && !ended;
    }

    /**
     * A chunk is sent.
     *
     * @param last whether nothing is sent behind it but credits
     * @return its immediate
     */
    int sendChunk(boolean last) {
        if (!maySend()) {
            throw new IllegalStateException("no credit");
        }
        held--;
        ended = last;
        return immediate(last ? END : 0);
    }

    /** Returns whether so many credits are owed that they are to be sent alone. */
    boolean isCreditDue() {
        return owed >= owedLimit;
    }

    /** The owed credits are sent alone; the immediate. */
    int sendCredits() {
        return immediate(CREDITS);
    }

    private int immediate(int flags) {
        int immediate = (owed << CREDITS_SHIFT) | flags | (sent & NUMBER_MASK);
        owed = 0;
        sent++;
        return immediate;
    }

    /**
     * A message has come.
     *
     * @param length of its chunk, in bytes
     * @return what is wrong with it; null if nothing is
     */
    @Nullable
    String receive(int immediate, int length) {
        int credits = immediate >>> CREDITS_SHIFT;
        if ((immediate & ZEROS) != 0 || (immediate & NUMBER_MASK) != (received & NUMBER_MASK)) {
            return "a chunk is out of order";
        }
        if (credits > peerSlots - held) {
            return "more credits than slots";
        }
        if (isCredits(immediate)) {
            if (length != 0 || isEnd(immediate)) {
                return "credits with something else";
            }
        } else if (isEnd(immediate) && length != 0) {
            return "bytes with the end";
        } else if (peerEnded) {
            return "a chunk after the end";
        } else if (occupied == ownSlots) {
            return "a chunk without a credit";
        } else {
            occupied++;
            peerEnded = isEnd(immediate);
        }
        received++;
        held += credits;
        return null;
    }

    /** Returns whether nothing but credits comes any more. */
    boolean hasPeerEnded() {
        return peerEnded;
    }

    /** The other side is gone, and its end is known by that. */
    void endPeer() {
        peerEnded = true;
    }

    /** The slot of a chunk is empty again, and its receive posted. */
    void release() {
        occupied--;
        owed++;
    }

    static boolean isEnd(int immediate) {
        return (immediate & END) != 0;
    }

    static boolean isCredits(int immediate) {
        return (immediate & CREDITS) != 0;
    }

    /** The number of messages sent, modulo 128: no more than that are ever under way. */
    int sentCount() {
        return sent & Bell.COUNT_MASK;
    }

    /** The same of those received. */
    int receivedCount() {
        return received & Bell.COUNT_MASK;
    }
}
