package trigon.tools.metrics;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import trigon.cluster.machine.Machine;
import trigon.system.PrintableText;
import trigon.system.file.ProcessUsers;
import trigon.transport.metrics.MetricsReader;
import trigon.transport.metrics.MetricsReader.Counts;
import trigon.transport.metrics.MetricsReader.FailoverMetrics;
import trigon.transport.metrics.MetricsReader.LinkMetrics;
import trigon.transport.metrics.MetricsReader.PathMetrics;
import trigon.transport.metrics.MetricsReader.Snapshot;
import trigon.transport.metrics.UntrustedMetricsException;
import trigon.verbs.LinkKind;

/**
 * A process of this machine that has loaded Trigon, and what it has counted until now.
 *
 * @param pid here
 * @param program its name
 * @param rank as its launcher has told it; empty if it has not
 * @param links by name
 * @param paths that are open
 * @param failovers by link and peer
 */
public record Job(
        long pid, String program, String rank, List<LinkUse> links, List<PathUse> paths, List<FailoverUse> failovers) {

    /** Limit for all processes of one user; processes beyond it are left out. Each row takes some 300 bytes here. */
    static final int MAX_ROWS_OF_A_USER = 1 << 17;

    private static final String SOFTWARE = LinkKind.SOFTWARE.name();
    private static final String TCP = "TCP";
    private static final Counts NOTHING = new Counts(0, 0, 0, 0, 0);

    private static final List<String> RANKS = List.of("RANK=", "OMPI_COMM_WORLD_RANK=", "PMIX_RANK=", "SLURM_PROCID=");

    /**
     * A link of the process.
     *
     * @param up true if data can go over it, as far as this machine's kernel and devices say
     * @param counts of all its paths, open and closed
     */
    public record LinkUse(String name, String carrier, int speedMbps, boolean up, Counts counts) {

        /** The same link with the counts of both. */
        public LinkUse plus(LinkUse other) {
            return new LinkUse(name, carrier, speedMbps, up, sum(counts, other.counts, 1));
        }

        /** The same link with what it has counted since then. */
        public LinkUse since(LinkUse then) {
            return new LinkUse(name, carrier, speedMbps, up, sum(counts, then.counts, -1));
        }

        /** Text of what carries the data, and of a link that is down. */
        String state() {
            return up ? carrier : carrier + ", down";
        }
    }

    /**
     * An open path, over the link of that name.
     *
     * @param relays the relays and what carries their hops, known to the sender only; empty without relays
     */
    public record PathUse(String link, String peer, String end, String relays, int state, Counts counts) {
        /** For people: the transport's PathState, in lower case. */
        public String stateWord() {
            return switch (state) {
                case 1 -> "opening";
                case 2 -> "up";
                case 3 -> "lost";
                case 4 -> "closed";
                case 5 -> "interrupted";
                default -> "state " + state;
            };
        }
    }

    /** Counters of connections to that peer over the link of that name when their path failed. */
    public record FailoverUse(String link, FailoverMetrics metrics) {}

    public Job {
        links = List.copyOf(links);
        paths = List.copyOf(paths);
        failovers = List.copyOf(failovers);
    }

    /**
     * All that this user may look into, by number.
     *
     * @param skipped is told of each process whose counters are none, and why
     */
    public static List<Job> all(Consumer<String> skipped) {
        List<Job> found = new ArrayList<>();
        Map<Integer, Integer> rowsOfUser = new HashMap<>();
        try (Stream<ProcessHandle> processes = ProcessHandle.allProcesses()) {
            processes
                    .map(ProcessHandle::pid)
                    .sorted()
                    .flatMap(pid -> find(pid, skipped).stream())
                    .forEach(job -> {
                        if (rowsOfUser.merge(user(job.pid()), job.rows(), Integer::sum) <= MAX_ROWS_OF_A_USER) {
                            found.add(job);
                        } else {
                            skipped.accept("process " + job.pid() + " is left out: its user's processes have more than "
                                    + MAX_ROWS_OF_A_USER + " counters together");
                        }
                    });
        }
        return found;
    }

    /** The number of the user that a process runs as; one that nobody has if it has ended. */
    private static int user(long pid) {
        try {
            return ProcessUsers.of(Path.of("/proc", Long.toString(pid))).getFirst();
        } catch (IOException _) {
            return -1;
        }
    }

    /**
     * One process; empty if it has no Trigon, has ended, or this user may not look into it.
     *
     * @param skipped is told why, where its counters are none
     */
    public static Optional<Job> find(long pid, Consumer<String> skipped) {
        try {
            List<Snapshot> snapshots = MetricsReader.of(pid);
            return snapshots.isEmpty() ? Optional.empty() : Optional.of(of(pid, snapshots));
        } catch (UntrustedMetricsException e) {
            skipped.accept("process " + pid + " is left out: " + e.getMessage());
            return Optional.empty();
        } catch (IOException _) {
            return Optional.empty(); // another user's, or it has ended
        }
    }

    /** Makes the job of what a process has counted. */
    public static Job of(long pid, List<Snapshot> snapshots) {
        Path folder = Path.of("/proc", Long.toString(pid));
        String environment = Machine.text(folder.resolve("environ")).orElse("");
        String rank = RANKS.stream()
                .flatMap(name -> environment
                        .lines()
                        .flatMap(line -> Stream.of(line.split("\0", -1)))
                        .filter(variable -> variable.startsWith(name))
                        .map(variable -> variable.substring(name.length())))
                .findFirst()
                .orElse("");
        List<LinkUse> links = new ArrayList<>();
        List<PathUse> paths = new ArrayList<>();
        List<FailoverUse> failovers = new ArrayList<>();
        for (Snapshot snapshot : snapshots) {
            Map<Integer, LinkMetrics> byRow = new LinkedHashMap<>();
            snapshot.links().forEach(link -> byRow.put(link.row(), link));
            Map<Integer, Counts> ofPaths = new HashMap<>();
            snapshot.paths().forEach(path -> ofPaths.merge(path.link(), path.counts(), (a, b) -> sum(a, b, 1)));
            for (LinkMetrics link : byRow.values()) {
                Counts counts = sum(link.counts(), ofPaths.getOrDefault(link.row(), NOTHING), 1);
                links.add(new LinkUse(
                        link.name(),
                        link.type().equals(SOFTWARE) ? TCP : link.type(),
                        link.speedMbps(),
                        link.up(),
                        counts));
            }
            for (PathMetrics path : snapshot.paths()) {
                paths.add(new PathUse(
                        name(byRow.get(path.link())),
                        path.peer(),
                        path.type(),
                        path.relays(),
                        path.state(),
                        path.counts()));
            }
            for (FailoverMetrics each : snapshot.failovers()) {
                failovers.add(new FailoverUse(name(byRow.get(each.link())), each));
            }
        }
        return new Job(
                pid,
                PrintableText.of(Machine.line(folder.resolve("comm")).orElse("?")),
                PrintableText.of(rank),
                links,
                paths,
                failovers);
    }

    private static String name(@Nullable LinkMetrics link) {
        return link == null ? "" : link.name();
    }

    /** Carrier and state of a link, and the relays of the paths over it. */
    String over(LinkUse link) {
        return Stream.concat(
                        Stream.of(link.state()),
                        paths.stream()
                                .filter(path -> path.link().equals(link.name())
                                        && !path.relays().isEmpty()
                                        && link.carrier().equals(TCP))
                                .map(path -> "relayed by " + path.relays())
                                .distinct()
                                .sorted())
                .collect(Collectors.joining("; "));
    }

    /** Number of times that a connection left a link since its path failed, by the link's name. */
    Map<String, Long> failoversByLink() {
        Map<String, Long> sums = new HashMap<>();
        failovers.forEach(each -> sums.merge(each.link(), each.metrics().failovers(), Long::sum));
        return sums;
    }

    private int rows() {
        return links.size() + paths.size() + failovers.size();
    }

    private static Counts sum(Counts one, Counts other, int sign) {
        return new Counts(
                one.messages() + sign * other.messages(),
                one.bytes() + sign * other.bytes(),
                one.waits() + sign * other.waits(),
                one.errors() + sign * other.errors(),
                one.retries() + sign * other.retries());
    }
}
