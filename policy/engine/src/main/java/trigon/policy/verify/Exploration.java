package trigon.policy.verify;

import static trigon.policy.verify.Violation.require;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.SortedMap;
import trigon.policy.isa.Instruction;
import trigon.policy.isa.Instruction.Alu;
import trigon.policy.isa.Instruction.Atomic;
import trigon.policy.isa.Instruction.Branch;
import trigon.policy.isa.Instruction.ByteOrder;
import trigon.policy.isa.Instruction.CallFunction;
import trigon.policy.isa.Instruction.CallHelper;
import trigon.policy.isa.Instruction.Exit;
import trigon.policy.isa.Instruction.Jump;
import trigon.policy.isa.Instruction.Load;
import trigon.policy.isa.Instruction.LoadConstant;
import trigon.policy.isa.Instruction.LoadMap;
import trigon.policy.isa.Instruction.LoadMapValue;
import trigon.policy.isa.Instruction.MoveSignExtended;
import trigon.policy.isa.Instruction.SecondHalf;
import trigon.policy.isa.Instruction.Store;
import trigon.policy.range.Range;
import trigon.policy.verdict.FunctionFacts.Region;
import trigon.policy.verdict.Rejection.Rule;
import trigon.policy.verdict.VerifiedProgram;
import trigon.policy.verify.State.Frame;

/**
 * Goes along all paths, depth first. A path ends early where a state was looked at before that it is a case of, and
 * whose paths all came to an end.
 */
final class Exploration {

    private final VerifierLimits limits;
    private final SortedMap<Integer, VerifiedProgram.Function> functions;
    private final ProgramFacts facts;
    private final Registers registers;
    private final MemoryRules memory;
    private final CallRules calls;

    private final Deque<Path> pending = new ArrayDeque<>();
    private final KnownStates known;
    private int explored;
    private State state;
    private Checkpoint checkpoint = new Checkpoint(null, 0, null);
    private int sinceCheckpoint;

    /** A path to be gone along later. */
    private record Path(State state, Checkpoint checkpoint, int sinceCheckpoint) {}

    Exploration(VerifierLimits limits, SortedMap<Integer, VerifiedProgram.Function> functions, ProgramFacts facts) {
        this.limits = limits;
        this.functions = functions;
        this.facts = facts;
        known = new KnownStates(limits);
        registers = new Registers(facts);
        memory = new MemoryRules(facts);
        calls = new CallRules(facts, memory);
        state = new State(new ArrayList<>());
    }

    /** Looks at everything. Returns how many instructions one run takes at most. */
    int run(int entry) throws Violation {
        Frame main = Frame.of(entry, 0);
        main.registers[1] = Value.Pointer.to(Region.CONTEXT, 0, 0);
        state.frames.add(main);
        Checkpoint start = checkpoint;
        while (true) {
            boolean goesOn = !alreadyKnown() && step();
            require(
                    start.longest() <= facts.type.maxInstructions(),
                    Rule.TOO_LONG,
                    "a run may take %d instructions; %s is given %d"
                            .formatted(start.longest(), facts.type.section(), facts.type.maxInstructions()));
            if (!goesOn) {
                if (pending.isEmpty()) {
                    return start.longest();
                }
                Path next = pending.pop();
                state = next.state;
                checkpoint = next.checkpoint;
                sinceCheckpoint = next.sinceCheckpoint;
            }
        }
    }

    /** The frame that the path is in, for a rejection. */
    Frame at() {
        return state.top();
    }

    List<String> registers() {
        return state.describe();
    }

    int explored() {
        return explored;
    }

    private VerifiedProgram.Function function(int index) {
        VerifiedProgram.Function function = functions.get(index);
        if (function == null) {
            throw new IllegalStateException("function " + index + " was not decoded");
        }
        return function;
    }

