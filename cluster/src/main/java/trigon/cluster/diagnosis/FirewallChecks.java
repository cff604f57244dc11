package trigon.cluster.diagnosis;

import static trigon.cluster.diagnosis.Finding.look;

import java.util.ArrayList;
import java.util.List;
import trigon.cluster.diagnosis.Finding.Remedy;
import trigon.cluster.diagnosis.Finding.Weight;
import trigon.cluster.facts.NodeFacts;
import trigon.cluster.probe.Connection.Usual;
import trigon.cluster.probe.Neighbour;
import trigon.cluster.probe.Observations;
import trigon.cluster.probe.Observations.Probe;

/** Findings about a node whose firewall keeps out a peer, with the commands of the program that manages it. Pure. */
final class FirewallChecks {

    private static final int ROCE_PORT = 4791;

    private final Observations seen;

    FirewallChecks(Observations seen) {
        this.seen = seen;
    }

    /** An answer that says no: a TCP reset, or an ICMP message while the hardware answers. */
    Finding refused(Probe probe) {
        List<Remedy> remedies = new ArrayList<>(List.of(look(probe.to(), "nft list ruleset; iptables -S")));
        remedies.addAll(
                probe.hasUdp()
                        ? firewall(probe).accept(probe.fromAddress(), "tcp")
                        : firewall(probe).accept(probe.fromAddress()));
        boolean byIcmp = probe.tcp() == Usual.UNREACHABLE;
        return new Finding(
                Weight.ERROR,
                "tcp-refused",
                probe.where(),
                byIcmp
                        ? "a firewall on %s rejects TCP at %s".formatted(probe.to(), probe.toAddress())
                        : probe.to() + " refuses TCP at " + probe.toAddress(),
                byIcmp
                        ? "the hardware of %s answers, %s, and a connection gets \"no route to host\""
                                .formatted(
                                        probe.toAddress(),
                                        probe.result()
                                                .neighbour()
                                                .map(Neighbour::text)
                                                .orElse(""))
                        : "a listener runs there, but the connection was refused: by a firewall, or by another"
                                + " machine with this address",
                remedies);
    }

    Finding tcpBlocked(Probe probe) {
        return new Finding(
                Weight.ERROR,
                "tcp-blocked",
                probe.where(),
                "TCP from %s does not reach %s, and UDP does: a firewall".formatted(probe.from(), probe.to()),
                "no answer to a connection within 1.5 s",
                firewall(probe).accept(probe.fromAddress(), "tcp"));
    }

    Finding allBlocked(Probe probe) {
        List<Remedy> remedies = new ArrayList<>(firewall(probe).accept(probe.fromAddress()));
        remedies.add(look(probe.to(), "sysctl net.ipv4.conf.all.rp_filter"));
        return new Finding(
                Weight.ERROR,
                "all-blocked",
                probe.where(),
                "neither TCP nor UDP from %s reaches %s, whose hardware answers: a firewall, or rp_filter"
                        .formatted(probe.from(), probe.to()),
                "ARP has an answer, "
                        + probe.result().neighbour().map(Neighbour::text).orElse("") + "; TCP and UDP have none",
                remedies);
    }

    Finding udpBlocked(Probe probe) {
        return new Finding(
                Weight.WARNING,
                "udp-blocked",
                probe.where(),
                "UDP from %s does not reach %s, and TCP does: a firewall; nodes announce themselves by UDP"
                        .formatted(probe.from(), probe.to()),
                "no answer to three datagrams",
                firewall(probe).accept(probe.fromAddress(), "udp"));
    }

    Finding rocePortBlocked(Probe probe) {
        return portBlocked(
                probe, "roce-port-blocked", ROCE_PORT, "UDP port %d of %s is blocked: RoCE v2 would not get through");
    }

    Finding topologyPortBlocked(Probe probe) {
        return portBlocked(
                probe,
                "topology-port-blocked",
                facts(probe).plugin().topologyPort(),
                "UDP port %d of %s is blocked, which announcements use: no relays are found here");
    }

    private Finding portBlocked(Probe probe, String code, long port, String what) {
        return new Finding(
                Weight.WARNING,
                code,
                probe.where(),
                what.formatted(port, probe.to()),
                "no answer there; other ports answer",
                firewall(probe).acceptUdp(port));
    }

    private FirewallCommands firewall(Probe probe) {
        return new FirewallCommands(probe.to(), facts(probe));
    }

    private NodeFacts facts(Probe probe) {
        return seen.node(probe.to());
    }
}
