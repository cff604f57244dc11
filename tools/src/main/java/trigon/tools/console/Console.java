package trigon.tools.console;

import java.io.PrintStream;
import java.util.List;
import trigon.system.PrintableText;

/**
 * Output streams of a command. One thread.
 *
 * @param out the result, and nothing else
 * @param err errors and progress
 * @param colour true if the result may have colours: it goes to a terminal
 * @param progress true if errors go to a terminal, so that somebody waits there
 * @param width columns of the terminal, or of {@code COLUMNS}
 */
public record Console(PrintStream out, PrintStream err, boolean colour, boolean progress, int width) {

    /** Columns if neither {@code COLUMNS} nor a terminal says how many there are. */
    public static final int USUAL_WIDTH = 80;

    private static final int MIN_WIDTH = 40;

    public Console {
        width = Math.max(width, MIN_WIDTH);
    }

    /** A text in that style. */
    public String styled(Style style, String text) {
        return colour ? style.begin() + text + Style.END : text;
    }

    /** Prints a line of the result in that style. */
    public void line(Style style, String text) {
        out.println(styled(style, text));
    }

    /** Prints a text of the result in that style, in lines that fit; words stay whole. */
    public void paragraph(Style style, String text) {
        Table.wrap(text, width).forEach(each -> line(style, each));
    }

    /** Says a part of the result at once, to somebody who waits for the rest. */
    public void say(String text) {
        out.println(text);
        out.flush();
    }

    /** Prints a text of the result in lines that fit; words stay whole. */
    public void paragraph(String text) {
        Table.wrap(text, width).forEach(out::println);
    }

    /** Says a text at once, in lines that fit; those that go on are indented by so many more columns than the first. */
    public void paragraph(String text, int indent) {
        if (text.length() <= width) {
            say(text);
            return;
        }
        String words = text.stripLeading();
        String margin = " ".repeat(text.length() - words.length());
        List<String> lines = Table.wrap(words, width - margin.length() - indent);
        say(margin + lines.getFirst());
        lines.stream().skip(1).forEach(line -> say(margin + " ".repeat(indent) + line));
    }

    /** Says something besides the result, which is whole without it; in one line that a terminal only shows. */
    public void note(String text) {
        done();
        err.println("trigon: " + PrintableText.of(text));
        err.flush();
    }

    /** Says what the command is doing, to somebody who waits; the next one replaces it. */
    public void doing(String what) {
        if (progress) {
            String shown = PrintableText.of(what);
            String line = shown.length() < width ? shown : shown.substring(0, width - 1);
            err.print("\r" + line + "\u001b[K");
            err.flush();
        }
    }

    /** Takes away what {@link #doing} has said. */
    public void done() {
        if (progress) {
            err.print("\r\u001b[K");
            err.flush();
        }
    }
}
