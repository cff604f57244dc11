package trigon.policy.commands.tune;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import trigon.policy.commands.tune.Sample.Asked;
import trigon.report.model.Collective;
import trigon.report.model.Message;
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

    private static final String ALL_GATHER = "AllGather";
    private static final String REDUCE_SCATTER = "ReduceScatter";

    /** By NCCL's numbers. */
    private static final List<String> COLLECTIVES =
            List.of("Broadcast", "Reduce", ALL_GATHER, REDUCE_SCATTER, "AllReduce");

    static TracedRun read(Path folder) {
        Run run = RunBuilder.build(TraceFolder.read(List.of(folder)));
        List<Sample> samples = run.collectives().stream()
                .flatMap(each -> sample(each).stream())
                .toList();
        return new TracedRun(samples, samples.isEmpty() ? problem(folder, run) : "");
    }

    private static String problem(Path folder, Run run) {
        if (run.ranks().isEmpty()) {
            return "no process of the program has written a trace to " + folder
                    + " here: let this machine take part, let the launcher pass on TRIGON_TRACE, and see whether NCCL"
                    + " loads Trigon";
        }
        return run.profiled()
                ? "the program had no collectives over the network whose communicators and choices NCCL's profiler"
                        + " says: NCCL 2.27 or later is needed"
                : "NCCL's profiler has not said what the collectives are: with NCCL before 2.28.3, set"
                        + " NCCL_PROFILER_PLUGIN to the path of libnccl-net-trigon.so";
    }

    private static Optional<Sample> sample(Collective collective) {
        int number = COLLECTIVES.indexOf(collective.name());
        long begin = collective.messages().stream()
                .mapToLong(Message::tried)
                .filter(time -> time != 0)
                .min()
                .orElse(0);
        long end = collective.messages().stream()
                .flatMap(message -> Stream.of(message.sent(), message.received()))
                .mapToLong(Long::longValue)
                .max()
                .orElse(0);
        long bytes = bytes(collective);
        if (number < 0 || bytes <= 0 || collective.nodes() < 1 || begin == 0 || end <= begin) {
            return Optional.empty();
        }
        Asked what = new Asked(number, collective.ranks(), collective.nodes(), bytes);
        return Choice.of(collective.algorithm(), collective.channels())
                .map(choice -> new Sample(what, choice, end - begin));
    }

    /** Bytes as NCCL's tuners count them: those of all ranks where each has a part. */
    private static long bytes(Collective collective) {
        boolean parts = List.of(ALL_GATHER, REDUCE_SCATTER).contains(collective.name());
        return collective.bytes() * (parts ? collective.ranks() : 1);
    }

    /** Name of a collective by its number. */
    static String name(int collective) {
        return COLLECTIVES.get(collective);
    }

    /** Tells whether nothing was run in more than one way, as if no policy had been loaded. */
    boolean isOfOneChoice() {
        return samples.stream().map(Sample::what).distinct().count()
                == samples.stream()
                        .map(sample -> new Sample(sample.what(), sample.choice(), 0))
                        .distinct()
                        .count();
    }
}
