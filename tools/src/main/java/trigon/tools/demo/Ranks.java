package trigon.tools.demo;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import trigon.system.file.Folder;
import trigon.tools.machine.NcclHost;

/** The processes of a run, each a node with a log of its own. Closing ends them. One thread. */
final class Ranks implements AutoCloseable {

    private final NcclHost host;
    private final Map<String, String> environment;
    private final Path folder;
    private final List<String> options;
    private final List<Rank> started = new ArrayList<>();

    /** A process, which is running or has ended. */
    record Rank(int number, char node, Process process, Path log) {

        /** Waits for its end. */
        boolean hasSucceeded() throws InterruptedException {
            return process.waitFor() == 0;
        }

        Stream<String> lines() throws IOException {
            return Files.readAllLines(log).stream();
        }
    }

    /**
     * None yet.
     *
     * @param folder made anew: where they meet, with their settings and logs
     * @param options of all of them, in addition to who each is
     */
    Ranks(NcclHost host, Map<String, String> environment, Path folder, List<String> options) throws IOException {
        this.host = host;
        this.environment = environment;
        this.folder = folder;
        this.options = options;
        Folder.delete(folder);
        Files.createDirectories(folder.resolve("rendezvous"));
    }

    /** Where they take their settings from. */
    static Path settings(Path folder) {
        return folder.resolve("trigon.yaml");
    }

    /** Ends that node's TCP connections at the address in it. */
    static Path cuts(Path folder, char node) {
        return folder.resolve("cut-" + node);
    }

    /**
     * Starts the next one.
     *
     * @param count of ranks in all
     * @param within what starts it in its place
     * @param more variables of its own
     */
    void start(char node, int count, List<String> within, Map<String, String> more) throws IOException {
        Map<String, String> all = new HashMap<>(environment);
        all.put("TRIGON_NODE", Character.toString(node));
        all.put("TRIGON_CONFIG", settings(folder).toString());
        all.put("NCCL_DEBUG", "INFO");
        all.putAll(more);
        int number = started.size();
        List<String> who = List.of("--rank", "" + number, "--ranks", "" + count, "--timeout", "120");
        List<String> where =
                List.of("--rendezvous", folder.resolve("rendezvous").toString());
        List<String> cut = List.of("--cuts", cuts(folder, node).toString());
        List<String> words =
                Stream.of(who, where, cut, options).flatMap(List::stream).toList();
        Path log = folder.resolve(node + ".log");
        started.add(new Rank(number, node, host.start(within, words, all, log, log), log));
    }

    List<Rank> all() {
        return started;
    }

    @Override
    public void close() {
        started.forEach(rank -> rank.process().destroyForcibly());
    }
}
