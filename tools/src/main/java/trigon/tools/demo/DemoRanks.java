package trigon.tools.demo;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import trigon.cluster.machine.Machine;
import trigon.system.file.Folder;
import trigon.tools.console.Console;
import trigon.tools.machine.NcclHost;

/** The processes of a run, each a node with a log of its own. Closing ends them. One thread. */
final class DemoRanks implements AutoCloseable {

    /** So long a rank waits for others, which an emulated processor that is busy elsewhere takes minutes to start. */
    private static final int MAX_SECONDS = 300;

    private static final int LINES_OF_A_FAILURE = 25;

    private final Map<String, String> environment;
    private final Path home;
    private final NcclHost host;
    private final Path folder;
    private final List<Rank> started = new ArrayList<>();

    /** A process, which is running or has ended. */
    record Rank(int number, char node, Process process, Path log) {

        /** Returns the pattern's group of each line that has it. */
        List<String> found(Pattern pattern) throws IOException {
            return Files.readAllLines(log).stream()
                    .map(pattern::matcher)
                    .filter(Matcher::find)
                    .map(line -> line.group(1))
                    .toList();
        }
    }

    /** @param folder made anew: has their settings and logs, and is where they meet */
    DemoRanks(Machine machine, Path home, Path folder) throws IOException {
        this.environment = machine.environment();
        this.home = home;
        this.host = NcclHost.of(home);
        this.folder = folder;
        Folder.delete(folder);
        Files.createDirectories(folder.resolve("rendezvous"));
    }

    Path home() {
        return home;
    }

    Map<String, String> environment() {
        return environment;
    }

    Path settings() {
        return folder.resolve("trigon.yaml");
    }

    /** Ends that node's TCP connections at the address in it. */
    Path cuts(char node) {
        return folder.resolve("cut-" + node);
    }

    /**
     * Starts the next one.
     *
     * @param count of ranks in all
     * @param within the words that start it in its place
     * @param variables of its own
     * @param options of all of them
     */
    void start(char node, int count, List<String> within, Map<String, String> variables, List<String> options)
            throws IOException {
        Map<String, String> all = new HashMap<>(environment);
        all.put("TRIGON_NODE", Character.toString(node));
        all.put("TRIGON_CONFIG", settings().toString());
        all.put("NCCL_DEBUG", "INFO");
        all.putAll(variables);
        String own = "--rank %d --ranks %d --timeout %d --rendezvous".formatted(started.size(), count, MAX_SECONDS);
        List<String> words = new ArrayList<>(List.of(own.split(" ", -1)));
        words.addAll(List.of(
                folder.resolve("rendezvous").toString(), "--cuts", cuts(node).toString()));
        words.addAll(options);
        Path log = folder.resolve(node + ".log");
        started.add(new Rank(started.size(), node, host.start(within, words, all, log, log), log));
    }

    List<Rank> all() {
        return started;
    }

    /** Waits for their ends. Returns true if all succeeded; the ends of the other logs are said. */
    boolean haveSucceeded(Console console) throws IOException, InterruptedException {
        boolean right = true;
        for (Rank rank : started) {
            if (rank.process().waitFor() != 0) {
                right = false;
                sayEnd(rank, console);
            }
        }
        return right;
    }

    /** Says the last lines of a log. */
    static void sayEnd(Rank rank, Console console) throws IOException {
        String end = NcclHost.end(rank.log(), LINES_OF_A_FAILURE);
        console.say("-- rank %d (node %s) FAILED; the end of its log, %s:\n%s"
                .formatted(
                        rank.number(),
                        rank.node(),
                        rank.log(),
                        end.isEmpty() ? "   (nothing was written: is the disk full?)" : end));
    }

    @Override
    public void close() {
        started.forEach(rank -> rank.process().destroyForcibly());
    }
}
