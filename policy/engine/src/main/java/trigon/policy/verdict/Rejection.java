package trigon.policy.verdict;

import java.util.List;
import java.util.Optional;
import trigon.policy.elf.PolicyObject.SourceLine;

/**
 * A refused program, the rule that it breaks, and where.
 *
 * @param object file name
 * @param section that it is in
 * @param program the one that was verified
 * @param function where it happens; the program itself, or one that it calls
 * @param slot index of the instruction in the function
 * @param instruction as text
 * @param source where it comes from, if the object says it
 * @param rule which was broken
 * @param reason how, and what to do
 * @param registers what was known of them before the instruction; those that were set
 */
public record Rejection(
        String object,
        String section,
        String program,
        String function,
        int slot,
        String instruction,
        Optional<SourceLine> source,
        Rule rule,
        String reason,
        List<String> registers) {

    private static final int SOURCE_INDENT = 4;

    public Rejection {
        registers = List.copyOf(registers);
    }

    /** One line, for a log: where it is, with the line in C, the rule, and the reason, which says what to do. */
    public String summary() {
        return "%s: section %s, program %s, function %s, instruction %d (%s)%s: %s: %s"
                .formatted(
                        object,
                        section,
                        program,
                        function,
                        slot,
                        instruction,
                        source.map(line -> ", %s, \"%s\""
                                        .formatted(line.place(), line.text().strip()))
                                .orElse(""),
                        rule,
                        reason);
    }

    /** Several lines; the last one says the reason. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        text.append("%s: program %s (section %s) is refused, in function %s\n"
                .formatted(object, program, section, function));
        source.ifPresent(line -> text.append("  %s:\n".formatted(line.place()))
                .append(line.marked().indent(SOURCE_INDENT)));
        text.append("  instruction %d: %s\n".formatted(slot, instruction));
        registers.forEach(register -> text.append("  ").append(register).append('\n'));
        return text.append("  ").append(rule).append(": ").append(reason).toString();
    }

    /** Why a program is refused. The names are stable: tools may rely on them. */
    public enum Rule {
        /** The section names no kind of program. */
        PROGRAM_TYPE,
        /** The bytes are no instruction of the supported set. */
        INVALID_INSTRUCTION,
        /** A jump leaves the function, or the end is reached without an exit. */
        CONTROL_FLOW,
        /** A register or stack memory is read that nothing was written to. */
        UNINITIALIZED,
        /** The register r10 is written. */
        FRAME_POINTER,
        /** An access outside of the context's fields, or of a part of one. */
        CONTEXT_BOUNDS,
        /** An access outside of the function's stack, or more than 512 bytes of it in all. */
        STACK_BOUNDS,
        /** An access outside of a map's value. */
        MAP_BOUNDS,
        /** An access at no multiple of its size. */
        ALIGNMENT,
        /** A result of a look-up is used without having been compared with zero. */
        NULL_CHECK,
        /** Something read-only is written: an input, or constant data. */
        READ_ONLY,
        /** A number is used as an address, or an address as the wrong kind. */
        NOT_A_POINTER,
        /** Arithmetic on addresses other than adding bounded numbers; comparisons of unlike addresses. */
        POINTER_ARITHMETIC,
        /** An address would become visible: in a map, in an output, in a result. */
        POINTER_LEAK,
        /** A helper that does not exist, or that this kind of program may not call. */
        UNKNOWN_HELPER,
        /** An argument of a helper has the wrong kind, size or content. */
        HELPER_ARGUMENT,
        /** A divisor may be zero. */
        DIVISION_BY_ZERO,
        /** An output may be out of its bounds. */
        OUTPUT_BOUNDS,
        /** The result may be out of its bounds. */
        RETURN_VALUE,
        /** A function calls itself, or calls are nested too deeply. */
        CALL_DEPTH,
        /** A loop comes back to where it was with nothing changed. */
        INFINITE_LOOP,
        /** One run may take more instructions than this kind of program is given. */
        TOO_LONG,
        /** There are too many ways through the program to look at all. */
        TOO_COMPLEX,
        /** An output may differ between ranks, which makes NCCL hang. */
        RANK_DEPENDENT
    }
}
