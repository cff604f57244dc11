package trigon.policy.commands.tune;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import trigon.report.model.Collective;
import trigon.report.model.Run;
import trigon.report.model.RunBuilder;
import trigon.report.read.TraceFolder;

/**
 * The traces of a run of the program.
 *
 * @param samples of collectives whose messages went over the network
 * @param problem why there are none; empty if there are
 */
record TracedRun(List<Sample> samples, String problem) {

    static TracedRun read(Path folder) {
        Run run = RunBuilder.build(TraceFolder.read(List.of(folder)));
        List<Sample> samples = samples(run.collectives());
        return new TracedRun(samples, samples.isEmpty() ? problem(folder, run) : "");
    }

    private static String problem(Path folder, Run run) {
        if (run.ranks().isEmpty()) {
            return "no process of the program has written a trace to " + folder
                    + " here: let this machine take part, let the launcher pass on TRIGON_TRACE, and see whether NCCL"
                    + " loads Trigon";
        }
        return run.profiled()
                ? "the program had no two collectives in a row that were alike, went over the network, and whose"
                        + " communicators and choices NCCL's profiler says: NCCL 2.27 or later is needed"
                : "NCCL's profiler has not said what the collectives are: with NCCL before 2.28.3, set"
                        + " NCCL_PROFILER_PLUGIN to the path of libnccl-net-trigon.so";
    }

    /**
     * Times of rows of collectives of a communicator, each like the one before: from end to end, which is what the
     * program feels. One collective's own messages do not tell that. They begin late on a rank that waits for others,
     * and end early on one that others wait for: more so in a tree than in a ring. Within a row, that cancels out.
     */
    private static List<Sample> samples(List<Collective> collectives) {
        Map<String, List<Ended>> latest = new HashMap<>();
        List<List<Ended>> rows = new ArrayList<>();
        for (Collective each : collectives) {
            Optional<Ended> ended = Ended.of(each);
            List<Ended> row = latest.getOrDefault(each.communicator(), List.of());
            if (ended.isEmpty() || row.isEmpty() || !ended.get().isLike(row.getLast())) {
                row = new ArrayList<>();
                rows.add(row);
            }
            ended.ifPresent(row::add);
            latest.put(each.communicator(), row);
        }
        return rows.stream().flatMap(row -> sample(row).stream()).toList();
    }

    private static Optional<Sample> sample(List<Ended> row) {
        int count = row.size() - 1;
        if (count < 1) {
            return Optional.empty();
        }
        long nanos = (row.getLast().time() - row.getFirst().time()) / count;
        return Optional.of(new Sample(row.getFirst().what(), row.getFirst().choice(), nanos, count))
                .filter(sample -> nanos > 0);
    }

    /** Tells whether nothing was run in more than one way, as if no policy had been loaded. */
    boolean isOfOneChoice() {
        return samples.stream().map(Sample::what).distinct().count()
                == samples.stream()
                        .map(sample -> new Sample(sample.what(), sample.choice(), 0, 0))
                        .distinct()
                        .count();
    }
}
