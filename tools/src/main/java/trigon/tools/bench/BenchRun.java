package trigon.tools.bench;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import trigon.cluster.machine.Machine;
import trigon.cluster.machine.MachineLinks;
import trigon.routing.LocalLink;
import trigon.routing.discovery.BootstrapInterfaces;
import trigon.tools.bench.Measurement.Kind;
import trigon.tools.console.CommandFailure;
import trigon.tools.console.Console;
import trigon.verbs.LinkKind;

/**
 * This machine's part in the steps, one after the other. A step that fails is a row with its reason; the same ranks'
 * further sizes are left out. One thread.
 */
final class BenchRun {

    private final Console console;
    private final BenchHost host;
    private final Optional<Perftest> perftest;
    private final Meetings meetings;
    private final List<LocalLink> links;
    private final Set<String> shared;
    private final List<BenchRow> rows = new ArrayList<>();
    private final List<Perftest.Figures> figures = new ArrayList<>();
    private final Set<String> problems = new LinkedHashSet<>();

    /**
     * Not yet running.
     *
     * @param perftest to compare with; empty for none
     */
    BenchRun(Machine machine, Console console, BenchHost host, Optional<Perftest> perftest, Meetings meetings) {
        this.console = console;
        this.host = host;
        this.perftest = perftest;
        this.meetings = meetings;
        if (meetings.areHere()) {
            links = List.of();
            shared = Set.of();
        } else {
            MachineLinks all = MachineLinks.of(machine);
            links = all.discovered().links();
            shared = machine.environment().containsKey(BootstrapInterfaces.VARIABLE)
                    ? Set.of()
                    : meetings.sharedInterfaces(all.interfaces());
        }
    }

    /**
     * Takes part in the steps of one of the ranks, or of all if they are on this machine.
     *
     * @param caller who has started this rank; once it is gone, no step is left
     * @throws CommandFailure if nothing could be measured
     */
    void run(List<BenchStep> steps, int rank, RemoteRanks others, Caller caller)
            throws IOException, InterruptedException {
        for (int i = 0; i < steps.size(); i++) {
            BenchStep step = steps.get(i);
            List<Integer> here = meetings.areHere()
                    ? IntStream.range(0, step.ranks().size()).boxed().toList()
                    : Stream.of(step.ranks().indexOf(rank))
                            .filter(place -> place >= 0)
                            .toList();
            if (here.isEmpty()
                    || rows.stream()
                            .anyMatch(row -> row.hasFailed() && row.step().isLike(step))) {
                continue;
            }
            console.doing("%s, %d of %d".formatted(step, i + 1, steps.size()));
            host.begin();
            perftest.ifPresent(Perftest::begin);
            caller.check();
            rows.add(row(step, i, here, others));
            caller.check();
        }
        if (rows.stream().allMatch(BenchRow::hasFailed)) {
            throw new CommandFailure(String.join(
                    "\n", rows.stream().map(BenchRow::failure).distinct().toList()));
        }
    }

    private BenchRow row(BenchStep step, int number, List<Integer> here, RemoteRanks others)
            throws IOException, InterruptedException {
        Optional<CommandFailure> before = others.begin(step.ranks());
        if (before.isPresent()) {
            return BenchRow.failed(step, String.valueOf(before.get().getMessage()));
        }
        try {
            Measurement measured = host.measure(step, here, meetings.of(step, number));
            BenchRow row = new BenchRow(
                    step, Optional.of(measured), host.lastWays(), Network.of(host.lastWays(), links, shared), "");
            if (perftest.isPresent() && step.kind() == Kind.POINT_TO_POINT) {
                compare(perftest.get(), step, number, here.getFirst() == 0);
            }
            return row;
        } catch (CommandFailure own) {
            String mine = String.valueOf(own.getMessage());
            return BenchRow.failed(
                    step,
                    others.failure(step.ranks())
                            .map(theirs -> host.isKilled()
                                    ? String.valueOf(theirs.getMessage())
                                    : mine + "\n" + theirs.getMessage())
                            .orElse(mine));
        }
    }

    private void compare(Perftest programs, BenchStep step, int number, boolean serves)
            throws IOException, InterruptedException {
        try {
            figures.add(withoutTrigon(programs, step, number, serves));
        } catch (CommandFailure e) {
            problems.add(String.valueOf(e.getMessage()));
        }
    }

    /** Over the RDMA link that Trigon has just used. */
    private Perftest.Figures withoutTrigon(Perftest programs, BenchStep step, int number, boolean serves)
            throws IOException, InterruptedException {
        List<String> used = Network.links(host.lastWays());
        LocalLink link = links.stream()
                .filter(each -> each.kind() == LinkKind.RDMA && used.contains(each.toString()))
                .findFirst()
                .orElseThrow(() -> new CommandFailure("--perftest: Trigon used " + String.join(", ", used)
                        + ", which is no RDMA link; \"trigon links\" says which there are"));
        Meeting meeting = meetings.ofPerftest(step, number);
        return programs.measure(link, step, serves ? Optional.empty() : Optional.of(meeting.host()), meeting.port());
    }

    /** Tells whether a step has failed. */
    boolean hasFailed() {
        return rows.stream().anyMatch(BenchRow::hasFailed);
    }

    /** Compares what has been measured with what this machine's links promise. */
    BenchResult result(RankNames names) {
        List<Promise.Carried> carried = rows.stream()
                .flatMap(row -> row.measured().stream()
                        .map(each -> new Promise.Carried(each, Set.copyOf(Network.links(row.ways())))))
                .toList();
        return new BenchResult(
                names, rows, figures, List.copyOf(problems), Promise.of(carried, meetings.areHere(), links, names));
    }
}
