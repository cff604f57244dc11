package trigon.tools.doctor;

import java.util.Comparator;
import java.util.List;

/**
 * Something that is wrong.
 *
 * @param weight how bad it is
 * @param code for programs, and for the guide
 * @param where the node, or the two nodes, and the interface
 * @param what is wrong
 * @param evidence how one can tell
 * @param remedies what to do; commands as they are typed, where a command does it
 */
public record Finding(Weight weight, String code, String where, String what, String evidence, List<Remedy> remedies) {

    /** The heaviest first; then in an order that is always the same. */
    static final Comparator<Finding> BY_WEIGHT = Comparator.comparing(Finding::weight)
            .thenComparing(Finding::code)
            .thenComparing(Finding::where)
            .thenComparing(Finding::what);

    /** How bad it is. */
    public enum Weight {
        /** Jobs fail or hang. */
        ERROR,
        /** Jobs run, but slowly, or not over what they were meant to. */
        WARNING,
        /** Good to know. */
        NOTE
    }

    /**
     * What to do.
     *
     * @param node on which
     * @param text a command, or a sentence
     * @param command which of the two
     */
    public record Remedy(String node, String text, boolean command) {}

    public Finding {
        remedies = List.copyOf(remedies);
    }

    static Finding error(String code, String where, String what, String evidence, Remedy... remedies) {
        return new Finding(Weight.ERROR, code, where, what, evidence, List.of(remedies));
    }

    static Finding warning(String code, String where, String what, String evidence, Remedy... remedies) {
        return new Finding(Weight.WARNING, code, where, what, evidence, List.of(remedies));
    }

    static Finding note(String code, String where, String what, String evidence, Remedy... remedies) {
        return new Finding(Weight.NOTE, code, where, what, evidence, List.of(remedies));
    }

    static Remedy command(String node, String text) {
        return new Remedy(node, text, true);
    }

    static Remedy advice(String node, String text) {
        return new Remedy(node, text, false);
    }
}
