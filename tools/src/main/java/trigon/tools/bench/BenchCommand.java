package trigon.tools.bench;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import trigon.cluster.json.JsonObject;
import trigon.cluster.machine.Machine;
import trigon.config.file.ConfigLoader;
import trigon.system.file.Folder;
import trigon.tools.bench.BenchStep.Kind;
import trigon.tools.command.ToolCommand;
import trigon.tools.console.CommandFailure;
import trigon.tools.console.Console;
import trigon.tools.console.Time;
import trigon.tools.console.UserFiles;
import trigon.tools.nodes.ReachOptions;

/** {@code trigon bench}: messages and all-reduces through the real plugin, size by size. */
@Command(
        name = "bench",
        description = {
            "Measure the speed of messages and all-reduces.",
            "Uses the real plugin through its C interface, without GPUs, and checks every element.",
            "Without options, all ranks run on this machine. With --nodes, one rank runs on each node: this node is"
                    + " measured with each other one, then all together. Each row names its network. A pair that"
                    + " fails is a row with its reason, and the others go on; the exit status is then 1. If ssh"
                    + " cannot reach the nodes, start the command on each at the same time, with the same options"
                    + " except --rank: trigon bench --meet 10.0.0.1:7000 --ranks 2 --rank 0"
        })
public final class BenchCommand extends ToolCommand {

    private static final String DECODE = "--decode";
    private static final int MAX_RANKS = 64;
    private static final int MAX_LOCAL_RANKS = 8;
    private static final int USUAL_RANKS = 2;
    private static final int MAX_CHANNELS = 32;
    private static final int MAX_TIMEOUT = 86_000;

    private final Time time;
    private final InputStream input;

    @Option(
            names = "--ranks",
            paramLabel = "N",
            description = "Number of ranks; with several nodes, one on each. Default: 2")
    private int ranks;

    @Option(
            names = "--nodes",
            split = ",",
            paramLabel = "NODE",
            description = "The nodes, by their ssh names; one rank runs on each. This machine's host name must be"
                    + " among them.")
    private List<String> nodes = List.of();

    @Mixin
    private ReachOptions reach = new ReachOptions();

    @Option(
            names = "--meet",
            paramLabel = "HOST:PORT",
            description = "Address and port on which rank 0 listens; the following ports are used, too. Default"
                    + " with --nodes: the address from which this machine reaches the next node, port 27600.")
    private String meet = "";

    @Option(names = "--rank", paramLabel = "R", description = "With --meet: the number of this rank, from 0.")
    private int rank = -1;

    @Option(
            names = "--pairs",
            split = ",",
            paramLabel = "HOST",
            description = "Instead of --meet and --ranks: the addresses of all ranks, by their numbers. Every two of"
                    + " them are measured, and then all together; start the command on each.")
    private List<String> pairs = List.of();

    @Option(
            names = "--sizes",
            split = ",",
            paramLabel = "SIZE",
            description = "Bytes, with K, M or G; multiples of 4 up to 1G. Default: 4K,64K,1M,16M; with --decode"
                    + " 4K,8K,16K,32K,64K")
    private List<String> sizes = List.of();

    @Option(
            names = "--channels",
            split = ",",
            paramLabel = "N",
            description = "Connections at once between two neighbours, 1 to 32, as NCCL has them by its channels;"
                    + " several by commas. Default: 1")
    private List<Integer> channels = List.of(1);

    @Option(
            names = DECODE,
            description = "Measure all-reduces as a model has them that makes one token after the other: short ones,"
                    + " 100 in a row.")
    private boolean decode;

    @Option(names = "--timeout", paramLabel = "S", description = "Time limit in seconds for each step. Default: 120")
    private int timeout = 120;

    @Option(
            names = "--perftest",
            description = "With several nodes: also run perftest's ib_write_lat and ib_write_bw over the same RDMA"
                    + " link.")
    private boolean perftest;

    @Option(
            names = "--submit",
            paramLabel = "FILE",
            description = "Also write a file for others: figures, NICs and versions, without names or addresses.")
    private Optional<Path> submit = Optional.empty();

    @Option(names = "--json", description = "The result as JSON, schema trigon.bench/1.")
    private boolean json;

