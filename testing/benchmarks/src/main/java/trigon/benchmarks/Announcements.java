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

    private record Cost(String shape, int nodes, long millis, long firstRate, long laterRate, long memory) {

        /** A row of the file, whose columns are divided by tabs. */
        static Cost of(String row) {
            String[] cells = row.split("\t", -1);
            if (cells.length != 6) {
                throw new IllegalArgumentException(
                        "no row of the simulation, which has 6 columns: \"%s\"; measure again".formatted(row));
            }
            return new Cost(
                    cells[0],
                    Integer.parseInt(cells[1]),
                    Long.parseLong(cells[2]),
                    Long.parseLong(cells[3]),
                    Long.parseLong(cells[4]),
                    Long.parseLong(cells[5]));
        }
    }

    private Announcements() {}

    public static void main(String[] arguments) throws IOException {
        if (arguments.length != 2) {
            throw new IllegalArgumentException("needs the file of the simulation, and a folder for the plot");
        }
        List<Cost> costs = Files.readAllLines(Path.of(arguments[0])).stream()
                .skip(1)
                .map(Cost::of)
                .toList();
        System.out.println("| shape | nodes | known after, ms | each sends at first, B/s | later, B/s | memory, B |");
        System.out.println("|---|---:|---:|---:|---:|---:|");
        BarChart chart = new BarChart("Announcements, for each node of a ring, by the number of nodes", "ms, B/s, B");
        for (Cost cost : costs) {
            System.out.println("| %s | %d | %d | %d | %d | %d |"
                    .formatted(cost.shape, cost.nodes, cost.millis, cost.firstRate, cost.laterRate, cost.memory));
            if ("ring".equals(cost.shape)) {
                chart.add(cost.nodes + " nodes", "known after", (double) cost.millis);
                chart.add(cost.nodes + " nodes", "at first, B/s", (double) cost.firstRate);
                chart.add(cost.nodes + " nodes", "later, B/s", (double) cost.laterRate);
                chart.add(cost.nodes + " nodes", "memory, B", (double) cost.memory);
            }
        }
        Path folder = Files.createDirectories(Path.of(arguments[1]));
        Files.writeString(folder.resolve("announcements.svg"), chart.svg());
    }
}
