package trigon.policy.uniformity;

import java.util.BitSet;
import org.jspecify.annotations.Nullable;
import trigon.policy.flow.Liveness;
import trigon.policy.flow.PostDominators;
import trigon.policy.verdict.VerifiedFunction;

/** Differences between ranks in one function, so far; only ever grows. Sets of registers are bits, r0 the lowest. */
final class FunctionFlow {

    static final int STACK_BYTES = 512;

    final VerifiedFunction function;
    /** Registers that differ before each instruction. */
    final int[] before;
    /** Registers that differ from there on, since a branch decided which of them were written. */
    final int[] decided;
    /** Instructions that may run on some ranks only. */
    final BitSet conditional = new BitSet();
    /** Bytes of the stack, from its start. */
    final BitSet stack = new BitSet(STACK_BYTES);

    private final BitSet differingBranches = new BitSet();
    /** Takes much memory, and most functions never need it. */
    private @Nullable PostDominators postDominators;

    boolean resultDiffers;

    FunctionFlow(VerifiedFunction function) {
        this.function = function;
        before = new int[function.code().length];
        decided = new int[function.code().length];
    }

    /** A branch may go one way on some ranks, and the other way on others. */
    void branchDiffers(int slot) {
        if (differingBranches.get(slot)) {
            return;
        }
        differingBranches.set(slot);
        if (postDominators == null) {
            postDominators = new PostDominators(function.flow());
        }
        BitSet region = postDominators.decidedBy(slot);
        conditional.or(region);
        int written = 0;
        for (int at = region.nextSetBit(0); at >= 0; at = region.nextSetBit(at + 1)) {
            written |= Liveness.writes(function.code()[at]);
        }
        BitSet meeting = postDominators.meetingOf(slot);
        for (int at = meeting.nextSetBit(0); at >= 0; at = meeting.nextSetBit(at + 1)) {
            decided[at] |= written;
        }
    }

    /** Everything in the function may run on some ranks only. */
    void allConditional() {
        conditional.set(0, before.length);
    }

    /** Size of what is known. It only grows, so a pass without growth is the last one. */
    int size() {
        int registers = 0;
        for (int i = 0; i < before.length; i++) {
            registers += Integer.bitCount(before[i]) + Integer.bitCount(decided[i]);
        }
        return registers
                + conditional.cardinality()
                + stack.cardinality()
                + differingBranches.cardinality()
                + (resultDiffers ? 1 : 0);
    }
}