    @Option(names = StepPrograms.UNTIL_END_OF_INPUT, hidden = true, description = "Exit when standard input closes.")
    private boolean untilEndOfInput;

    public BenchCommand(Machine machine, Console console) {
        this(machine, console, new FileInputStream(FileDescriptor.in), Time.SYSTEM);
    }

    /** With another standard input, and another time to wait for the failures of others. */
    BenchCommand(Machine machine, Console console, InputStream input, Time time) {
        super(machine, console);
        this.input = input;
        this.time = time;
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        List<Long> bytes = check();
        submit.ifPresent(UserFiles::checkWritable);
        ConfigLoader.load(environment(), machine.hostName()); // wrong settings are said once, not by each rank
        if (nodes.isEmpty()) {
            rank = Math.max(rank, 0);
        } else {
            ranks = nodes.size();
            rank = 0;
        }
        Kind together = decode ? Kind.DECODE : Kind.ALL_REDUCE;
        List<BenchStep> steps = BenchStep.over(
                channels,
                pairs.isEmpty()
                        ? BenchStep.of(ranks, isAlone(), together, bytes)
                        : BenchStep.ofPairs(ranks, together, bytes));
        StepPrograms programs = new StepPrograms();
        Path folder = Files.createTempDirectory("trigon-bench");
        try (RemoteRanks others = new RemoteRanks(time, folder, programs::stop)) {
            Meetings meetings = meetings(folder, steps.size());
            BenchHost host = new BenchHost(home(), environment(), folder, patience(), programs);
            Optional<Perftest> without = perftest
                    ? Optional.of(new Perftest(machine.environment(), folder, timeout, programs))
                    : Optional.empty();
            if (untilEndOfInput) {
                programs.endWith(input);
            }
            BenchRun run = new BenchRun(machine, console, programs, host, without, meetings);
            for (int other = 1; other <= otherNodes().size(); other++) {
                String node = otherNodes().get(other - 1);
                others.start(node, command(node, other, meetings));
            }
            run.run(steps, rank, others);
            List<String> failures = new ArrayList<>();
            OptionalInt limit = run.hasFailed() ? OptionalInt.empty() : OptionalInt.of(timeout);
            List<JsonObject> theirs = others.results(limit, failures);
            console.done();
            return show(run.result(byRank()).with(theirs, failures));
        } finally {
            console.done();
            Folder.delete(folder);
        }
    }

    /** Other ranks wait while rank 0 is with those before them. */
    private int patience() {
        return rank == 0 ? timeout : Math.min(timeout * ranks, MAX_TIMEOUT);
    }

    /** Tells whether all ranks are on this machine. */
    private boolean isAlone() {
        return meet.isEmpty() && nodes.isEmpty() && pairs.isEmpty();
    }

    /** All nodes, of which this machine is the first; empty if they are unknown. */
    private List<String> byRank() {
        List<String> all = new ArrayList<>(nodes);
        if (all.remove(machine.hostName())) {
            all.addFirst(machine.hostName());
        }
        return all;
    }

    private List<String> otherNodes() {
        return byRank().stream().skip(1).toList();
    }

    private Meetings meetings(Path folder, int steps) {
        if (isAlone() || !pairs.isEmpty()) {
            return new Meetings(folder, steps, pairs, Meetings.DEFAULT_PORT, !pairs.isEmpty());
        }
        if (!meet.isEmpty()) {
            Meetings meetings = Meetings.parse(folder, steps, meet)
                    .orElseThrow(() -> wrong(
                            "--meet is \"" + meet + "\": must be HOST:PORT, with some free ports from that one on"));
            meetings.flaw().ifPresent(flaw -> {
                throw new CommandFailure("--meet is " + meet + ": " + flaw);
            });
            return meetings;
        }
        try {
            return new Meetings(folder, steps, Meetings.hostsFor(otherNodes()), Meetings.DEFAULT_PORT);
        } catch (IOException e) {
            throw new CommandFailure("from where this machine reaches " + String.join(", ", otherNodes())
                    + " is not known (" + UserFiles.reason(e)
                    + "): give an address of this machine that the nodes can reach, by --meet HOST:PORT");
        }
    }

