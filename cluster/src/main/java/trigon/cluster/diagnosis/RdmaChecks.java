package trigon.cluster.diagnosis;

import static trigon.cluster.diagnosis.Finding.advice;
import static trigon.cluster.diagnosis.Finding.change;
import static trigon.cluster.diagnosis.Finding.look;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import trigon.cluster.diagnosis.Finding.Remedy;
import trigon.cluster.probe.Observations;
import trigon.cluster.probe.Observations.Probe;
import trigon.cluster.rdma.Transfer;
import trigon.cluster.rdma.Transfer.End;
import trigon.cluster.rdma.Transfer.Ends;
import trigon.cluster.rdma.Transfer.FailedStep;
import trigon.cluster.rdma.Transfer.Written;

/** Checks of RDMA between two nodes, on a link where both ends have it. Pure. */
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
                probe.result().rdma().ifPresent(rdma -> checks.check(probe, rdma));
            }
        }
        return checks.findings;
    }

    private void check(Probe probe, Transfer rdma) {
        String from = probe.fromAddress();
        String to = probe.toAddress();
        String where = probe.where();
        switch (rdma) {
            case Transfer.NotUp end -> notUp(probe, end);
            case Transfer.NoAcknowledgement(Ends ends, Written written) ->
                findings.add(Finding.error(
                        "rdma-no-acknowledgement",
                        where,
                        "what %s writes to %s by RDMA is not acknowledged, although the queue pairs are up"
                                .formatted(probe.from(), probe.to()),
                        "%s after %d bytes, in pieces of %d; %s; %s"
                                .formatted(status(written), written.bytes(), written.pathMtu(), written.why(), ends),
                        change(probe.to(), "iptables -I INPUT -p udp --dport 4791 -s " + from + " -j ACCEPT"),
                        change(probe.from(), "iptables -I INPUT -p udp --dport 4791 -s " + to + " -j ACCEPT"),
                        advice(
                                probe.from(),
                                "firewalls on the way have to let UDP port 4791 through, in both directions; both ends"
                                        + " and the switch need the same MTU, and the same priorities with flow control"
                                        + " (PFC: mlnx_qos -i INTERFACE)")));
            case Transfer.Wrong(Ends ends, Written written, long wrong, long first) ->
                findings.add(Finding.error(
                        "rdma-data-wrong",
                        where,
                        "data that %s writes to %s by RDMA is corrupted".formatted(probe.from(), probe.to()),
                        "%d of the bytes differ, the first at %d; pieces of %d; %s"
                                .formatted(wrong, first, written.pathMtu(), ends),
                        advice(
                                probe.from(),
                                "do not use this link: replace the cable, then the cards; update their firmware;"
                                        + " check dmesg for IOMMU and PCIe errors on both ends")));
            case Transfer.Failed(Ends ends, Written written) ->
                findings.add(Finding.error(
                        "rdma-write-failed",
                        where,
                        "an RDMA WRITE from %s to %s fails".formatted(probe.from(), probe.to()),
                        "%s after %d bytes; %s; %s".formatted(status(written), written.bytes(), written.why(), ends),
                        look(probe.from(), "dmesg | tail -n 50"),
                        look(probe.to(), "dmesg | tail -n 50")));
            case Transfer.Right right -> right.written().burstMbps().ifPresent(rate -> checkBurst(probe, rate, where));
            case Transfer.NotTried _ -> {}
        }
    }

    /** Through a gateway: a switch forwards at the speed of the cable, a host most likely does not. */
    private void checkBurst(Probe probe, long rate, String where) {
        seen.nicOf(probe)
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

    private static String status(Written written) {
        return written.status().equals(Written.NO_COMPLETION) ? "no completion" : written.status();
    }

    /** Once for a step of a node to a link: the other direction fails in the same way. */
    private void notUp(Probe probe, Transfer.NotUp rdma) {
        String at = rdma.at();
        boolean here = at.equals(probe.from());
        String own = here ? probe.fromAddress() : probe.toAddress();
        String other = here ? probe.toAddress() : probe.fromAddress();
        FailedStep step = rdma.step();
        if (!said.add(at + " " + own + " " + other + " " + step.failed())) {
            return;
        }
        boolean opening = step.failed().equals("open");
        findings.add(Finding.error(
                "rdma-not-up",
                probe.where(),
                opening
                        ? "no queue pair can be created on " + at
                        : "the queue pair of %s on %s does not come up: %s fails%s"
                                .formatted(
                                        at,
                                        (here ? rdma.ends().from() : rdma.ends().to())
                                                .map(End::device)
                                                .orElse(""),
                                        step.failed(),
                                        step.errno().isEmpty() ? "" : " with " + step.errno()),
                step.why() + (opening ? "" : "; " + rdma.ends()),
                remedies(at, other, step)));
    }

    private static Remedy[] remedies(String at, String other, FailedStep step) {
        return switch (step.errno()) {
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
}
