package trigon.report.summary;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import trigon.report.model.Collective;
import trigon.report.model.Run;
import trigon.report.path.Cause;
import trigon.report.path.CriticalPath;
import trigon.report.path.CriticalPath.Segment;

/**
 * All collectives of one kind, size and algorithm.
 *
 * @param name of the kind
 * @param bytes what a rank gives
 * @param algorithm NCCL's, with its protocol; empty where that is not known
 * @param count how many
 * @param medianWall the middle of their wall times, in nanoseconds
 * @param totalWall the sum
 * @param byCause nanoseconds of all critical paths together
 */
public record OperationRow(
        String name,
        long bytes,
        String algorithm,
        int count,
        long medianWall,
        long totalWall,
        Map<Cause, Long> byCause) {

    public OperationRow {
        byCause = Map.copyOf(byCause);
    }

    /** The rows of a run, the largest total first. */
    public static List<OperationRow> of(Run run, List<List<Segment>> paths) {
        Map<String, List<Integer>> groups = new LinkedHashMap<>();
        for (int i = 0; i < run.collectives().size(); i++) {
            Collective each = run.collectives().get(i);
            String key = each.name() + " " + each.bytes() + " " + each.algorithm();
            groups.computeIfAbsent(key, _ -> new ArrayList<>()).add(i);
        }
        return groups.values().stream()
                .map(group -> row(run, paths, group))
                .sorted(Comparator.comparingLong(row -> -row.totalWall()))
                .toList();
    }

    private static OperationRow row(Run run, List<List<Segment>> paths, List<Integer> group) {
        Map<Cause, Long> sums = new EnumMap<>(Cause.class);
        List<Long> walls = new ArrayList<>();
        for (int index : group) {
            CriticalPath.byCause(paths.get(index)).forEach((cause, time) -> sums.merge(cause, time, Long::sum));
            walls.add(run.collectives().get(index).wall());
        }
        walls.sort(Comparator.naturalOrder());
        Collective first = run.collectives().get(group.getFirst());
        return new OperationRow(
                first.name(),
                first.bytes(),
                first.algorithm(),
                group.size(),
                walls.get(walls.size() / 2),
                walls.stream().mapToLong(Long::longValue).sum(),
                sums);
    }

    /** Nanoseconds of the wall time that have a cause. */
    public long explained() {
        return byCause.entrySet().stream()
                .filter(entry -> entry.getKey() != Cause.UNKNOWN)
                .mapToLong(Map.Entry::getValue)
                .sum();
    }
}
