package trigon.system;

import java.util.regex.Pattern;

/** Text of strangers, for a log or a terminal. */
public final class PrintableText {

    /** Would change what a terminal shows, or forge a line: C0, C1, marks of directions and lines, half characters. */
    private static final Pattern UNPRINTABLE = Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}]");

    private PrintableText() {}

    /** Returns whether a character does more than show itself. Half of one may be a part of a whole. */
    public static boolean isObeyed(char c) {
        return switch (Character.getType(c)) {
            case Character.CONTROL, Character.FORMAT, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR -> true;
            default -> false;
        };
    }

    /** The text with a question mark in place of each character that does more than show itself. */
    public static String of(String text) {
        return UNPRINTABLE.matcher(text).replaceAll("?");
    }
}
