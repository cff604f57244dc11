package trigon.policy.flow;

import java.util.BitSet;

/**
 * Points at which the ways from a branch meet again: the first instruction that all ways to an exit come through. The
 * slot after the last stands for the return from the function.
 */
public final class PostDominators {

    private final ControlFlow flow;
    private final BitSet[] sets;
    private final int end;

    /** Works backward until nothing changes; takes memory of the square of the size. */
    public PostDominators(ControlFlow flow) {
        this.flow = flow;
        end = flow.size();
        sets = new BitSet[end + 1];
        for (int slot = 0; slot < end; slot++) {
            sets[slot] = new BitSet();
            sets[slot].set(0, end + 1);
        }
        sets[end] = new BitSet();
        sets[end].set(end);
        boolean changed = true;
        while (changed) {
            changed = false;
            for (int slot = end - 1; slot >= 0; slot--) {
                if (flow.isReachable(slot)) {
                    changed |= update(slot);
                }
            }
        }
    }

    private boolean update(int slot) {
        int[] successors = flow.successors(slot);
        BitSet common = (BitSet) sets[successors.length == 0 ? end : successors[0]].clone();
        for (int i = 1; i < successors.length; i++) {
            common.and(sets[successors[i]]);
        }
        common.set(slot);
        if (common.equals(sets[slot])) {
            return false;
        }
        sets[slot] = common;
        return true;
    }

    /**
     * The slots that a branch decides about: those on some way from it to where its ways meet again, which is not among
     * them. The branch itself is, if a loop leads back to it.
     */
    public BitSet decidedBy(int branch) {
        BitSet region = new BitSet();
        BitSet meeting = (BitSet) sets[branch].clone();
        meeting.clear(branch);
        int[] pending = new int[end + 1];
        int count = 0;
        for (int next : flow.successors(branch)) {
            if (!meeting.get(next) && !region.get(next)) {
                region.set(next);
                pending[count++] = next;
            }
        }
        while (count > 0) {
            for (int next : flow.successors(pending[--count])) {
                if (!meeting.get(next) && !region.get(next)) {
                    region.set(next);
                    pending[count++] = next;
                }
            }
        }
        return region;
    }

    /** The slots where the ways from a branch meet first: those that follow its region and are not in it. */
    public BitSet meetingOf(int branch) {
        BitSet region = decidedBy(branch);
        BitSet meeting = new BitSet();
        region.set(branch);
        for (int slot = region.nextSetBit(0); slot >= 0; slot = region.nextSetBit(slot + 1)) {
            for (int next : flow.successors(slot)) {
                if (!region.get(next)) {
                    meeting.set(next);
                }
            }
        }
        return meeting;
    }
}
