package trigon.integration.testsupport;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import trigon.system.file.Folder;
import trigon.testsupport.Await;

/** A job in network namespaces, a rank on each node, that goes on until it is told to end. Closing kills it. */
public final class NamespaceJob implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final Pattern ROUND = Pattern.compile("(?:all-reduce|all-to-all) ([0-9]+) took");
    private static final Pattern RESIDENT = Pattern.compile("VmRSS:\\s+([0-9]+) kB");

    private final Path until;
    private final List<HostProgram> ranks = new ArrayList<>();

    /**
     * Starts the ranks.
     *
     * @param by what goes before a command that is to run on a node
     * @param directory for the logs, and where ranks meet; new
     * @param environment of all of them
     * @param nodes in the order of their ranks
     * @param more arguments of all of them
     */
    public NamespaceJob(
            Function<String, List<String>> by,
            Path directory,
            Map<String, String> environment,
            List<String> nodes,
            String... more)
            throws IOException {
        until = directory.resolve("until");
        Path meet = Files.createDirectories(directory.resolve("rendezvous"));
        for (String node : nodes) {
            List<String> arguments = new ArrayList<>(List.of("--bytes", "262144", "--iterations", "100000000"));
            arguments.addAll(List.of("--channels", "2", "--timeout", "100", "--print-longer", "1"));
            arguments.addAll(List.of("--until", until.toString(), "--rendezvous", meet.toString()));
            arguments.addAll(List.of("--rank", "" + ranks.size(), "--ranks", "" + nodes.size()));
            arguments.addAll(List.of(more));
            Map<String, String> variables = new HashMap<>(environment);
            variables.put("TRIGON_NODE", node);
            ranks.add(new HostProgram(
                    by.apply(node),
                    HostProgram.distribution(),
                    directory.resolve(node + ".log"),
                    variables,
                    arguments.toArray(String[]::new)));
        }
    }

    public List<HostProgram> ranks() {
        return ranks;
    }

    /** Waits until so many more rounds are over. */
    public void awaitRounds(int more) {
        int before = rounds();
        Await.until(this::output, PATIENCE, () -> rounds() >= before + more || ended());
        assertThat(ended()).as(output()).isFalse();
    }

    /** All-reduces, or rounds of another test, that are over. */
    public int rounds() {
        Matcher matcher = ROUND.matcher(ranks.getFirst().output());
        int last = 0;
        while (matcher.find()) {
            last = Integer.parseInt(matcher.group(1));
        }
        return last;
    }

    private boolean ended() {
        return ranks.stream().anyMatch(rank -> !rank.isAlive());
    }

    /** Resident memory of each rank, in KiB. */
    public List<Long> resident() {
        return ranks.stream().map(NamespaceJob::resident).toList();
    }

    private static long resident(HostProgram rank) {
        try {
            Matcher matcher = RESIDENT.matcher(Files.readString(Path.of("/proc", "" + rank.pid(), "status")));
            assertThat(matcher.find()).isTrue();
            return Long.parseLong(matcher.group(1));
        } catch (IOException e) {
            throw new UncheckedIOException("process " + rank.pid(), e);
        }
    }

    /** The names of a rank's threads. */
    public List<String> threads(int rank) throws IOException {
        List<String> names = new ArrayList<>();
        for (Path task : Folder.entries(Path.of("/proc", "" + ranks.get(rank).pid(), "task"))) {
            try {
                names.add(Files.readString(task.resolve("comm")).strip());
            } catch (IOException _) {
                // it has ended
            }
        }
        return names;
    }

    /** Has them end, and requires that every element was right on all of them. */
    public void end() throws IOException {
        Files.createFile(until);
        for (HostProgram rank : ranks) {
            assertThat(rank.exitStatus()).as(output()).isZero();
            assertThat(rank.output()).contains(" 0 wrong");
        }
    }

    /** What all of them have said. */
    public String output() {
        return ranks.stream().map(HostProgram::output).collect(Collectors.joining("\n"));
    }

    @Override
    public void close() {
        ranks.forEach(HostProgram::close);
    }
}
