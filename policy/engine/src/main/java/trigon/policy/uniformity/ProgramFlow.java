package trigon.policy.uniformity;

import java.util.BitSet;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import trigon.policy.flow.Liveness;
import trigon.policy.flow.PostDominators;
import trigon.policy.isa.Instruction;
import trigon.policy.isa.Instruction.Alu;
import trigon.policy.isa.Instruction.Atomic;
import trigon.policy.isa.Instruction.Branch;
import trigon.policy.isa.Instruction.ByteOrder;
import trigon.policy.isa.Instruction.CallFunction;
import trigon.policy.isa.Instruction.CallHelper;
import trigon.policy.isa.Instruction.Exit;
import trigon.policy.isa.Instruction.Load;
import trigon.policy.isa.Instruction.LoadConstant;
import trigon.policy.isa.Instruction.LoadMap;
import trigon.policy.isa.Instruction.LoadMapValue;
import trigon.policy.isa.Instruction.MoveSignExtended;
import trigon.policy.isa.Instruction.Store;
import trigon.policy.map.MapSpec.MapType;
import trigon.policy.program.Helper;
import trigon.policy.program.ProgramType.Field;
import trigon.policy.verdict.FunctionFacts.Touch;
import trigon.policy.verdict.VerifiedProgram;

/** Differences between ranks in one program: applies the instructions until nothing is added. */
final class ProgramFlow {

    private static final int ARGUMENTS = 0b111110;
    private static final int CLOBBERED = 0b111111;
    private static final int RESULT = 1;

    private final VerifiedProgram program;
    private final BitSet differingMaps;
    private final SortedMap<Integer, FunctionFlow> functions = new TreeMap<>();
    private final Set<String> sources = new LinkedHashSet<>();
    private @Nullable Finding finding;

    /** An output that differs. */
    record Finding(int function, int slot, String instruction, String what) {}

    /**
     * Nothing is known of the program yet.
     *
     * @param inStep all ranks run it at the same calls; if not, that it runs at all differs at any moment
     */
    ProgramFlow(VerifiedProgram program, boolean inStep, BitSet differingMaps) {
        this.program = program;
        this.differingMaps = differingMaps;
        program.functions().forEach((index, function) -> {
            FunctionFlow flow = new FunctionFlow(function);
            if (!inStep) {
                flow.allConditional();
            }
            functions.put(index, flow);
        });
    }

    @Nullable
    Finding firstFinding() {
        return finding;
    }

    /** Origins of the differences, for messages. */
    Set<String> sources() {
        return sources;
    }

    /** Applies each instruction once. False if that added nothing. */
    boolean round() {
        int size = size();
        for (Map.Entry<Integer, FunctionFlow> entry : functions.entrySet()) {
            FunctionFlow flow = entry.getValue();
            for (int slot = 0; slot < flow.before.length; slot++) {
                if (flow.function.facts().isVisited(slot)) {
                    flow.before[slot] |= flow.decided[slot];
                    int after = apply(entry.getKey(), flow, slot);
                    for (int next : flow.function.flow().successors(slot)) {
                        flow.before[next] |= after;
                    }
                }
            }
        }
        return size() != size;
    }

    private int size() {
        int size = differingMaps.cardinality();
        for (FunctionFlow flow : functions.values()) {
            size += flow.size();
        }
        return size;
    }

    /** The registers that differ after an instruction. */
    private int apply(int index, FunctionFlow flow, int slot) {
        Instruction instruction = flow.function.code()[slot];
        int before = flow.before[slot];
        boolean conditional = flow.conditional.get(slot);
        boolean differs = conditional || (before & Liveness.reads(instruction)) != 0;
        return switch (instruction) {
            case Alu _, MoveSignExtended _, ByteOrder _, LoadConstant _, LoadMap _, LoadMapValue _ ->
                set(before, Liveness.writes(instruction), differs);
            case Load _ -> set(before, Liveness.writes(instruction), memoryDiffers(flow, slot) || differs);
            case Store _ -> {
                if (differs) {
                    written(index, flow, slot);
                }
                yield before;
            }
            case Atomic _ -> {
                boolean fetched = memoryDiffers(flow, slot) || differs;
                if (differs) {
                    written(index, flow, slot);
                }
                yield set(before, Liveness.writes(instruction), fetched);
            }
            case Branch _ -> {
                if ((before & Liveness.reads(instruction)) != 0) {
                    flow.branchDiffers(slot);
                }
                yield before;
            }
            case CallHelper call -> set(before & ~CLOBBERED, RESULT, helper(flow, slot, call.helper()));
            case CallFunction call -> set(before & ~CLOBBERED, RESULT, call(flow, slot, call.function()));
            case Exit _ -> {
                flow.resultDiffers |= (before & RESULT) != 0;
                if ((before & RESULT) != 0 && index == program.entry() && finding == null) {
                    finding = new Finding(index, slot, "exit", "the result");
                }
                yield before;
            }
            default -> before;
        };
    }

