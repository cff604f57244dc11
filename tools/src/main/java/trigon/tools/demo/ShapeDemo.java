package trigon.tools.demo;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import trigon.cluster.json.Json;
import trigon.cluster.machine.Machine;
import trigon.tools.console.Console;
import trigon.tools.console.Count;
import trigon.tools.demo.DemoCluster.Links;
import trigon.tools.demo.DemoRanks.Rank;
import trigon.tools.machine.Distribution;

/**
 * All-reduces, or messages from each to each, over the cables of a shape.
 *
 * @param layout the shape, and the cable that is left out
 * @param order the nodes by their ranks
 */
record ShapeDemo(
        String layout, Links links, String order, Test test, long bytes, int iterations, String handshakeTimeout) {

    private static final int KEY_BYTES = 64;

    /** A rank's connections, and its result but for the size, which is said before. */
    private static final Pattern CONNECTION = Pattern.compile("NET/Trigon : ((?:sends to|receives from|topology:) .*)");

    private static final Pattern RESULT = Pattern.compile("rank \\d+: \\d+ bytes, (.* wrong)");

    /** Order in which buffers go around. */
    enum Test {
        /** An all-reduce. */
        RING,
        /** Messages from each to each other. */
        ALL_TO_ALL;

        /** As it is typed. */
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /**
     * Runs it.
     *
     * @param folder for settings and logs
     * @return the result, for JSON
     */
    Map<String, Object> run(Machine machine, Console console, DemoCluster cluster, Path folder)
            throws IOException, InterruptedException {
        introduce(console, cluster);
        Path fabric = Path.of("/dev/shm/trigon-demo-" + ProcessHandle.current().pid());
        String options = "--test %s --bytes %d --iterations %d".formatted(test, bytes, iterations);
        try (DemoRanks ranks = new DemoRanks(machine, folder)) {
            cluster.write(
                    ranks.settings(), "timeout: %s, clusterKeyFile: '%s'".formatted(handshakeTimeout, key(folder)));
            for (int i = 0; i < order.length(); i++) {
                char node = order.charAt(i);
                ranks.start(
                        node,
                        order.length(),
                        links == Links.SIMULATED ? devices(machine) : List.of(),
                        links == Links.SIMULATED
                                ? variables(machine, node, cluster.devices(node), fabric, folder)
                                : Map.of(),
                        List.of(options.split(" ", -1)));
            }
            boolean right = ranks.haveSucceeded(console);
            return report(console, right, ranks.all());
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

    /** Routes over two relays take a key. */
    private static Path key(Path folder) throws IOException {
        byte[] key = new byte[KEY_BYTES];
        new SecureRandom().nextBytes(key);
        Path file = Files.createFile(
                folder.resolve("cluster.key"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        return Files.write(file, key);
    }

    private static List<String> devices(Machine machine) {
        return List.of(Distribution.homeFor("demo", machine) + "/libexec/training/fake-sysfs.sh", "simulated");
    }

    private static Map<String, String> variables(Machine machine, char node, String devices, Path fabric, Path folder) {
        String libraries = Distribution.homeFor("demo", machine) + "/libexec/simulated";
        String others = machine.environment().getOrDefault("LD_LIBRARY_PATH", "");
        return Map.ofEntries(
                Map.entry("TMPDIR", folder.toString()),
                Map.entry("SIMVERBS_FABRIC", fabric.toString()),
                Map.entry("SIMVERBS_RING", "262144"),
                Map.entry("SIMVERBS_NODE", Character.toString(node)),
                Map.entry("SIMVERBS_DEVICES", devices),
                Map.entry("LD_LIBRARY_PATH", others.isEmpty() ? libraries : libraries + ":" + others));
    }
}
