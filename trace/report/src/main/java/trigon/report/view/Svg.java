package trigon.report.view;

import java.util.Locale;

/**
 * A picture as it is drawn, in SVG 1.1: a file of its own, or a part of a page. What things look like is said by their
 * attributes, such as {@code fill="red"}, which are taken as they are; all other texts are escaped. One thread.
 */
public final class Svg {

    private final StringBuilder drawn = new StringBuilder();

    /**
     * An empty picture.
     *
     * @param title for those who do not see it
     * @param style in CSS
     */
    public Svg(int width, int height, String title, String style) {
        drawn.append("""
                <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="%s">
                <title>%s</title><style>%s</style>
                """.formatted(width, height, escaped(title), escaped(title), style));
    }

    /** A rectangle, of which the words, if there are any, say what it is. */
    public void rect(String look, double x, double y, double width, double height, String words) {
        add("<rect %s x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\">", look, x, y, width, height);
        drawn.append(words.isEmpty() ? "" : "<title>" + escaped(words) + "</title>")
                .append("</rect>\n");
    }

    public void line(String look, double x1, double y1, double x2, double y2) {
        add("<line %s x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", look, x1, y1, x2, y2);
    }

    public void circle(String look, double x, double y, double radius) {
        add("<circle %s cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>\n", look, x, y, radius);
    }

    public void text(String look, double x, double y, String text) {
        add("<text %s x=\"%.1f\" y=\"%.1f\">%s</text>\n", look, x, y, escaped(text));
    }

    @Override
    public String toString() {
        return drawn + "</svg>\n";
    }

    @SuppressWarnings("AnnotateFormatMethod") // its annotation would be one more dependency
    private void add(String format, Object... arguments) {
        drawn.append(String.format(Locale.ROOT, format, arguments));
    }

    /** A text for XML and HTML. */
    static String escaped(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }
}
