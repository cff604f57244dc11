package trigon.stream.hop;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import trigon.verbs.AccessFlag;
import trigon.verbs.MemoryRegion;
import trigon.verbs.VerbsException;

/**
 * The slots of a queue pair, and their registrations on its device. A queue pair of another hop may send on what was
 * received into them, from where it lies, and still does after this one is destroyed: so their memory is freed when the
 * last queue pair that uses it is destroyed. Changed by one thread at a time; released by any.
 */
final class HopSlots {

    private static final int PAGE = 4096;
    private static final Set<AccessFlag> NO_ACCESS = EnumSet.noneOf(AccessFlag.class);
    private static final Set<AccessFlag> RECEIVED_INTO = EnumSet.of(AccessFlag.LOCAL_WRITE);

    private final HopDevice device;
    private final HopUse use;
    private final SlotGeometry receives;
    private final Arena arena = Arena.ofShared();
    private final MemoryRegion received;
    private final List<MemoryRegion> sentFrom = new ArrayList<>();
    private final List<HopSlots> sources = new ArrayList<>();
    private long lockedBytes;
    private int users = 1; // queue pairs; guarded by this

    /**
     * Slots to receive into.
     *
     * @param wanted as long as they may be; they are shorter where much memory is locked
     * @param use whether they are registered once more, on the device that sends from them
     * @throws VerbsException if the device takes no more memory, or too much is locked; nothing is left open then
     */
    HopSlots(HopDevice device, SlotGeometry wanted, HopUse use) {
        this.device = device;
        this.use = use;
        try {
            receives = lock(wanted);
            long address = arena.allocate(receives.bytes(), PAGE).address();
            received = device.domain().registerMemory(address, receives.bytes(), RECEIVED_INTO);
        } catch (VerbsException | OutOfMemoryError e) {
            arena.close();
            device.memory().giveBack(lockedBytes);
            throw e;
        }
    }

    /**
     * Counts memory to fill the peer's slots from, unless that is forwarded.
     *
     * @return as many slots, and not longer than what there is memory to write them from
     * @throws VerbsException if too much is locked
     */
    SlotGeometry toFill(SlotGeometry theirs) {
        return use == HopUse.FORWARDED ? theirs : lock(theirs);
    }

    private SlotGeometry lock(SlotGeometry wanted) {
        int copies = use == HopUse.FORWARDED ? 2 : 1;
        SlotGeometry taken = device.memory().take(wanted, copies, device.toString());
        lockedBytes += copies * taken.bytes();
        return taken;
    }

    /**
     * Adds slots to write to and send from.
     *
     * @throws VerbsException if the device takes no more memory
     */
    MemoryRegion addSendSlots(long bytes) {
        return addSent(arena.allocate(bytes, PAGE).address(), bytes);
    }

    /**
     * Adds the slots that another queue pair receives into, to send from; it must not be destroyed yet.
     *
     * @throws VerbsException if the device takes no more memory
     */
    MemoryRegion addForwarded(HopSlots source) {
        MemoryRegion region = addSent(source.received.address(), source.received.length());
        source.use();
        sources.add(source);
        return region;
    }

    private MemoryRegion addSent(long address, long bytes) {
        MemoryRegion region = device.domain().registerMemory(address, bytes, NO_ACCESS);
        sentFrom.add(region);
        return region;
    }

    SlotGeometry receives() {
        return receives;
    }

    long address(int slot) {
        return received.address() + (long) slot * receives.slotBytes();
    }

    /** Local key of the slots that are received into. */
    int localKey() {
        return received.localKey();
    }

    /** Gives back what its queue pair, which is destroyed, has used; once. */
    void release() {
        sentFrom.forEach(MemoryRegion::close);
        received.close();
        device.memory().giveBack(lockedBytes);
        sources.forEach(HopSlots::endUse);
        endUse();
    }

    private synchronized void use() {
        users++;
    }

    private synchronized void endUse() {
        users--;
        if (users == 0) {
            arena.close();
        }
    }

    /** Returns whether no queue pair uses the memory any more. */
    synchronized boolean isFreed() {
        return users == 0;
    }
}
