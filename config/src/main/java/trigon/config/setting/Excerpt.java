package trigon.config.setting;

/** Text of unknown origin, made fit for one line of a log. */
public final class Excerpt {

    private static final int LONGEST = 60;

    private Excerpt() {}

    /** Its beginning, with everything but printable ASCII replaced. */
    public static String of(String text) {
        return of(text, LONGEST);
    }

    /** The same, of so many characters at most. */
    public static String of(String text, int longest) {
        StringBuilder excerpt = new StringBuilder();
        for (int i = 0; i < Math.min(text.length(), longest); i++) {
            char c = text.charAt(i);
            excerpt.append(c >= ' ' && c <= '~' ? c : '?');
        }
        return excerpt.append(text.length() > longest ? "..." : "").toString();
    }

    /** The same in quotes. */
    public static String quoted(String text) {
        return '"' + of(text) + '"';
    }
}
