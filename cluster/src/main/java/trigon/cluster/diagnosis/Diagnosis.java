package trigon.cluster.diagnosis;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import trigon.cluster.facts.NcclFacts;
import trigon.cluster.machine.Machine;
import trigon.cluster.machine.Nic;
import trigon.cluster.probe.Observations;
import trigon.routing.discovery.HostInterfaces;

/** Findings of observations. Pure: the same observations have the same findings. */
public final class Diagnosis {

    private Diagnosis() {}

    /** Findings on a node's RDMA, after which its links without RDMA are no finding. */
    private static final Set<String> OF_RDMA = Set.of(
            "no-dev-infiniband",
            "rdma-device-refused",
            "rdma-library",
            "rdma-port-down",
            "no-roce-v2-gid",
            "rdma-interface-elsewhere");

    /** The heaviest first. */
    public static List<Finding> of(Observations seen) {
        List<Finding> findings = new ArrayList<>();
        seen.facts().forEach((node, facts) -> findings.addAll(NodeChecks.of(node, facts)));
        Cluster cluster = new Cluster(seen);
        findings.removeIf(
                finding -> finding.code().equals("no-carrier") && cluster.isDownAtTheOtherEnd(finding.where()));
        leadingNowhere(findings, cluster);
        findings.addAll(new ClusterChecks(cluster, withoutRdma(findings)).find());
        Addressing addressing = new Addressing(cluster);
        SubnetChecks subnets = new SubnetChecks(cluster, addressing);
        findings.addAll(subnets.find());
        findings.addAll(subnets.twice());
        cluster.places().stream()
                .filter(place -> place.nic().isDown() || place.nic().lacksCarrier())
                .forEach(cluster::explain); // the checks of nodes say so
        findings.addAll(new CableChecks(cluster, addressing).find());
        findings.addAll(LinkChecks.of(seen, cluster.misled()));
        findings.addAll(RdmaChecks.of(seen, cluster.misled()));
        findings.addAll(CounterChecks.of(seen));
        findings.addAll(NcclChecks.ofBootstrap(seen));
        findings.addAll(PathChecks.of(seen, findings, cluster.misled()));
        findings.addAll(Ipv6Checks.of(seen, findings));
        return PathChecks.weighed(seen, findings).stream()
                .distinct()
                .sorted(Finding.BY_WEIGHT)
                .toList();
    }

    /**
     * A node that has only what leads to no other machine has no link, unless one of those works. That the others fail
     * needs no finding of its own.
     */
    private static void leadingNowhere(List<Finding> findings, Cluster cluster) {
        Observations seen = cluster.seen();
        findings.removeIf(finding -> finding.code().equals("no-link")
                && !seen.node(finding.where()).links().isEmpty()
                && seen.probes().stream().anyMatch(probe -> probe.from().equals(finding.where()) && probe.works()));
        findings.stream()
                .filter(finding -> finding.code().equals("no-link"))
                .forEach(finding -> cluster.explainAll(finding.where()));
    }

    /** Checks NCCL's settings on this machine alone, in the environment and in the files that NCCL reads. */
    public static List<Finding> ofNcclSettings(Machine machine) {
        return NcclChecks.of(machine.hostName(), NcclFacts.of(machine), Nic.ofNccl(HostInterfaces.snapshot()));
    }

    /** Tells whether jobs run: no finding is an error. */
    public static boolean isHealthy(List<Finding> findings) {
        return findings.stream().noneMatch(finding -> finding.weight() == Finding.Weight.ERROR);
    }

    private static Set<String> withoutRdma(List<Finding> findings) {
        return findings.stream()
                .filter(finding -> OF_RDMA.contains(finding.code()))
                .map(finding -> finding.where().replaceFirst(" .*", ""))
                .collect(Collectors.toSet());
    }
}
