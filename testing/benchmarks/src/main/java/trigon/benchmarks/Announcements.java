package trigon.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Tells what announcements cost by the number of nodes, as the simulation of them has measured: a table on standard
 * output, and a plot. Arguments: the file, and the folder for the plot.
 */
final class Announcements {

    private static final List<String> HEADS = List.of(
            "shape",
            "nodes",
            "known after, ms",
            "each sends at first, B/s",
            "later, B/s",
            "memory, B",
            "processor at first, ppm",
            "later, ppm",
            "after churn, ms",
            "known");

    /** What of a ring is plotted: columns. */
    private static final List<Integer> PLOTTED = List.of(2, 3, 4, 5, 7);

    private static final int SHAPE = 0;
    private static final int NODES = 1;

    /** A row of the file, whose columns are divided by tabs. */
    private static List<String> cells(String row) {
        List<String> cells = List.of(row.split("\t", -1));
        if (cells.size() != HEADS.size()) {
            throw new IllegalArgumentException("no row of the simulation, which has %d columns: \"%s\"; measure again"
                    .formatted(HEADS.size(), row));
        }
        return cells;
    }

    private Announcements() {}

    public static void main(String[] arguments) throws IOException {
        if (arguments.length != 2) {
            throw new IllegalArgumentException("needs the file of the simulation, and a folder for the plot");
        }
        List<List<String>> costs = Files.readAllLines(Path.of(arguments[0])).stream()
                .skip(1)
                .map(Announcements::cells)
                .toList();
        System.out.println("| " + String.join(" | ", HEADS) + " |");
        System.out.println("|---|" + "---:|".repeat(HEADS.size() - 1));
        BarChart chart =
                new BarChart("Announcements, for each node of a ring, by the number of nodes", "ms, B/s, B, ppm");
        for (List<String> cost : costs) {
            System.out.println("| " + String.join(" | ", cost) + " |");
            if ("ring".equals(cost.get(SHAPE))) {
                for (int column : PLOTTED) {
                    chart.add(cost.get(NODES) + " nodes", HEADS.get(column), Double.parseDouble(cost.get(column)));
                }
            }
        }
        Path folder = Files.createDirectories(Path.of(arguments[1]));
        Files.writeString(folder.resolve("announcements.svg"), chart.svg());
    }
}