    private static int set(int registers, int written, boolean differs) {
        return differs ? registers | written : registers & ~written;
    }

    private boolean memoryDiffers(FunctionFlow flow, int slot) {
        boolean differs = false;
        for (Touch touch : flow.function.facts().touches(slot)) {
            differs |= switch (touch.region()) {
                case CONTEXT -> fieldDiffers(touch, slot);
                case STACK -> stackDiffers(touch);
                case MAP_VALUE -> differingMaps.get(touch.index());
                case MAP -> false;
            };
        }
        return differs;
    }

    private boolean fieldDiffers(Touch touch, int slot) {
        boolean differs = false;
        for (Field field : program.type().fields()) {
            boolean touched = touch.from() < field.offset() + field.bytes() && touch.to() > field.offset();
            if (touched && !field.uniform()) {
                sources.add("%s (instruction %d)".formatted(field.name(), slot));
                differs = true;
            }
        }
        return differs;
    }

    private boolean stackDiffers(Touch touch) {
        FunctionFlow owner = functions.get(touch.index());
        int next = owner == null ? -1 : owner.stack.nextSetBit(stackIndex(touch.from()));
        return next >= 0 && next < stackIndex(touch.to());
    }

    private static int stackIndex(long offset) {
        return (int) offset + FunctionFlow.STACK_BYTES;
    }

    private void written(int index, FunctionFlow flow, int slot) {
        for (Touch touch : flow.function.facts().touches(slot)) {
            switch (touch.region()) {
                case CONTEXT -> outputDiffers(index, flow, slot, touch);
                case STACK -> {
                    FunctionFlow owner = functions.get(touch.index());
                    if (owner != null) {
                        owner.stack.set(stackIndex(touch.from()), stackIndex(touch.to()));
                    }
                }
                case MAP_VALUE -> differingMaps.set(touch.index());
                case MAP -> {}
            }
        }
    }

    private void outputDiffers(int index, FunctionFlow flow, int slot, Touch touch) {
        if (finding == null) {
            String field = program.type().fieldAt(touch.from()).map(Field::name).orElse("an output");
            finding = new Finding(index, slot, flow.function.code()[slot].text(slot), "the output " + field);
        }
    }

    /** Tells whether the result of a helper differs. */
    private boolean helper(FunctionFlow flow, int slot, int number) {
        Helper helper = Helper.ofNumber(number).orElseThrow();
        int arguments = ((1 << helper.arguments().size()) - 1) << 1;
        boolean differs =
                flow.conditional.get(slot) || (flow.before[slot] & arguments) != 0 || memoryDiffers(flow, slot);
        boolean mapDiffers = false;
        for (int map : flow.function.facts().maps(slot)) {
            mapDiffers |= differingMaps.get(map);
            MapType type = program.object().maps().get(map).type();
            // looking up is a use, which decides what is dropped next
            boolean changes = helper != Helper.MAP_LOOKUP || type == MapType.LRU_HASH;
            if (differs && changes) {
                differingMaps.set(map);
            }
        }
        if (!helper.uniform()) {
            sources.add("%s (instruction %d)".formatted(helper.cName(), slot));
        }
        return differs || mapDiffers || !helper.uniform();
    }

    /** Tells whether the result of a function differs. */
    private boolean call(FunctionFlow flow, int slot, int called) {
        FunctionFlow callee = functions.get(called);
        if (callee == null) {
            return true;
        }
        callee.before[0] |= flow.before[slot] & ARGUMENTS;
        if (flow.conditional.get(slot)) {
            callee.allConditional();
        }
        return callee.resultDiffers || flow.conditional.get(slot);
    }

    /** Differences between ranks in one function, so far; only grows. Sets of registers are bits, r0 the lowest. */
    private static final class FunctionFlow {

        static final int STACK_BYTES = 512;

        final VerifiedProgram.Function function;
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

        FunctionFlow(VerifiedProgram.Function function) {
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
}
