package trigon.tools.verify;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import trigon.cluster.machine.Machine;
import trigon.tools.console.CommandFailure;
import trigon.tools.machine.OwnRights;
import trigon.tools.machine.ProcessFacts;
import trigon.tools.metrics.Job;
import trigon.tools.metrics.Job.LinkUse;
import trigon.transport.metrics.HeldMetrics;
import trigon.transport.metrics.MetricsReader.Snapshot;
import trigon.transport.metrics.UntrustedMetricsException;

/**
 * Looks at processes again and again, and keeps what they had counted first and last. Their counters stay mapped, so
 * that those of a process that has ended are the ones of its end. One thread.
 */
final class Watch implements AutoCloseable {

    private final Machine machine;
    private final Map<Long, HeldMetrics> held = new TreeMap<>();
    private final Map<Long, ProcessFacts> facts = new TreeMap<>();
    private final Map<Long, Map<String, LinkUse>> first = new TreeMap<>();
    private final Map<Long, Map<String, LinkUse>> last = new TreeMap<>();
    private final NicTraffic nics;
    private final boolean fromZero;

    /** @param fromZero true if the processes begin later than this, so that all that they count is of interest */
    Watch(Machine machine, boolean fromZero) {
        this.machine = machine;
        this.nics = new NicTraffic(machine);
        this.fromZero = fromZero;
    }

    /**
     * A process that has Trigon.
     *
     * @param facts libraries that it has mapped
     * @param links with the counts of what they have carried
     * @param place suffix for the names of its interfaces, see {@link NicTraffic#place}
     */
    record Seen(ProcessFacts facts, List<LinkUse> links, String place) {}

    /** Looks at these. Those that have no Trigon yet may have it next time. */
    void look(List<Long> pids) {
        for (long pid : pids) {
            try {
                look(pid);
            } catch (IOException _) {
                // another user's, or it has ended
            }
        }
    }

    /**
     * Looks at one that somebody has named.
     *
     * @throws CommandFailure if this user may not look into it
     */
    void lookAtNamed(long pid) {
        try {
            look(pid);
        } catch (AccessDeniedException _) {
            throw new CommandFailure("process " + pid + " cannot be looked into: " + OwnRights.toInspect());
        } catch (UntrustedMetricsException e) {
            throw new CommandFailure("process " + pid + " cannot be verified: " + e.getMessage());
        } catch (IOException _) {
            // it has ended
        }
    }

    private void look(long pid) throws IOException {
        var _ = nics.place(pid); // before it sends anything
        HeldMetrics counters = held.computeIfAbsent(pid, HeldMetrics::new);
        counters.look();
        count(pid, counters);
        ProcessFacts now = ProcessFacts.of(machine, pid);
        if (last.containsKey(pid) && !now.mapped().isEmpty()) {
            facts.put(pid, now);
        }
    }

    private void count(long pid, HeldMetrics counters) {
        List<Snapshot> snapshots;
        try {
            snapshots = counters.read();
        } catch (IOException _) {
            return; // of another version
        }
        if (!snapshots.isEmpty()) {
            Map<String, LinkUse> links = new TreeMap<>();
            Job.of(pid, snapshots).links().forEach(link -> links.merge(link.name(), link, LinkUse::plus));
            first.putIfAbsent(pid, fromZero ? Map.of() : links);
            last.put(pid, links);
        }
    }

    /** Counts once more, also those that have ended. */
    void countAgain() {
        held.forEach(this::count);
    }

    @Override
    public void close() {
        held.values().forEach(HeldMetrics::close);
        nics.close();
    }

    /** Bytes that went over each NIC since the watch began, by their names and places. */
    Map<String, Long> nicBytes() {
        return nics.bytes();
    }

    /** All processes that had Trigon. */
    List<Seen> seen() {
        List<Seen> found = new ArrayList<>();
        last.forEach((pid, links) -> {
            Map<String, LinkUse> before = first.getOrDefault(pid, Map.of());
            List<LinkUse> carried = links.values().stream()
                    .map(link -> Optional.ofNullable(before.get(link.name()))
                            .map(link::since)
                            .orElse(link))
                    .toList();
            found.add(new Seen(
                    facts.computeIfAbsent(pid, each -> ProcessFacts.of(machine, each)), carried, nics.place(pid)));
        });
        return found;
    }
}
