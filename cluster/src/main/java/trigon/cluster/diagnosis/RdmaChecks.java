package trigon.cluster.diagnosis;

import static trigon.cluster.diagnosis.Finding.advice;
import static trigon.cluster.diagnosis.Finding.change;
import static trigon.cluster.diagnosis.Finding.look;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import trigon.cluster.diagnosis.Finding.Remedy;
import trigon.cluster.facts.NodeFacts;
import trigon.cluster.facts.Transfer;
import trigon.cluster.facts.Transfer.End;
import trigon.cluster.probe.Observations;
import trigon.cluster.probe.Observations.Probe;

/** What is wrong with RDMA between two nodes, on a link where both ends have it. Pure. */
final class RdmaChecks {

    private static final double MIN_SHARE_BY_GATEWAY = 0.25;

    private final Observations seen;
    private final List<Finding> findings = new ArrayList<>();
    private final Set<String> said = new HashSet<>();

    private RdmaChecks(Observations seen) {
        this.seen = seen;
    }

    /**
     * All of them.
     *
     * @param misled addresses whose trouble is explained already, by another finding
     */
    static List<Finding> of(Observations seen, Set<String> misled) {
        RdmaChecks checks = new RdmaChecks(seen);
        for (Probe probe : seen.probes()) {
            if (!misled.contains(probe.fromAddress()) && !misled.contains(probe.toAddress())) {
                checks.check(probe, probe.transfer());
            }
        }
        return checks.findings;
    }

    private void check(Probe probe, Transfer rdma) {
        String from = probe.fromAddress();
        String to = probe.toAddress();
        String where = "%s %s to %s %s".formatted(probe.from(), from, probe.to(), to);
        switch (rdma.outcome()) {
            case "not up" -> notUp(probe, rdma, where);
            case "no acknowledgement" ->
                findings.add(Finding.error(
                        "rdma-no-acknowledgement",
                        where,
                        "what %s writes to %s by RDMA is not acknowledged, although the queue pairs are up"
                                .formatted(probe.from(), probe.to()),
                        "%s after %d bytes, in pieces of %d; %s; %s"
                                .formatted(status(rdma), rdma.bytes(), rdma.pathMtu(), rdma.why(), ends(rdma)),
                        change(probe.to(), "iptables -I INPUT -p udp --dport 4791 -s " + from + " -j ACCEPT"),
                        change(probe.from(), "iptables -I INPUT -p udp --dport 4791 -s " + to + " -j ACCEPT"),
                        advice(
                                probe.from(),
                                "firewalls on the way have to let UDP port 4791 through, in both directions; both ends"
                                        + " and the switch need the same MTU, and the same priorities with flow control"
                                        + " (PFC: mlnx_qos -i INTERFACE)")));
            case "wrong" ->
                findings.add(Finding.error(
                        "rdma-data-wrong",
                        where,
                        "data that %s writes to %s by RDMA is corrupted".formatted(probe.from(), probe.to()),
                        "%d of the bytes differ, the first at %d; pieces of %d; %s"
                                .formatted(rdma.wrong(), rdma.firstWrong(), rdma.pathMtu(), ends(rdma)),
                        advice(
                                probe.from(),
                                "do not use this link: replace the cable, then the cards; update their firmware;"
                                        + " check dmesg for IOMMU and PCIe errors on both ends")));
            case "failed" ->
                findings.add(Finding.error(
                        "rdma-write-failed",
                        where,
                        "an RDMA WRITE from %s to %s fails".formatted(probe.from(), probe.to()),
                        "%s after %d bytes; %s; %s".formatted(status(rdma), rdma.bytes(), rdma.why(), ends(rdma)),
                        look(probe.from(), "dmesg | tail -n 50"),
                        look(probe.to(), "dmesg | tail -n 50")));
            default -> rdma.burstMbps().ifPresent(rate -> checkBurst(probe, rate, where)); // right, or there is none
        }
    }

    /** Through a gateway: a switch forwards at the speed of the cable, a host most likely does not. */
    private void checkBurst(Probe probe, long rate, String where) {
        seen.facts()
                .getOrDefault(probe.from(), NodeFacts.NONE)
                .interfaceOf(LinkChecks.address(probe.fromAddress()))
                .filter(nic -> rate < nic.speedMbps() * MIN_SHARE_BY_GATEWAY)
                .ifPresent(nic -> findings.add(Finding.warning(
                        "rdma-gateway-slow",
                        where,
                        "RDMA WRITE through the gateway carries %d Mbit/s; the link's nominal speed is %d"
                                .formatted(rate, nic.speedMbps()),
                        "less than a quarter of it, for 64 WRITEs of 64 KiB at once",
                        advice(
                                probe.from(),
                                "set routes.rdma: off on both nodes, so that TCP goes through the gateway"))));
    }

    private static String status(Transfer rdma) {
        return rdma.status().equals("none") ? "no completion" : rdma.status();
    }

    /** Once for a step of a node to a link: the other direction fails in the same way. */
    private void notUp(Probe probe, Transfer rdma, String where) {
        String at = rdma.at();
        String own = at.equals(probe.from()) ? probe.fromAddress() : probe.toAddress();
        String other = at.equals(probe.from()) ? probe.toAddress() : probe.fromAddress();
        String device = (at.equals(probe.from()) ? rdma.from() : rdma.to()).device();
        if (!said.add(at + " " + own + " " + other + " " + rdma.failed())) {
            return;
        }
        boolean opening = rdma.failed().equals("open");
        findings.add(Finding.error(
                "rdma-not-up",
                where,
                opening
                        ? "no queue pair can be created on " + at
                        : "the queue pair of %s on %s does not come up: %s fails%s"
                                .formatted(
                                        at,
                                        device,
                                        rdma.failed(),
                                        rdma.errno().isEmpty() ? "" : " with " + rdma.errno()),
                rdma.why() + (opening ? "" : "; " + ends(rdma)),
                remedies(at, other, rdma)));
    }

    private static Remedy[] remedies(String at, String other, Transfer rdma) {
        return switch (rdma.errno()) {
            case "ETIMEDOUT", "ENETUNREACH", "EHOSTUNREACH" ->
                new Remedy[] {
                    look(at, "ip route get " + other + "; ip neigh show " + other), look(at, "ping -c 3 " + other)
                };
            case "ENOMEM", "EAGAIN" ->
                new Remedy[] {
                    change(at, "ulimit -l unlimited"),
                    advice(at, "for good, in /etc/security/limits.d; in a container: --ulimit memlock=-1")
                };
            case "EACCES", "EPERM" -> new Remedy[] {change(at, "chmod 666 /dev/infiniband/uverbs*")};
            default ->
                new Remedy[] {
                    look(at, "trigon links"),
                    advice(
                            at,
                            "check that both ends have a RoCE v2 GID for their addresses; removing an address"
                                    + " removes its GID")
                };
        };
    }

    private static String ends(Transfer rdma) {
        return end(rdma.from()) + " to " + end(rdma.to());
    }

    private static String end(End end) {
        return end.device().isEmpty()
                ? "an end without a device"
                : "%s GID %d %s %s".formatted(end.device(), end.gidIndex(), end.gidType(), end.gidText());
    }
}
