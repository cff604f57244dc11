package trigon.config.file;

import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import trigon.config.setting.Excerpt;

/**
 * SnakeYAML's words about a text that it cannot read, put for who has written the text. Its messages have several
 * lines: what it was about to do, where that began, what was in the way, and, last, where that is.
 *
 * @param place ":LINE:COLUMN", ":LINE" or nothing
 * @param words ": what is wrong; what to do"
 */
record ScannerMessage(String place, String words) {

    private static final int LONGEST = 200;
    private static final Pattern PLACE = Pattern.compile("line (\\d+), column (\\d+)");

    /**
     * Reads a message.
     *
     * @param line where it is, if the message does not say; 0: not known
     */
    static ScannerMessage of(String message, int line) {
        String place = line > 0 ? ":" + line : "";
        Matcher places = PLACE.matcher(message);
        for (MatchResult found : places.results().toList()) {
            place = ":" + found.group(1) + ":" + found.group(2);
        }
        String said = message.lines()
                .filter(text -> !text.isBlank() && !Character.isWhitespace(text.charAt(0)))
                .filter(text -> !text.startsWith("in 'reader'"))
                .map(String::strip)
                .collect(Collectors.joining(", "));
        return new ScannerMessage(place, (said.isEmpty() ? "" : ": " + Excerpt.of(said, LONGEST)) + advice(message));
    }

    private static String advice(String message) {
        if (message.contains("(TAB)")) {
            return "; indent with blanks instead of the tab";
        }
        if (message.contains("expected <block end>") || message.contains("mapping values are not allowed")) {
            return "; the line is not indented as those above that it belongs to, or a quote or bracket is missing"
                    + " there";
        }
        return "";
    }
}
