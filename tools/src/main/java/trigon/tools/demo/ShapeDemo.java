package trigon.tools.demo;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import trigon.cluster.json.Json;
import trigon.tools.console.Console;
import trigon.tools.console.Count;
import trigon.tools.demo.DemoCluster.Links;
import trigon.tools.demo.DemoRanks.Rank;

/**
 * All-reduces, or messages from each to each, over the cables of a shape.
 *
 * @param layout the shape, and the cable that is left out
 * @param order the nodes by their ranks
 */
record ShapeDemo(
        String layout, Links links, String order, Test test, long bytes, int iterations, String handshakeTimeout) {

    /** A rank's connections, and its result but for the size, which is said before. */
    private static final Pattern CONNECTION = Pattern.compile("NET/Trigon : ((?:sends to|receives from|topology:) .*)");

    private static final Pattern RESULT = Pattern.compile("rank \\d+: \\d+ bytes, (.* wrong)");

    /** Order in which buffers go around. */
    enum Test {
        RING,
        /** Messages from each to each other. */
        ALL_TO_ALL;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /**
     * Runs it.
     *
     * @param ranks are closed at the end
     * @return the result, for JSON
     */
    Map<String, Object> run(DemoRanks ranks, Console console, DemoCluster cluster)
            throws IOException, InterruptedException {
        introduce(console, cluster);
        Path fabric = Path.of("/dev/shm/trigon-demo-" + ProcessHandle.current().pid());
        String options = "--test %s --bytes %d --iterations %d".formatted(test, bytes, iterations);
        boolean simulated = links == Links.SIMULATED;
        try (ranks) {
            cluster.write(ranks.settings(), "timeout: " + handshakeTimeout);
            for (int i = 0; i < order.length(); i++) {
                char node = order.charAt(i);
                ranks.start(
                        node,
                        order.length(),
                        simulated ? List.of(ranks.home() + "/libexec/training/fake-sysfs.sh", "simulated") : List.of(),
                        simulated ? variables(ranks, node, cluster.devices(node), fabric) : Map.of(),
                        List.of(options.split(" ", -1)));
            }
            return report(console, ranks.haveSucceeded(console), ranks.all());
        } finally {
            Files.deleteIfExists(fabric);
            Files.deleteIfExists(Path.of(fabric + ".locks"));
        }
    }

    /** Says what the run does, and over which cables. */
    void introduce(Console console, DemoCluster cluster) {
        console.say("== %s, ranks %s, %s links".formatted(layout, order, links));
        console.say("   %d nodes, %d bytes, %s".formatted(order.length(), bytes, Count.of(iterations, "iteration")));
        cluster.entries().forEach(entry -> console.paragraph(entry, DemoCommand.INDENT));
    }

    private Map<String, Object> report(Console console, boolean right, List<Rank> ranks) throws IOException {
        List<Map<String, Object>> said = new ArrayList<>();
        for (Rank rank : ranks) {
            List<String> connections = rank.found(CONNECTION);
            List<String> results = rank.found(RESULT);
            console.say("-- rank %d (node %s)".formatted(rank.number(), rank.node()));
            connections.forEach(each -> console.paragraph("   " + each, DemoCommand.INDENT));
            results.forEach(each -> console.paragraph(
                    "   " + (test == Test.RING ? "all-reduce" : test) + ": " + each, DemoCommand.INDENT));
            Map<String, Object> object = Json.object("rank", rank.number(), "node", "" + rank.node());
            object.put("good", rank.process().exitValue() == 0);
            object.put("connections", connections);
            results.stream().findFirst().ifPresent(result -> object.put("result", result));
            said.add(object);
        }
        return Json.object(
                "good", right,
                "layout", layout,
                "links", links.toString(),
                "order", order,
                "test", test.toString(),
                "bytes", bytes,
                "iterations", iterations,
                "ranks", said);
    }

    private static Map<String, String> variables(DemoRanks ranks, char node, String devices, Path fabric) {
        String libraries = ranks.home() + "/libexec/simulated";
        String others = ranks.environment().getOrDefault("LD_LIBRARY_PATH", "");
        return Map.of(
                "TMPDIR",
                String.valueOf(ranks.settings().getParent()),
                "SIMVERBS_FABRIC",
                fabric.toString(),
                "SIMVERBS_RING",
                "262144",
                "SIMVERBS_NODE",
                Character.toString(node),
                "SIMVERBS_DEVICES",
                devices,
                "LD_LIBRARY_PATH",
                others.isEmpty() ? libraries : libraries + ":" + others);
    }
}
