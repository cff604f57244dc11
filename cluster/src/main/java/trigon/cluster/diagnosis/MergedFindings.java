package trigon.cluster.diagnosis;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import trigon.cluster.diagnosis.Finding.Remedy;
import trigon.cluster.diagnosis.Finding.Weight;
import trigon.cluster.probe.Observations.Probe;

/**
 * Findings of links, of which one fault makes several: what is wrong in both directions of a link, and what a node does
 * to all that comes to it, as a firewall does. Each becomes one, with the remedies of all.
 */
final class MergedFindings {

    /** A fault of the node that receives. */
    private static final Set<String> OF_RECEIVER =
            Set.of("tcp-blocked", "tcp-refused", "udp-blocked", "roce-port-blocked", "topology-port-blocked", "mtu");

    private record Found(Probe probe, Finding finding) {
        String key() {
            return finding.code() + " " + pair(probe);
        }
    }

    private final List<Found> all = new ArrayList<>();

    void add(Probe probe, Finding finding) {
        all.add(new Found(probe, finding));
    }

    void error(Probe probe, String code, String what, String evidence, Remedy... remedies) {
        add(probe, Finding.error(code, probe.where(), what, evidence, remedies));
    }

    void warning(Probe probe, String code, String what, String evidence, Remedy... remedies) {
        add(probe, Finding.warning(code, probe.where(), what, evidence, remedies));
    }

    /** The same for both directions of a link. */
    static String pair(Probe probe) {
        String from = probe.fromAddress();
        String to = probe.toAddress();
        return from.compareTo(to) < 0 ? from + " " + to : to + " " + from;
    }

    List<Finding> merged() {
        Map<String, Long> directions = all.stream().collect(Collectors.groupingBy(Found::key, Collectors.counting()));
        Map<String, List<Found>> groups = new LinkedHashMap<>();
        for (Found each : all) {
            boolean bothWays = directions.getOrDefault(each.key(), 1L) > 1;
            String code = each.finding().code();
            groups.computeIfAbsent(
                            !bothWays && OF_RECEIVER.contains(code)
                                    ? code + " at " + each.probe().to()
                                    : each.key(),
                            _ -> new ArrayList<>())
                    .add(each);
        }
        return groups.values().stream().map(MergedFindings::merge).toList();
    }

    private static Finding merge(List<Found> group) {
        Finding first = group.getFirst().finding();
        if (group.size() == 1) {
            return first;
        }
        Set<Remedy> remedies = new LinkedHashSet<>();
        group.forEach(each -> remedies.addAll(each.finding().remedies()));
        boolean bothWays = group.stream().map(Found::key).distinct().count() == 1;
        return new Finding(
                group.stream()
                        .map(each -> each.finding().weight())
                        .min(Weight::compareTo)
                        .orElse(first.weight()),
                first.code(),
                group.stream().map(each -> each.finding().where()).distinct().collect(Collectors.joining("; ")),
                first.what() + (bothWays ? "; the same in the other direction" : "; the same from other nodes"),
                first.evidence(),
                List.copyOf(remedies));
    }
}
