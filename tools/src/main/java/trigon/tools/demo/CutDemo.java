package trigon.tools.demo;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import trigon.tools.console.CommandFailure;
import trigon.tools.console.Console;
import trigon.tools.console.Json;
import trigon.tools.demo.Ranks.Rank;
import trigon.tools.machine.Machine;
import trigon.tools.machine.NcclHost;
import trigon.tools.machine.OwnRights;

/**
 * A triangle with two cables between each two nodes. One cable of a and b is cut under a running all-reduce, and comes
 * back. One thread.
 */
final class CutDemo {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(100);
    private static final Duration BEFORE_THE_CUT = Duration.ofSeconds(2);
    private static final Duration AFTER_THE_RETURN = Duration.ofSeconds(1);
    private static final int WARNINGS = 20;

    private static final List<Character> NODES = List.of('a', 'b', 'c');
    private static final List<String> PAIRS = List.of("ab", "ac", "bc");

    /** The group has the subnet. */
    private static final Pattern FIRST_LINK = Pattern.compile("sends to b \\S+ via \\S+ (\\d+\\.\\d+\\.\\d+)\\.1/");

    private static final Pattern FAILOVER = Pattern.compile("(the connection to b goes on over)");
    private static final Pattern FAILBACK = Pattern.compile("(the connection to b returns to)");
    private static final Pattern WARNING = Pattern.compile("FAILED|WARN");
    private static final Pattern CHANGE =
            Pattern.compile("NET/Trigon : (.*(?:goes on over|returns to|path to . down|up again).*)");
    private static final Pattern RESULT = Pattern.compile("(rank \\d: )\\d+ bytes, (.* wrong)");

    private final Console console;
    private final Report report;
    private final boolean spaces;
    private final long bytes;
    private final Duration away;
    private final Path folder;
    private final List<Map<String, Object>> runs;

    /**
     * Not yet running.
     *
     * @param spaces whether nodes are network namespaces, whose interfaces are taken down; else all are here, and the
     *     connections of the cable are ended
     * @param bytes of the all-reduce
     * @param away how long the cable is cut
     * @param folder for settings and logs
     * @param runs gets the run's result, for JSON
     */
    CutDemo(Console console, boolean spaces, long bytes, Duration away, Path folder, List<Map<String, Object>> runs) {
        this.runs = runs;
        this.console = console;
        this.report = new Report(console);
        this.spaces = spaces;
        this.bytes = bytes;
        this.away = away;
        this.folder = folder;
    }

    /** Returns whether the connection moved and returned, and every element was right on every rank. */
    boolean run(Machine machine) throws IOException, InterruptedException {
        Path until = folder.resolve("until");
        List<String> options = List.of("--bytes", "" + bytes, "--iterations", "100000000", "--until", until.toString());
        try (CableNamespaces cables = new CableNamespaces();
                Ranks ranks = new Ranks(NcclHost.of(machine, "demo"), machine.environment(), folder, options)) {
            lay(cables).write(Ranks.settings(folder));
            for (char node : NODES) {
                ranks.start(node, NODES.size(), spaces ? cables.by(node) : List.of(), Map.of());
            }
            try {
                cut(cables, ranks.all());
                Files.createFile(until);
                for (Rank rank : ranks.all()) {
                    if (!rank.hasSucceeded()) {
                        throw new CommandFailure("a rank has failed");
                    }
                }
            } catch (CommandFailure e) {
                warn(e, ranks.all());
                runs.add(Json.object("good", false, "failed", String.valueOf(e.getMessage())));
                return false;
            }
            report(ranks.all());
            return true;
        }
    }

    /** Two cables between each two nodes, each a subnet. */
    private ClusterFile lay(CableNamespaces cables) throws IOException, InterruptedException {
        SortedMap<Character, List<Nic>> nics = new TreeMap<>();
        for (char node : NODES) {
            if (spaces) {
                cables.node(node);
            }
        }
        for (int number = 1; number <= 2; number++) {
            for (int i = 0; i < PAIRS.size(); i++) {
                String pair = PAIRS.get(i);
                if (spaces) {
                    cables.cable(pair + number, pair.charAt(0), pair.charAt(1));
                }
                for (int end = 0; end < 2; end++) {
                    Nic nic = new Nic("", "%d.78.%d%d.%d/24".formatted(spaces ? 10 : 127, i + 1, number, end + 1));
                    nics.computeIfAbsent(pair.charAt(end), _ -> new ArrayList<>())
                            .add(nic);
                    if (spaces) {
                        cables.address(pair.charAt(end), pair + number, nic.address());
                        cables.set(pair.charAt(end), pair + number, true);
                    }
                }
            }
        }
        return new ClusterFile("software", "", nics);
    }

