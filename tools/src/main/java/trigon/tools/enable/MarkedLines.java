package trigon.tools.enable;

import java.util.List;
import java.util.Optional;

/**
 * A text with lines of Trigon's between two markers, which can be taken out again: what is left is the text as it was.
 * The markers have no {@code =}: NCCL 2.20 to 2.22 takes a comment with one for a setting. Immutable.
 *
 * @param before what stands before the first marker; the whole text if there are no markers
 * @param lines between the markers; empty if there are none
 * @param after what stands after the last marker
 * @param origin of the text around the lines
 */
record MarkedLines(String before, Optional<List<String>> lines, String after, Origin origin) {

    private static final String BEGIN = "# Trigon's lines begin here: \"trigon disable\" removes them";
    private static final String END = "# Trigon's lines end here";

    /** The text that the lines were added to; the first marker says it. */
    enum Origin {
        /** There was no file. */
        NONE(", and this file"),
        /** Its last line had no end. */
        OPEN(", and the end of the line above"),
        /** It was empty, or its last line had an end. */
        CLOSED("");

        private final String words;

        Origin(String words) {
            this.words = words;
        }

        private static Optional<Origin> ofMarker(String line) {
            return List.of(values()).stream()
                    .filter(each -> line.equals(BEGIN + each.words))
                    .findFirst();
        }
    }

    /**
     * Finds the lines in a text.
     *
     * @param text empty if there is no file
     * @throws IllegalArgumentException if the markers are no pair; the message names a line
     */
    static MarkedLines of(Optional<String> text) {
        if (text.isEmpty()) {
            return new MarkedLines("", Optional.empty(), "", Origin.NONE);
        }
        String all = text.get();
        List<String> rows = List.of(all.split("(?<=\n)", -1));
        int begin = -1;
        int end = -1;
        Origin origin = all.isEmpty() || all.endsWith("\n") ? Origin.CLOSED : Origin.OPEN;
        for (int i = 0; i < rows.size(); i++) {
            String row = rows.get(i).stripTrailing();
            Optional<Origin> found = Origin.ofMarker(row);
            if (found.isPresent() ? begin >= 0 : row.equals(END) && (begin < 0 || end >= 0)) {
                throw new IllegalArgumentException(
                        "line %d is a marker of Trigon's without its other one".formatted(i + 1));
            }
            if (found.isPresent()) {
                begin = i;
                origin = found.get();
            } else if (row.equals(END)) {
                end = i;
            }
        }
        if (begin < 0) {
            return new MarkedLines(all, Optional.empty(), "", origin);
        }
        if (end < 0) {
            throw new IllegalArgumentException(
                    "line %d is a marker of Trigon's without its other one".formatted(begin + 1));
        }
        return new MarkedLines(
                String.join("", rows.subList(0, begin)),
                Optional.of(rows.subList(begin + 1, end).stream()
                        .map(String::stripTrailing)
                        .toList()),
                String.join("", rows.subList(end + 1, rows.size())),
                origin);
    }

    /** The text with these lines: in the place of those that are there, or at its end, where all others win. */
    MarkedLines with(List<String> other) {
        String above = lines.isEmpty() && origin == Origin.OPEN ? before + "\n" : before;
        return new MarkedLines(above, Optional.of(other), after, origin);
    }

    /** Number of the first marker's line, from 1; of the line after the text if there are no markers. */
    int firstLine() {
        return (int) before.lines().count() + 1;
    }

    /** The text with its markers, as the file has it. */
    String text() {
        return lines.map(own -> before + BEGIN + origin.words + "\n"
                        + String.join("", own.stream().map(line -> line + "\n").toList())
                        + END + "\n" + after)
                .orElse(before);
    }

    /** The text without the lines; empty if there was no file, and nobody has added to it. */
    Optional<String> without() {
        if (lines.isEmpty()) {
            return Optional.of(before);
        }
        boolean opens = origin == Origin.OPEN && after.isEmpty() && before.endsWith("\n");
        String rest = opens ? before.substring(0, before.length() - 1) : before + after;
        return rest.isEmpty() && origin == Origin.NONE ? Optional.empty() : Optional.of(rest);
    }
}
