package trigon.tools.console;

import java.util.ArrayList;
import java.util.List;
import trigon.report.view.TextTable;

/** A {@link TextTable} of which the first cells may have colours. */
public final class Table {

    private final TextTable text;
    private final List<Style> styles = new ArrayList<>();

    /**
     * No rows yet.
     *
     * @param header the headings, one for each column
     */
    public Table(String... header) {
        text = new TextTable(header);
    }

    /** Adds a row; as many cells as there are headings. Returns this table. */
    public Table row(String... cells) {
        return styled(Style.STRONG, cells);
    }

    /** One more row, of which the first cell is in that style. */
    public Table styled(Style style, String... cells) {
        text.row(cells);
        styles.add(style);
        return this;
    }

    /** Whether it has no rows. */
    public boolean isEmpty() {
        return text.isEmpty();
    }

    /** Prints the headings and the rows, in columns as wide as they have to be. */
    public void print(Console to) {
        text.print(
                to.width(),
                new TextTable.Look() {
                    @Override
                    public String heading(String line) {
                        return to.styled(Style.FAINT, line);
                    }

                    @Override
                    public String first(int row, String cell) {
                        return to.styled(styles.get(row), cell);
                    }
                },
                to.out()::println);
    }

    /** A text in lines of that many columns; words stay whole. */
    public static List<String> wrap(String text, int columns) {
        return TextTable.wrap(text, columns);
    }
}
