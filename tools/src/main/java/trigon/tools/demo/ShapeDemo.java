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
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import trigon.tools.console.Console;
import trigon.tools.console.Count;
import trigon.tools.console.Json;
import trigon.tools.demo.Ranks.Rank;
import trigon.tools.machine.Machine;
import trigon.tools.machine.NcclHost;

/** All-reduces, or messages from each to each, over the cables of a shape. One thread. */
final class ShapeDemo {

    private static final int LINES_OF_A_FAILURE = 25;
    private static final int KEY_BYTES = 64;

    /** What a rank says of its connections, and of the test but for its size, which is said before. */
    private static final Pattern CONNECTION = Pattern.compile("NET/Trigon : ((?:sends to|receives from|topology:) .*)");

    private static final Pattern RESULT = Pattern.compile("rank \\d+: \\d+ bytes, (.* wrong)");

    private final Machine machine;
    private final Console console;
    private final Report report;
    private final Layout layout;
    private final Job job;
    private final NcclHost host;
    private final List<Map<String, Object>> runs;

    /** What the ranks do. */
    record Job(Test test, long bytes, int iterations, String handshakeTimeout) {}

    /** How the buffers go around. */
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
     * Not yet running.
     *
     * @param runs gets each run's result, for JSON
     */
    ShapeDemo(Machine machine, Console console, Layout layout, Job job, List<Map<String, Object>> runs) {
        this.runs = runs;
        this.machine = machine;
        this.console = console;
        this.report = new Report(console);
        this.layout = layout;
        this.job = job;
        this.host = NcclHost.of(machine, "demo");
    }

    /**
     * Runs it once.
     *
     * @param reversed as in {@link Layout#file}
     * @param order the nodes by their ranks
     * @param folder for settings and logs
     * @return whether every element was right on every rank
     */
    boolean run(int reversed, String order, Path folder) throws IOException, InterruptedException {
        List<String> options = List.of(
                "--test", job.test().toString(), "--bytes", "" + job.bytes(), "--iterations", "" + job.iterations());
        Path fabric = Path.of("/dev/shm/trigon-demo-" + ProcessHandle.current().pid());
        try (Ranks ranks = new Ranks(host, machine.environment(), folder, options)) {
            ClusterFile file = layout.file(
                    reversed, "timeout: %s, clusterKeyFile: '%s'".formatted(job.handshakeTimeout(), key(folder)));
            file.write(Ranks.settings(folder));
            introduce(report, layout, job, reversed, order);
            if (layout.links() == DemoLinks.SIMULATED) {
                addAddresses(file);
            }
            for (int i = 0; i < order.length(); i++) {
                char node = order.charAt(i);
                if (layout.links() == DemoLinks.SIMULATED) {
                    ranks.start(node, order.length(), madeUpDevices(), deviceVariables(node, fabric, folder));
                } else {
                    ranks.start(node, order.length(), List.of(), Map.of());
                }
            }
            boolean right = end(ranks.all());
            runs.add(json(right, reversed, order, ranks.all()));
            return right;
        } finally {
            Files.deleteIfExists(fabric);
            Files.deleteIfExists(Path.of(fabric + ".locks"));
        }
    }

    /** Says what such a run does, and over which cables. */
    static void introduce(Report report, Layout layout, Job job, int reversed, String order) {
        report.say("== %s, cable order %d, ranks %s, %s links".formatted(layout, reversed, order, layout.links()));
        report.say("   %d nodes, %d bytes, %s"
                .formatted(order.length(), job.bytes(), Count.of(job.iterations(), "iteration")));
        layout.file(reversed, "").nodes().lines().forEach(report::say);
    }

    private boolean end(List<Rank> ranks) throws IOException, InterruptedException {
        boolean right = true;
        for (Rank rank : ranks) {
            if (!rank.hasSucceeded()) {
                right = false;
                String end = NcclHost.end(rank.log(), LINES_OF_A_FAILURE);
                console.say("-- rank %d (node %s) FAILED; the end of its log, %s:\n%s"
                        .formatted(
                                rank.number(),
                                rank.node(),
                                rank.log(),
                                end.isEmpty() ? "   (nothing was written: is the disk full?)" : end));
            }
        }
        for (Rank rank : ranks) {
            report.say("-- rank %d (node %s)".formatted(rank.number(), rank.node()));
            rank.lines().forEach(this::report);
        }
        return right;
    }

    private Map<String, Object> json(boolean right, int reversed, String order, List<Rank> ranks) throws IOException {
        List<Map<String, Object>> said = new ArrayList<>();
        for (Rank rank : ranks) {
            List<String> lines = rank.lines().toList();
            said.add(Json.object(
                    "rank",
                    rank.number(),
                    "node",
                    Character.toString(rank.node()),
                    "good",
                    rank.process().exitValue() == 0,
                    "connections",
                    found(CONNECTION, lines),
                    "result",
                    found(RESULT, lines).stream().findFirst()));
        }
        return Json.object(
                "good",
                right,
                "layout",
                layout.toString(),
                "links",
                layout.links().toString(),
                "cables",
                reversed,
                "order",
                order,
                "test",
                job.test().toString(),
                "bytes",
                job.bytes(),
                "iterations",
                job.iterations(),
                "ranks",
                said);
    }

    private static List<String> found(Pattern pattern, List<String> lines) {
        return lines.stream()
                .map(pattern::matcher)
                .filter(Matcher::find)
                .map(matcher -> matcher.group(1))
                .toList();
    }

    private void report(String line) {
        Matcher connection = CONNECTION.matcher(line);
        Matcher result = RESULT.matcher(line);
        if (connection.find()) {
            report.say("   " + connection.group(1));
        } else if (result.matches()) {
            report.say("   %s: %s".formatted(job.test() == Test.RING ? "all-reduce" : job.test(), result.group(1)));
        }
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

    /** Those of the devices, on the loopback interface of a namespace of the command's own. */
    private static void addAddresses(ClusterFile file) throws IOException, InterruptedException {
        for (List<Nic> nics : file.nics().values()) {
            for (Nic nic : nics) {
                Program.run(List.of("ip", "address", "replace", nic.address(), "dev", "lo"));
            }
        }
    }

    private List<String> madeUpDevices() {
        return List.of(machine.homeFor("demo") + "/libexec/training/fake-sysfs.sh", "simulated");
    }

    private Map<String, String> deviceVariables(char node, Path fabric, Path folder) {
        String libraries = machine.homeFor("demo") + "/libexec/simulated";
        String others = machine.environment().getOrDefault("LD_LIBRARY_PATH", "");
        return Map.of(
                "TMPDIR",
                folder.toString(),
                "SIMVERBS_FABRIC",
                fabric.toString(),
                "SIMVERBS_RING",
                "262144",
                "SIMVERBS_NODE",
                Character.toString(node),
                "SIMVERBS_DEVICES",
                layout.devices(node),
                "LD_LIBRARY_PATH",
                others.isEmpty() ? libraries : libraries + ":" + others);
    }
}
