package trigon.cluster.diagnosis;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import trigon.cluster.json.Json;

/**
 * Something that is wrong.
 *
 * @param weight effect on jobs
 * @param code for programs, and for the guide
 * @param where the node, or the two nodes, and the interface
 * @param what is wrong
 * @param evidence the observation
 * @param remedies commands as they are typed, where a command does it
 */
public record Finding(Weight weight, String code, String where, String what, String evidence, List<Remedy> remedies) {

    /** The heaviest first; then in an order that is always the same. */
    static final Comparator<Finding> BY_WEIGHT = Comparator.comparing(Finding::weight)
            .thenComparing(Finding::code)
            .thenComparing(Finding::where)
            .thenComparing(Finding::what);

    /** Effect on jobs, the worst first; an error decides the exit status. */
    public enum Weight {
        /** Jobs fail or hang. */
        ERROR,
        /** Jobs run, but slowly, or not over what they were meant to. */
        WARNING,
        /** Good to know. */
        NOTE
    }

    public enum Kind {
        /** A command after which the fault is gone. It takes no address, rule or setting away that is right. */
        CHANGE,
        /** A command that shows more, and changes nothing. */
        LOOK,
        /** A sentence: only somebody who knows the cluster can do it. */
        ADVICE
    }

    /**
     * A remedy.
     *
     * @param node on which
     * @param text a command, or a sentence
     * @param kind tells them apart
     */
    public record Remedy(String node, String text, Kind kind) {

        /** Tells whether it can be typed. */
        public boolean isCommand() {
            return kind != Kind.ADVICE;
        }
    }

    public Finding {
        remedies = List.copyOf(remedies);
    }

    /** For the commands' JSON. */
    public Map<String, Object> json() {
        return Json.object(
                "weight", weight.name().toLowerCase(Locale.ROOT),
                "code", code,
                "where", where,
                "what", what,
                "evidence", evidence,
                "remedies",
                        remedies.stream()
                                .map(each -> Json.object(
                                        "node",
                                        each.node(),
                                        each.isCommand() ? "command" : "advice",
                                        each.text(),
                                        "changes",
                                        each.kind() == Kind.CHANGE))
                                .toList());
    }

    /** The same, of which an error becomes a warning. */
    Finding asWarning() {
        return weight == Weight.ERROR ? new Finding(Weight.WARNING, code, where, what, evidence, remedies) : this;
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

    static Remedy change(String node, String text) {
        return new Remedy(node, text, Kind.CHANGE);
    }

    static Remedy look(String node, String text) {
        return new Remedy(node, text, Kind.LOOK);
    }

    static Remedy advice(String node, String text) {
        return new Remedy(node, text, Kind.ADVICE);
    }
}
