package trigon.tools.console;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import trigon.system.PrintableText;

/**
 * A table for a terminal: columns side by side, the last one in as many lines as it needs, or below the others where
 * these leave no room. Cells of other columns stay whole, whatever the width. What a terminal would obey, and not show,
 * becomes a question mark.
 */
public final class Table {

    private static final int GAP = 2;
    private static final int LEAST_LAST = 24;
    private static final int INDENT = 4;

    private final List<String> header;
    private final List<List<String>> rows = new ArrayList<>();
    private final List<Style> styles = new ArrayList<>();

    /**
     * No rows yet.
     *
     * @param header the headings, one for each column
     */
    public Table(String... header) {
        this.header = List.of(header);
    }

    /** Adds a row; as many cells as there are headings. Returns this table. */
    public Table row(String... cells) {
        return row(Style.STRONG, false, cells);
    }

    /** One more row, of which the first cell is in that style. */
    public Table styled(Style style, String... cells) {
        return row(style, true, cells);
    }

    private Table row(Style style, boolean styled, String... cells) {
        if (cells.length != header.size()) {
            throw new IllegalArgumentException(cells.length + " cells for " + header.size() + " columns");
        }
        rows.add(Stream.of(cells).map(PrintableText::of).toList());
        styles.add(styled ? style : Style.STRONG);
        return this;
    }

    /** Whether it has no rows. */
    public boolean isEmpty() {
        return rows.isEmpty();
    }

    /** Prints the headings and the rows, in columns as wide as they have to be. */
    public void print(Console to) {
        int[] widths = new int[header.size()];
        for (int i = 0; i < header.size(); i++) {
            widths[i] = width(header.get(i));
            for (List<String> row : rows) {
                widths[i] = Math.max(widths[i], width(row.get(i)));
            }
        }
        print(to, header, widths, Style.FAINT, true);
        for (int i = 0; i < rows.size(); i++) {
            print(to, rows.get(i), widths, styles.get(i), false);
        }
    }

    private static void print(Console to, List<String> cells, int[] widths, Style style, boolean whole) {
        int before = 0;
        for (int i = 0; i < widths.length - 1; i++) {
            before += widths[i] + GAP;
        }
        boolean below = to.width() - before < LEAST_LAST && width(cells.getLast()) > to.width() - before;
        int room = below ? to.width() - INDENT : Math.max(LEAST_LAST, to.width() - before);
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < cells.size() - 1; i++) {
            String cell = cells.get(i) + " ".repeat(widths[i] - width(cells.get(i)));
            line.append(i == 0 && !whole ? to.styled(style, cell) : cell).append(" ".repeat(GAP));
        }
        List<String> parts = wrap(cells.getLast(), room);
        String first = (line + (below ? "" : parts.getFirst())).stripTrailing();
        to.out().println(whole ? to.styled(style, first) : first);
        for (String part : parts.subList(below ? 0 : 1, parts.size())) {
            to.out().println(" ".repeat(below ? INDENT : before) + part);
        }
    }

    /** A text in lines of that many columns; words stay whole. */
    public static List<String> wrap(String text, int columns) {
        List<String> lines = new ArrayList<>();
        StringBuilder line = new StringBuilder();
        for (String word : text.split(" ", -1)) {
            if (!line.isEmpty() && line.length() + 1 + word.length() > columns) {
                lines.add(line.toString());
                line.setLength(0);
            }
            line.append(line.isEmpty() ? "" : " ").append(word);
        }
        lines.add(line.toString());
        return lines;
    }

    private static int width(String text) {
        return text.codePointCount(0, text.length());
    }
}
