package trigon.policy.verdict;

import java.util.List;
import java.util.Optional;
import trigon.policy.elf.SourceLine;

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
}