    /** The command that runs another rank on its node. */
    private List<String> command(String node, int other, Meetings meetings) {
        String arguments = "bench --json --meet %s --ranks %d --sizes %s --channels %s --timeout %d%s%s %s --rank %d"
                .formatted(
                        meetings.of(other),
                        ranks,
                        String.join(",", sizes),
                        channels.stream().map(String::valueOf).collect(Collectors.joining(",")),
                        timeout,
                        perftest ? " --perftest" : "",
                        decode ? " " + DECODE : "",
                        StepPrograms.UNTIL_END_OF_INPUT,
                        other);
        List<String> command = new ArrayList<>(reach.via());
        command.add(node);
        command.addAll(reach.trigonWithSettings(machine, List.of(arguments.split(" ", -1))));
        return command;
    }

    private List<Long> check() {
        if (!pairs.isEmpty() && (!nodes.isEmpty() || !meet.isEmpty() || ranks != 0)) {
            throw wrong("--pairs names all ranks: leave out --nodes, --meet and --ranks");
        }
        if (!nodes.isEmpty()) {
            checkNodes();
        } else if (perftest && isAlone()) {
            throw wrong("--perftest goes with --nodes or --meet: on one machine there is no link to try");
        } else if (isAlone() != (rank < 0)) {
            throw wrong("--meet and --rank belong together: the address where the ranks meet, and the number of"
                    + " this rank");
        }
        if (ranks == 0) {
            ranks = pairs.isEmpty() ? USUAL_RANKS : pairs.size();
        }
        int most = isAlone() ? MAX_LOCAL_RANKS : MAX_RANKS;
        if (ranks < 2 || ranks > most) {
            throw wrong("--ranks is " + ranks + ": must be 2 to " + most);
        }
        if (rank >= ranks) {
            throw wrong("--rank is " + rank + ": must be 0 to " + (ranks - 1));
        }
        if (timeout < 1 || timeout > MAX_TIMEOUT) {
            throw wrong("--timeout is " + timeout + ": must be 1 to 86000");
        }
        if (!channels.stream().allMatch(number -> number >= 1 && number <= MAX_CHANNELS)) {
            throw wrong("--channels has " + channels + ": must be 1 to " + MAX_CHANNELS);
        }
        if (sizes.isEmpty()) {
            sizes = decode ? List.of("4K", "8K", "16K", "32K", "64K") : List.of("4K", "64K", "1M", "16M");
        }
        List<Long> bytes = new ArrayList<>();
        for (String size : sizes) {
            bytes.add(BenchStep.parseSize(size)
                    .orElseThrow(() -> wrong("--sizes has \"" + size + "\": must be a multiple of 4 bytes, 4 to 1G")));
        }
        return bytes;
    }

    private void checkNodes() {
        if (rank >= 0 || ranks != 0) {
            throw wrong("--nodes determines the ranks: leave out --ranks and --rank");
        }
        if (nodes.size() < 2 || nodes.size() > MAX_RANKS || Set.copyOf(nodes).size() < nodes.size()) {
            throw wrong("--nodes has " + String.join(",", nodes) + ": must be 2 to " + MAX_RANKS + " different nodes");
        }
        for (String node : nodes) {
            if (!ReachOptions.isName(node)) {
                throw wrong(ReachOptions.noName(node));
            }
        }
        if (!nodes.contains(machine.hostName())) {
            throw wrong("--nodes has " + String.join(",", nodes) + ": this machine must be one of them: "
                    + machine.hostName());
        }
    }

    /** Tells the plugin, as a launcher would, that all ranks are here; the loopback may be used then. */
    private Map<String, String> environment() {
        Map<String, String> environment = new HashMap<>(machine.environment());
        if (isAlone()) {
            environment.put("WORLD_SIZE", Integer.toString(ranks));
            environment.put("LOCAL_WORLD_SIZE", Integer.toString(ranks));
        }
        return environment;
    }

    private int show(BenchResult result) {
        submit.ifPresent(file -> result.submit(machine, file));
        if (json) {
            printJson("trigon.bench/1", result.json());
        } else {
            result.print(console);
        }
        return result.isGood() ? 0 : 1;
    }
}
