package trigon.tools.console;

import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import trigon.system.PrintableText;

/**
 * A table in no more columns than the console has. Cells wrap at blanks. The last cell goes below the others where they
 * leave it no room. A word is cut only if it is longer than its column can be. Control characters become question
 * marks. First cells may have colours. One thread.
 *
 * <p>picocli's table would cut addresses and paths at their colons and slashes.
 */
public final class Table {

    private static final int GAP = 2;
    private static final int MIN_LAST = 24;
    private static final int INDENT = 4;

    private record Row(Style style, List<String> cells) {}

    /** Widths of the columns that are side by side, without the gaps; {@code below} if the last one is not. */
    private static final class Layout {

        private final int[] widths;
        private final boolean below;

        Layout(int[] widths, boolean below) {
            this.widths = widths;
            this.below = below;
        }

        int total() {
            return IntStream.of(widths).sum() + GAP * (widths.length - 1);
        }

        /** Narrows the widest column again and again, none to less than its least. */
        Layout within(int columns, int[] least) {
            int[] narrow = widths.clone();
            int excess = total() - columns;
            while (excess-- > 0) {
                int widest = IntStream.range(0, narrow.length)
                        .filter(i -> narrow[i] > least[i])
                        .reduce((a, b) -> narrow[b] > narrow[a] ? b : a)
                        .orElse(-1);
                if (widest < 0) {
                    break;
                }
                narrow[widest]--;
            }
            return new Layout(narrow, below);
        }
    }

    private final List<String> header;
    private final List<Row> rows = new ArrayList<>();

    /**
     * No rows yet.
     *
     * @param header the headings, one for each column
     */
    public Table(String... header) {
        this.header = List.of(header);
    }

    /** Adds a row; as many cells as there are headings, of any type. Returns this table. */
    public Table row(Object... cells) {
        return styled(Style.STRONG, cells);
    }

    /** One more row, of which the first cell is in that style. */
    public Table styled(Style style, Object... cells) {
        if (cells.length != header.size()) {
            throw new IllegalArgumentException(cells.length + " cells for " + header.size() + " columns");
        }
        rows.add(new Row(
                style,
                Stream.of(cells).map(String::valueOf).map(PrintableText::of).toList()));
        return this;
    }

    /** The same table without these columns, which are counted from 0. */
    public Table without(int... columns) {
        Table narrow = new Table(kept(header, columns).toArray(String[]::new));
        rows.forEach(row -> narrow.rows.add(new Row(row.style(), kept(row.cells(), columns))));
        return narrow;
    }

    private static List<String> kept(List<String> cells, int... left) {
        return IntStream.range(0, cells.size())
                .filter(i -> IntStream.of(left).noneMatch(each -> each == i))
                .mapToObj(cells::get)
                .toList();
    }

    /** Tells whether it has no rows. */
    public boolean isEmpty() {
        return rows.isEmpty();
    }

    /** Prints the headings and the rows. */
    public void print(Console to) {
        Layout layout = layout(to.width());
        print(header, text -> to.styled(Style.FAINT, text), layout, to);
        rows.forEach(row -> print(row.cells(), text -> to.styled(row.style(), text), layout, to));
    }

    private Layout layout(int columns) {
        int count = header.size();
        int[] least = IntStream.range(0, count).map(this::longestWord).toArray();
        least[count - 1] = Math.max(least[count - 1], Math.min(MIN_LAST, longestCell(count - 1)));
        Layout beside =
                new Layout(IntStream.range(0, count).map(this::longestCell).toArray(), false).within(columns, least);
        if (beside.total() <= columns || count == 1) {
            return beside.within(columns, new int[count]);
        }
        return new Layout(IntStream.range(0, count - 1).map(this::longestCell).toArray(), true)
                .within(columns, least)
                .within(columns, IntStream.range(0, count).map(_ -> 1).toArray());
    }

    private int longestCell(int column) {
        return cells(column).mapToInt(Table::width).max().orElse(0);
    }

    private int longestWord(int column) {
        return cells(column)
                .flatMap(cell -> Stream.of(cell.split(" ", -1)))
                .mapToInt(Table::width)
                .max()
                .orElse(0);
    }

    private Stream<String> cells(int column) {
        return Stream.concat(Stream.of(header), rows.stream().map(Row::cells)).map(cells -> cells.get(column));
    }

    private static void print(List<String> cells, UnaryOperator<String> first, Layout layout, Console to) {
        int room = to.width() - layout.total() - GAP;
        boolean below = layout.below && width(cells.getLast()) > room;
        List<List<String>> columns = new ArrayList<>();
        for (int i = 0; i < layout.widths.length; i++) {
            columns.add(lines(cells.get(i), layout.widths[i]));
        }
        if (layout.below && !below) {
            columns.add(List.of(cells.getLast()));
        }
        int height = columns.stream().mapToInt(List::size).max().orElse(0);
        for (int line = 0; line < height; line++) {
            StringBuilder text = new StringBuilder();
            for (int i = 0; i < columns.size(); i++) {
                String part = line < columns.get(i).size() ? columns.get(i).get(line) : "";
                int padding = i < layout.widths.length ? layout.widths[i] - width(part) + GAP : 0;
                text.append(i == 0 && !part.isEmpty() ? first.apply(part) : part)
                        .append(" ".repeat(padding));
            }
            to.out().println(text.toString().stripTrailing());
        }
        if (below) {
            lines(cells.getLast(), to.width() - INDENT).forEach(line -> to.out().println(" ".repeat(INDENT) + line));
        }
    }

    private static List<String> lines(String cell, int columns) {
        return wrap(cell, columns).stream()
                .flatMap(line -> Stream.of(line.split("(?<=\\G.{" + Math.max(1, columns) + "})(?!$)", -1)))
                .toList();
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
