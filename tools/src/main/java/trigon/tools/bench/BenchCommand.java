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
import java.util.stream.IntStream;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import trigon.cluster.json.JsonObject;
import trigon.cluster.machine.Machine;
import trigon.config.file.ConfigLoader;
import trigon.system.file.Folder;
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

    private static final int MAX_RANKS = 64;
    private static final int MAX_LOCAL_RANKS = 8;
    private static final int USUAL_RANKS = 2;
    private static final int MAX_TIMEOUT = 86_000;

    /** One for Trigon, and one for each of perftest's programs. */
    private static final int PORTS_OF_A_STEP = 3;

    private final Time time;
    private final Caller caller;

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
            names = "--sizes",
            split = ",",
            paramLabel = "SIZE",
            description = "Bytes, with K, M or G; multiples of 4 up to 1G. Default: 4K,64K,1M,16M")
    private List<String> sizes = List.of("4K", "64K", "1M", "16M");

    @Option(names = "--timeout", paramLabel = "S", description = "Time limit in seconds for each step. Default: 120")
    private int timeout = 120;

    @Option(
            names = "--perftest",
            description = "With several nodes: also run perftest's ib_write_lat and ib_write_bw over the same RDMA"
                    + " link.")
    private boolean perftest;

    @Option(names = "--json", description = "The result as JSON, schema trigon.bench/1.")
    private boolean json;

    @Option(names = Caller.OPTION, hidden = true, description = "Exit when standard input closes.")
    private boolean untilEndOfInput;

    public BenchCommand(Machine machine, Console console) {
        this(machine, console, new FileInputStream(FileDescriptor.in), Time.SYSTEM);
    }

    /** With another standard input, and another time to wait for the failures of others. */
    BenchCommand(Machine machine, Console console, InputStream input, Time time) {
        super(machine, console);
        this.caller = new Caller(input);
        this.time = time;
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        List<Long> bytes = check();
        ConfigLoader.load(environment(), machine.hostName()); // wrong settings are said once, not by each rank
        if (nodes.isEmpty()) {
            rank = Math.max(rank, 0);
        } else {
            ranks = nodes.size();
            rank = 0;
        }
        List<BenchStep> steps = BenchStep.of(ranks, isAlone(), bytes);
        Path folder = Files.createTempDirectory("trigon-bench");
        try (RemoteRanks others = new RemoteRanks(time)) {
            Meetings meetings = new Meetings(folder, steps.size(), meetings(steps.size()));
            BenchHost host = new BenchHost(machine, environment(), folder, patience());
            Optional<Perftest> without =
                    perftest ? Optional.of(new Perftest(machine.environment(), folder, timeout)) : Optional.empty();
            Runnable stop = () -> {
                host.stop();
                without.ifPresent(Perftest::stop);
            };
            if (untilEndOfInput) {
                caller.watch(stop);
            }
            BenchRun run = new BenchRun(machine, console, host, without, meetings);
            if (!nodes.isEmpty()) {
                others.start(otherNodes(), machine, reach, optionsOfOthers(meetings), folder, stop);
            }
            run.run(steps, rank, others, caller);
            List<String> failures = new ArrayList<>();
            OptionalInt limit = run.hasFailed() ? OptionalInt.empty() : OptionalInt.of(timeout);
            List<JsonObject> theirs = others.results(limit, failures);
            console.done();
            return show(run.result(new RankNames(ranks, byRank())).with(theirs, failures));
        } finally {
            console.done();
            Folder.delete(folder);
        }
    }

    /** Other ranks wait while rank 0 is with those before them. */
    private int patience() {
        return rank == 0 ? timeout : Math.min(timeout * ranks, MAX_TIMEOUT);
    }

    /** All ranks are on this machine. */
    private boolean isAlone() {
        return meet.isEmpty() && nodes.isEmpty();
    }

    /** This machine is the first; empty if they are not known. */
    private List<String> byRank() {
        return nodes.isEmpty()
                ? List.of()
                : Stream.concat(Stream.of(machine.hostName()), otherNodes().stream())
                        .toList();
    }

    private List<String> otherNodes() {
        return nodes.stream().filter(node -> !node.equals(machine.hostName())).toList();
    }

    /** Where the other ranks find rank 0; empty if all are on this machine. */
    private List<Meeting> meetings(int steps) {
        if (isAlone()) {
            return List.of();
        }
        if (!meet.isEmpty()) {
            Meeting meeting = Meeting.parse(meet, PORTS_OF_A_STEP * steps)
                    .orElseThrow(() -> wrong(
                            "--meet is \"" + meet + "\": must be HOST:PORT, with some free ports from that one on"));
            meeting.flaw().ifPresent(flaw -> {
                throw new CommandFailure("--meet is " + meet + ": " + flaw);
            });
            return List.of(meeting);
        }
        try {
            return Meetings.withNodes(otherNodes());
        } catch (IOException e) {
            throw new CommandFailure("from where this machine reaches " + String.join(", ", otherNodes())
                    + " is not known (" + UserFiles.reason(e)
                    + "): give an address of this machine that the nodes can reach, by --meet HOST:PORT");
        }
    }

    private List<List<String>> optionsOfOthers(Meetings meetings) {
        String common = "--ranks %d --sizes %s --timeout %d%s %s"
                .formatted(ranks, String.join(",", sizes), timeout, perftest ? " --perftest" : "", Caller.OPTION);
        return IntStream.range(1, ranks)
                .mapToObj(other -> List.of(("--meet " + meetings.of(other) + " " + common).split(" ", -1)))
                .toList();
    }

    private List<Long> check() {
        if (!nodes.isEmpty()) {
            checkNodes();
        } else if (perftest && isAlone()) {
            throw wrong("--perftest goes with --nodes or --meet: on one machine there is no link to try");
        } else if (isAlone() != (rank < 0)) {
            throw wrong("--meet and --rank belong together: the address where the ranks meet, and the number of"
                    + " this rank");
        }
        if (ranks == 0) {
            ranks = USUAL_RANKS;
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
        List<Long> bytes = new ArrayList<>();
        for (String size : sizes) {
            bytes.add(Sizes.parse(size)
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
        if (json) {
            printJson("trigon.bench/1", result.json());
        } else {
            result.print(console);
        }
        return result.isGood() ? 0 : 1;
    }
}
