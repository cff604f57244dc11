package trigon.policy.elf;

/**
 * The place in a source file that an instruction comes from.
 *
 * @param column of the expression, from 1; 0: the object does not say
 * @param text the whole line
 */
public record SourceLine(String file, int line, int column, String text) {

    /** The line, and below it a mark at the expression. */
    public String marked() {
        if (column < 1 || column > text.length()) {
            return text.strip();
        }
        int indented = text.length() - text.stripLeading().length();
        int at = Math.max(0, column - 1 - indented);
        return text.strip() + "\n" + " ".repeat(at) + "^";
    }

    /** The file and where in it: {@code policy.c:12:9}. */
    public String place() {
        return column > 0 ? "%s:%d:%d".formatted(file, line, column) : "%s:%d".formatted(file, line);
    }

    @Override
    public String toString() {
        return "%s: %s".formatted(place(), text.strip());
    }
}
