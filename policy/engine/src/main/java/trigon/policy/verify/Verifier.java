package trigon.policy.verify;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import trigon.policy.elf.PolicyObject;
import trigon.policy.flow.ControlFlow;
import trigon.policy.flow.Liveness;
import trigon.policy.isa.CodeException;
import trigon.policy.isa.Instruction;
import trigon.policy.isa.Instruction.CallFunction;
import trigon.policy.isa.InstructionDecoder;
import trigon.policy.map.MapSpec;
import trigon.policy.program.ProgramType;
import trigon.policy.verdict.Rejection;
import trigon.policy.verdict.Rejection.Rule;
import trigon.policy.verdict.VerificationException;
import trigon.policy.verdict.VerifiedProgram;
import trigon.policy.verify.State.Frame;

/** Verifies the programs of an object. Thread-safe. */
public final class Verifier {

    /** Slots of a program with all functions that it calls. */
    private static final int MAX_SLOTS = 16_384;

    private static final Pattern INDEXED_MAP = Pattern.compile(Value.MAP + "([0-9]+)");

    private final VerifierLimits limits;

    private final DivisionByZero divisionByZero;

    public Verifier(VerifierLimits limits, DivisionByZero divisionByZero) {
        this.limits = limits;
        this.divisionByZero = divisionByZero;
    }

    /**
     * Verifies one program; its section says what kind it is.
     *
     * @param entry index of its function
     * @throws VerificationException if it is refused
     */
    public VerifiedProgram verify(PolicyObject object, int entry) throws VerificationException {
        PolicyObject.Function program = object.functions().get(entry);
        ProgramType type = ProgramType.ofSection(program.section()).orElse(null);
        if (type == null) {
            String known = String.join(
                    ", ", ProgramType.all().stream().map(ProgramType::section).toList());
            throw refused(
                    object,
                    entry,
                    entry,
                    0,
                    Rule.PROGRAM_TYPE,
                    "the section %s names no kind of program; there are %s".formatted(program.section(), known));
        }
        return verify(object, entry, type);
    }

    /** Verifies one program as a kind that its section does not have to name. */
    public VerifiedProgram verify(PolicyObject object, int entry, ProgramType type) throws VerificationException {
        ProgramFacts facts = new ProgramFacts(type, object.maps(), divisionByZero);
        SortedMap<Integer, VerifiedProgram.Function> functions = new TreeMap<>();
        decode(object, entry, entry, facts, functions);
        checkSize(object, entry, functions);
        Exploration exploration = new Exploration(limits, functions, facts);
        int worstCase;
        try {
            worstCase = exploration.run(entry);
            checkStack(entry, functions);
        } catch (Violation e) {
            Frame at = exploration.at();
            throw new VerificationException(rejection(
                    object,
                    entry,
                    at.function,
                    at.slot,
                    instructionAt(functions.get(at.function), at.slot),
                    e.rule(),
                    named(String.valueOf(e.getMessage()), object.maps()),
                    exploration.registers().stream()
                            .map(text -> named(text, object.maps()))
                            .toList()));
        }
        boolean advisory = ProgramType.isAdvisory(object.functions().get(entry).section());
        return new VerifiedProgram(object, entry, type, advisory, functions, worstCase, exploration.explored());
    }

    private static void checkSize(
            PolicyObject object, int entry, SortedMap<Integer, VerifiedProgram.Function> functions)
            throws VerificationException {
        int slots = 0;
        for (VerifiedProgram.Function function : functions.values()) {
            slots += function.code().length;
        }
        if (slots > MAX_SLOTS) {
            throw refused(
                    object,
                    entry,
                    entry,
                    0,
                    Rule.TOO_COMPLEX,
                    "the program and the functions it calls have %d instructions, more than %d"
                            .formatted(slots, MAX_SLOTS));
        }
    }

    private static void decode(
            PolicyObject object,
            int program,
            int index,
            ProgramFacts facts,
            SortedMap<Integer, VerifiedProgram.Function> functions)
            throws VerificationException {
        if (functions.containsKey(index)) {
            return;
        }
        PolicyObject.Function function = object.functions().get(index);
        Instruction[] code;
        try {
            code = InstructionDecoder.decode(function.code());
        } catch (CodeException e) {
            throw refused(object, program, index, e.slot(), Rule.INVALID_INSTRUCTION, String.valueOf(e.getMessage()));
        }
        try {
            ControlFlow flow = new ControlFlow(code);
            functions.put(
                    index,
                    new VerifiedProgram.Function(function, code, flow, new Liveness(code, flow), facts.of(index)));
        } catch (CodeException e) {
            throw refused(object, program, index, e.slot(), Rule.CONTROL_FLOW, String.valueOf(e.getMessage()));
        }
        for (int slot = 0; slot < code.length; slot++) {
            if (code[slot] instanceof CallFunction(int called)) {
                if (called < 0 || called >= object.functions().size()) {
                    throw refused(
                            object,
                            program,
                            index,
                            slot,
                            Rule.INVALID_INSTRUCTION,
                            "function %d does not exist".formatted(called));
                }
                decode(object, program, called, facts, functions);
            }
        }
    }

    private static void checkStack(int entry, SortedMap<Integer, VerifiedProgram.Function> functions) throws Violation {
        int bytes = stackBytes(entry, functions, new HashMap<>());
        Violation.require(
                bytes <= StackMemory.BYTES,
                Rule.STACK_BOUNDS,
                "the program and the functions it calls take %d bytes of stack, more than %d"
                        .formatted(bytes, StackMemory.BYTES));
    }

    /** The stack of a function together with the functions that it calls. */
    private static int stackBytes(
            int index, SortedMap<Integer, VerifiedProgram.Function> functions, Map<Integer, Integer> known) {
        // ends calls that no path comes to, and that may therefore go round
        Integer before = known.putIfAbsent(index, 0);
        VerifiedProgram.Function function = functions.get(index);
        if (before != null || function == null) {
            return before == null ? 0 : before;
        }
        int deepest = 0;
        for (Instruction instruction : function.code()) {
            if (instruction instanceof CallFunction(int called)) {
                deepest = Math.max(deepest, stackBytes(called, functions, known));
            }
        }
        int bytes = function.facts().stackBytes() + deepest;
        known.put(index, bytes);
        return bytes;
    }

    private static String instructionAt(VerifiedProgram.@Nullable Function function, int slot) {
        return function == null ? "" : function.code()[slot].text(slot);
    }

    private static VerificationException refused(
            PolicyObject object, int program, int function, int slot, Rule rule, String reason) {
        return new VerificationException(
                rejection(object, program, function, slot, "(not decoded)", rule, reason, List.of()));
    }

    private static Rejection rejection(
            PolicyObject object,
            int program,
            int function,
            int slot,
            String instruction,
            Rule rule,
            String reason,
            List<String> registers) {
        PolicyObject.Function at = object.functions().get(function);
        return new Rejection(
                object.name(),
                object.functions().get(program).section(),
                object.functions().get(program).name(),
                at.name(),
                slot,
                instruction,
                at.lineOf(slot),
                rule,
                reason,
                registers);
    }

    /** Puts the names of maps in place of their indexes, which are all that a {@link Value} knows. */
    private static String named(String text, List<MapSpec> maps) {
        return INDEXED_MAP
                .matcher(text)
                .replaceAll(found -> Matcher.quoteReplacement(
                        "map " + maps.get(Integer.parseInt(found.group(1))).name()));
    }
}
