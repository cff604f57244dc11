package trigon.report.view;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import trigon.system.PrintableText;

/**
 * A table for a terminal: columns side by side, the last one in as many lines as it needs, or below the others where
 * these leave no room. Cells of other columns stay whole, whatever the width. What a terminal would obey, and not show,
 * becomes a question mark. One thread.
 */
public final class TextTable {

    private static final int GAP = 2;
    private static final int LEAST_LAST = 24;
    private static final int INDENT = 4;

    /** Colours, which take no columns. */
    public interface Look {

        /** None. */
        Look PLAIN = new Look() {
            @Override
            public String heading(String line) {
                return line;
            }

            @Override
            public String first(int row, String cell) {
                return cell;
            }
        };

        /** The line of the headings. */
        String heading(String line);

        /** The first cell of a row, by its number from 0. */
        String first(int row, String cell);
    }

    private final List<String> header;
    private final List<List<String>> rows = new ArrayList<>();

    /**
     * No rows yet.
     *
     * @param header the headings, one for each column
     */
    public TextTable(String... header) {
        this.header = List.of(header);
    }

    /** Adds a row; as many cells as there are headings. */
    public void row(String... cells) {
        if (cells.length != header.size()) {
            throw new IllegalArgumentException(cells.length + " cells for " + header.size() + " columns");
        }
        rows.add(Stream.of(cells).map(PrintableText::of).toList());
    }

    /** Whether it has no rows. */
    public boolean isEmpty() {
        return rows.isEmpty();
    }

    /** Says the headings and the rows line by line, in columns as wide as they have to be. */
    public void print(int width, Look look, Consumer<String> to) {
        int[] widths = new int[header.size()];
        for (int i = 0; i < header.size(); i++) {
            widths[i] = width(header.get(i));
            for (List<String> row : rows) {
                widths[i] = Math.max(widths[i], width(row.get(i)));
            }
        }
        List<String> headings = lines(header, UnaryOperator.identity(), widths, width);
        to.accept(look.heading(headings.getFirst()));
        headings.subList(1, headings.size()).forEach(to);
        for (int i = 0; i < rows.size(); i++) {
            int number = i;
            lines(rows.get(i), first -> look.first(number, first), widths, width)
                    .forEach(to);
        }
    }

    private static List<String> lines(List<String> cells, UnaryOperator<String> first, int[] widths, int width) {
        int before = 0;
        for (int i = 0; i < widths.length - 1; i++) {
            before += widths[i] + GAP;
        }
        boolean below = width - before < LEAST_LAST && width(cells.getLast()) > width - before;
        int room = below ? width - INDENT : Math.max(LEAST_LAST, width - before);
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < cells.size() - 1; i++) {
            String cell = cells.get(i) + " ".repeat(widths[i] - width(cells.get(i)));
            line.append(i == 0 ? first.apply(cell) : cell).append(" ".repeat(GAP));
        }
        List<String> parts = wrap(cells.getLast(), room);
        List<String> lines = new ArrayList<>();
        lines.add((line + (below ? "" : parts.getFirst())).stripTrailing());
        for (String part : parts.subList(below ? 0 : 1, parts.size())) {
            lines.add(" ".repeat(below ? INDENT : before) + part);
        }
        return lines;
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