    /** Tells whether the path ends here, since all that follows was looked at. */
    private boolean alreadyKnown() throws Violation {
        Frame top = state.top();
        if (!function(top.function).flow().isTarget(top.slot)) {
            return false;
        }
        for (int i = 0; i < state.frames.size(); i++) {
            Frame frame = state.frames.get(i);
            state.forget(i, function(frame.function).liveness().liveBefore(frame.slot));
        }
        state.dropLoneIds();
        for (Checkpoint earlier : known.covering(state)) {
            if (!earlier.isOpen()) {
                checkpoint.ended(Checkpoint.sum(sinceCheckpoint, earlier.longest()));
                return true;
            }
            State before = earlier.state();
            require(
                    before == null || !Subsumption.covers(state, before),
                    Rule.INFINITE_LOOP,
                    "the loop comes back here with nothing changed; give it a counter and a fixed end");
        }
        State kept = state.copy();
        checkpoint = new Checkpoint(checkpoint, sinceCheckpoint, kept);
        known.add(checkpoint, kept);
        sinceCheckpoint = 0;
        return false;
    }

    /** Takes one instruction. False if the path ended. */
    private boolean step() throws Violation {
        explored++;
        sinceCheckpoint = Checkpoint.sum(sinceCheckpoint, 1);
        require(
                explored <= limits.explored(),
                Rule.TOO_COMPLEX,
                "more than %d instructions had to be looked at; make loops shorter, and branches fewer"
                        .formatted(limits.explored()));
        Frame top = state.top();
        VerifiedProgram.Function function = function(top.function);
        function.facts().visit(top.slot);
        Instruction instruction = function.code()[top.slot];
        int next = top.slot + 1;
        switch (instruction) {
            case Alu alu -> registers.alu(state, alu);
            case MoveSignExtended move -> registers.signExtend(state, move);
            case ByteOrder order -> registers.byteOrder(state, order);
            case Load load -> memory.load(state, load);
            case Store store -> memory.store(state, store);
            case Atomic atomic -> memory.atomic(state, atomic);
            case LoadConstant load -> {
                Registers.write(state, load.destination(), Value.Scalar.of(Range.constant(load.value())));
                next++;
            }
            case LoadMap load -> {
                calls.loadMap(state, load.destination(), load.map());
                next++;
            }
            case LoadMapValue load -> {
                calls.loadMapValue(state, load.destination(), load.map(), load.offset());
                next++;
            }
            case Jump jump -> next += jump.offset();
            case Branch branch -> {
                return branch(branch);
            }
            case CallHelper call ->
                sinceCheckpoint = Checkpoint.sum(sinceCheckpoint, calls.helper(state, call.helper()) - 1);
            case CallFunction call -> {
                calls.function(state, call.function());
                top.slot = next;
                return true;
            }
            case Exit _ -> {
                if (!calls.exit(state)) {
                    checkpoint.ended(sinceCheckpoint);
                    return false;
                }
                return true;
            }
            case SecondHalf _ -> throw new IllegalStateException("jumps into instructions are refused before");
        }
        top.slot = next;
        return true;
    }

    private boolean branch(Branch branch) throws Violation {
        int next = state.top().slot + 1;
        State taken = state.copy();
        boolean mayBeTaken = BranchRules.assume(taken, branch, true);
        taken.top().slot = next + branch.offset();
        boolean mayGoOn = BranchRules.assume(state, branch, false);
        if (mayGoOn && mayBeTaken) {
            checkpoint.fork();
            require(
                    pending.size() < limits.keptStates(),
                    Rule.TOO_COMPLEX,
                    "more than %d branches are open at once; make loops with branches shorter"
                            .formatted(limits.keptStates()));
            pending.push(new Path(taken, checkpoint, sinceCheckpoint));
        } else if (mayBeTaken) {
            state = taken;
            return true;
        } else if (!mayGoOn) {
            // the path itself is impossible, which only shows here
            checkpoint.ended(sinceCheckpoint);
            return false;
        }
        state.top().slot = next;
        return true;
    }
}