    private void cut(CableNamespaces cables, List<Rank> ranks) throws IOException, InterruptedException {
        report.say("== a triangle with two cables between each two nodes, %s, over TCP: %d bytes"
                .formatted(spaces ? "in network namespaces" : "on loopback addresses", bytes));
        if (!spaces) {
            report.say(
                    "   %s cannot create network namespaces here, so the demo closes a cable's connections instead of"
                                    .formatted(System.getProperty("user.name"))
                            + " taking an interface down."
                            + (OwnRights.isRoot() ? "" : " With sudo, it cuts a cable and brings it back."));
        }
        String first = await("the connections were up", FIRST_LINK, ranks);
        String cable = "ab" + first.charAt(first.length() - 1);
        Thread.sleep(BEFORE_THE_CUT);
        if (spaces) {
            report.say("-- cable %s (%s.0/24) is cut: a's interface is down".formatted(cable, first));
            cables.set('a', cable, false);
        } else {
            report.say("-- the TCP connections of cable %s (%s.0/24) are ended".formatted(cable, first));
            Path written = Files.writeString(folder.resolve("new"), first + ".1\n");
            Files.move(written, Ranks.cuts(folder, 'a'));
        }
        await("a moved to another path", FAILOVER, ranks);
        if (spaces) {
            Thread.sleep(away);
            report.say("-- it is back after %d s".formatted(away.toSeconds()));
            cables.set('a', cable, true);
            await("the return", FAILBACK, ranks);
        }
        Thread.sleep(AFTER_THE_RETURN);
    }

    /** Waits until the log of node a, the first, has such a line; returns the pattern's group. */
    private static String await(String what, Pattern line, List<Rank> ranks) throws IOException, InterruptedException {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (System.nanoTime() - end < 0) {
            Matcher found = line.matcher(Files.readString(ranks.getFirst().log()));
            if (found.find()) {
                return found.group(1);
            }
            if (!ranks.stream().allMatch(rank -> rank.process().isAlive())) {
                throw new CommandFailure("a rank has ended before " + what);
            }
            Thread.sleep(BETWEEN_LOOKS);
        }
        throw new CommandFailure(what + ": not within " + PATIENCE.toSeconds() + " s");
    }

    /** Without why a path is lost: whoever watches has cut it. */
    private static String plain(String change) {
        return change.replaceAll("(path to . down|after [0-9]+ ms): .*(; failing|; [0-9]+ messages)", "$1$2");
    }

    private static List<String> found(Rank rank, Pattern line, Function<MatchResult, String> text) throws IOException {
        return rank.lines().map(line::matcher).filter(Matcher::find).map(text).toList();
    }

    private void warn(CommandFailure failure, List<Rank> ranks) throws IOException {
        List<String> warnings = new ArrayList<>();
        for (Rank rank : ranks) {
            warnings.addAll(rank.lines().filter(WARNING.asPredicate()).toList());
        }
        console.err().println("FAILED: " + failure.getMessage() + ". Warnings of the logs:");
        warnings.stream().skip(Math.max(0, warnings.size() - WARNINGS)).forEach(console.err()::println);
    }

    private void report(List<Rank> ranks) throws IOException {
        List<Map<String, Object>> said = new ArrayList<>();
        for (Rank rank : ranks) {
            List<String> changes = found(rank, CHANGE, change -> plain(change.group(1)));
            changes.forEach(change -> report.say("   %s: %s".formatted(rank.node(), change)));
            said.add(Json.object(
                    "rank",
                    rank.number(),
                    "node",
                    Character.toString(rank.node()),
                    "changes",
                    changes,
                    "result",
                    found(rank, RESULT, result -> result.group(2)).stream().findFirst()));
        }
        for (Rank rank : ranks) {
            found(rank, RESULT, result -> result.group(1) + result.group(2)).forEach(line -> report.say("   " + line));
        }
        runs.add(Json.object("good", true, "namespaces", spaces, "bytes", bytes, "ranks", said));
        report.say("The job went on%s. Every element was right on every rank."
                .formatted(spaces ? ", and returned" : " over new connections"));
    }
}
