package trigon.tools.doctor;

import java.util.ArrayList;
import java.util.List;
import trigon.tools.probe.Observations;

/** Findings of observations. Pure: the same observations have the same findings. */
public final class Diagnosis {

    private Diagnosis() {}

    /** What is wrong, the heaviest first; empty if nothing is. */
    public static List<Finding> of(Observations seen) {
        List<Finding> findings = new ArrayList<>();
        seen.facts().forEach((node, facts) -> findings.addAll(NodeChecks.of(node, facts)));
        ClusterChecks cluster = new ClusterChecks(seen);
        findings.addAll(cluster.find());
        findings.addAll(CableChecks.of(seen));
        findings.addAll(LinkChecks.of(seen, cluster.misled()));
        findings.addAll(RdmaChecks.of(seen, cluster.misled()));
        findings.addAll(CounterChecks.of(seen));
        findings.addAll(BootstrapChecks.of(seen));
        findings.addAll(WayChecks.of(seen, findings, cluster.misled()));
        return findings.stream().distinct().sorted(Finding.BY_WEIGHT).toList();
    }
}
