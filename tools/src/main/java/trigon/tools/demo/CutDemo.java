package trigon.tools.demo;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import trigon.cluster.json.Json;
import trigon.tools.console.CommandFailure;
import trigon.tools.console.Console;
import trigon.tools.demo.DemoRanks.Rank;
import trigon.tools.machine.OwnRights;

/**
 * A triangle with two cables between each two nodes. One cable of a and b is cut under a running all-reduce, and comes
 * back.
 *
 * @param spaces true if nodes are network namespaces, whose interfaces are taken down; else all are here, and the
 *     connections of the cable are ended
 * @param bytes of the all-reduce
 * @param away time for which the cable is cut
 */
record CutDemo(boolean spaces, long bytes, Duration away) {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(100);
    private static final Duration BEFORE_THE_CUT = Duration.ofSeconds(2);
    private static final Duration AFTER_THE_RETURN = Duration.ofSeconds(1);

    /** The group has the subnet. */
    private static final Pattern FIRST_LINK = Pattern.compile("sends to b \\S+ via \\S+ (\\d+\\.\\d+\\.\\d+)\\.1/");

    private static final Pattern FAILOVER = Pattern.compile("(the connection to b goes on over)");
    private static final Pattern FAILBACK = Pattern.compile("(the connection to b returns to)");
    private static final Pattern CHANGE =
            Pattern.compile("NET/Trigon : (.*(?:goes on over|returns to|path to . down|up again).*)");
    private static final Pattern RESULT = Pattern.compile("rank \\d: \\d+ bytes, (.* wrong)");

    /** The nodes and their cables, whose ends have addresses in the nodes' namespaces, or on the loopback interface. */
    static DemoCluster cluster(boolean spaces) {
        return DemoCluster.doubleTriangle(spaces ? 10 : 127);
    }

    /**
     * Runs it.
     *
     * @param ranks are closed at the end
     * @return the result, for JSON
     */
    Map<String, Object> run(DemoRanks ranks, Console console) throws IOException, InterruptedException {
        DemoCluster cluster = cluster(spaces);
        try (ranks) {
            cluster.write(ranks.settings(), "");
            Path until = ranks.settings().resolveSibling("until");
            for (char node : cluster.nics().keySet()) {
                ranks.start(
                        node,
                        cluster.nics().size(),
                        spaces ? List.of("ip", "netns", "exec", "" + node) : List.of(),
                        Map.of(),
                        List.of("--bytes", "" + bytes, "--iterations", "100000000", "--until", until.toString()));
            }
            try {
                cut(console, ranks);
                Files.createFile(until);
            } catch (CommandFailure e) {
                for (Rank rank : ranks.all()) {
                    DemoRanks.sayEnd(rank, console);
                }
                return Json.object("good", false, "failed", String.valueOf(e.getMessage()));
            }
            return ranks.haveSucceeded(console)
                    ? report(console, ranks.all())
                    : Json.object("good", false, "failed", "a rank has failed");
        }
    }

    private void cut(Console console, DemoRanks ranks) throws IOException, InterruptedException {
        console.paragraph(
                "== a triangle with two cables between each two nodes, %s, over TCP: %d bytes"
                        .formatted(spaces ? "in network namespaces" : "on loopback addresses", bytes),
                DemoCommand.INDENT);
        if (!spaces) {
            console.paragraph(
                    "   %s cannot create network namespaces here, so the demo closes a cable's connections instead of"
                                    .formatted(System.getProperty("user.name"))
                            + " taking an interface down."
                            + (OwnRights.isRoot() ? "" : " With sudo, it cuts a cable and brings it back."),
                    DemoCommand.INDENT);
        }
        String first = await("the connections were up", FIRST_LINK, ranks);
        String cable = "ab" + first.split("\\.", -1)[1];
        Thread.sleep(BEFORE_THE_CUT);
        if (spaces) {
            console.say("-- cable %s (%s.0/24) is cut: a's interface is down".formatted(cable, first));
            set(cable, "down");
        } else {
            console.say("-- the TCP connections of cable %s (%s.0/24) are ended".formatted(cable, first));
            Path written = Files.writeString(ranks.settings().resolveSibling("new"), first + ".1\n");
            Files.move(written, ranks.cuts('a'));
        }
        await("a moved to another path", FAILOVER, ranks);
        if (spaces) {
            Thread.sleep(away);
            console.say("-- it is back after %d s".formatted(away.toSeconds()));
            set(cable, "up");
            await("the return", FAILBACK, ranks);
        }
        Thread.sleep(AFTER_THE_RETURN);
    }

    private static void set(String cable, String state) throws IOException, InterruptedException {
        Process ip = new ProcessBuilder("ip", "-n", "a", "link", "set", cable, state)
                .inheritIO()
                .start();
        if (ip.waitFor() != 0) {
            throw new CommandFailure("ip cannot take %s %s".formatted(cable, state));
        }
    }

    /** Waits until the log of node a, the first, has such a line; returns the pattern's group. */
    private static String await(String what, Pattern line, DemoRanks ranks) throws IOException, InterruptedException {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (System.nanoTime() - end < 0) {
            Matcher found = line.matcher(Files.readString(ranks.all().getFirst().log()));
            if (found.find()) {
                return found.group(1);
            }
            if (!ranks.all().stream().allMatch(rank -> rank.process().isAlive())) {
                throw new CommandFailure("a rank has ended before " + what);
            }
            Thread.sleep(BETWEEN_LOOKS);
        }
        throw new CommandFailure(what + ": not within " + PATIENCE.toSeconds() + " s");
    }

    private Map<String, Object> report(Console console, List<Rank> ranks) throws IOException {
        List<Map<String, Object>> said = new ArrayList<>();
        for (Rank rank : ranks) {
            // without the reason why a path is lost: the cut is known
            List<String> changes = rank.found(CHANGE).stream()
                    .map(each -> each.replaceAll(
                            "(path to . down|after [0-9]+ ms): .*(; failing|; [0-9]+ messages)", "$1$2"))
                    .toList();
            changes.forEach(change -> console.paragraph("   " + rank.node() + ": " + change, DemoCommand.INDENT));
            Map<String, Object> object = Json.object("rank", rank.number(), "node", "" + rank.node());
            object.put("changes", changes);
            rank.found(RESULT).stream().findFirst().ifPresent(result -> object.put("result", result));
            said.add(object);
        }
        said.forEach(rank -> console.say("   rank %s: %s".formatted(rank.get("rank"), rank.get("result"))));
        console.say("The job went on%s. Every element was right on every rank."
                .formatted(spaces ? ", and returned" : " over new connections"));
        return Json.object("good", true, "namespaces", spaces, "bytes", bytes, "ranks", said);
    }
}
