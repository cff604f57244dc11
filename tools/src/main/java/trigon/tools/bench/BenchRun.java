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
import trigon.tools.bench.BenchStep.Kind;
import trigon.tools.console.CommandFailure;
import trigon.tools.console.Console;
import trigon.verbs.LinkKind;

/**
 * This machine's part in the steps, one after the other. A step that fails is a row with its reason; the same ranks'
 * further sizes are left out. One thread.
 */
final class BenchRun {

    private final Console console;
    private final StepPrograms programs;
    private final BenchHost host;
    private final Optional<Perftest> perftest;
    private final Meetings meetings;
    private final List<LocalLink> links;
    private final Set<String> shared;
    private final List<BenchRow> rows = new ArrayList<>();
    private final List<Perftest.Figures> figures = new ArrayList<>();
    private final Set<String> problems = new LinkedHashSet<>();

    /** @param perftest to compare with; empty for none */
    BenchRun(
            Machine machine,
            Console console,
            StepPrograms programs,
            BenchHost host,
            Optional<Perftest> perftest,
            Meetings meetings) {
        this.console = console;
        this.programs = programs;
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
     * @throws CommandFailure if nothing could be measured, or the command that started this rank has ended
     */
    void run(List<BenchStep> steps, int rank, RemoteRanks others) throws IOException, InterruptedException {
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
            programs.begin();
            rows.add(row(step, i, here, others));
            programs.check();
        }
        if (rows.stream().allMatch(BenchRow::hasFailed)) {
            throw new CommandFailure(String.join(
                    "\n", rows.stream().map(BenchRow::failure).distinct().toList()));
        }
    }

    private BenchRow row(BenchStep step, int number, List<Integer> here, RemoteRanks others)
            throws IOException, InterruptedException {
        Optional<String> before = others.begin(step.ranks());
        if (before.isPresent()) {
            return BenchRow.failed(step, before.get());
        }
        try {
            String output = host.measure(step, here, meetings.of(step, number));
            List<String> ways = host.ways(here.getFirst());
            BenchRow row = BenchRow.measured(step, output, ways, Network.of(ways, links, shared));
            if (perftest.isPresent() && step.kind() == Kind.POINT_TO_POINT) {
                compare(perftest.get(), row, number, here.getFirst() == 0);
            }
            return row;
        } catch (CommandFailure own) {
            String mine = String.valueOf(own.getMessage());
            return BenchRow.failed(
                    step,
                    others.failure(step.ranks())
                            .map(theirs -> host.isKilled() ? theirs : mine + "\n" + theirs)
                            .orElse(mine));
        }
    }

    /** Runs perftest over the RDMA link that Trigon has just used. */
    private void compare(Perftest programs, BenchRow row, int number, boolean serves)
            throws IOException, InterruptedException {
        List<String> used = Network.links(row.ways());
        Optional<LocalLink> link = links.stream()
                .filter(each -> each.kind() == LinkKind.RDMA && used.contains(each.toString()))
                .findFirst();
        if (link.isEmpty()) {
            problems.add("--perftest: Trigon used " + String.join(", ", used)
                    + ", which is no RDMA link; \"trigon links\" says which there are");
            return;
        }
        try {
            Optional<String> server = serves ? Optional.empty() : Optional.of(meetings.host(row.step()));
            figures.add(programs.measure(link.get(), row.step(), server, meetings.perftestPort(number)));
        } catch (CommandFailure e) {
            problems.add(String.valueOf(e.getMessage()));
        }
    }

    /** Tells whether a step has failed. */
    boolean hasFailed() {
        return rows.stream().anyMatch(BenchRow::hasFailed);
    }

    /** Compares what has been measured with what this machine's links promise. */
    BenchResult result(List<String> nodes) {
        return new BenchResult(
                nodes, rows, figures, List.copyOf(problems), Verdict.of(rows, meetings.areHere(), links, nodes));
    }
}
