package trigon.cluster.diagnosis;

import static trigon.cluster.diagnosis.Finding.advice;
import static trigon.cluster.diagnosis.Finding.change;
import static trigon.cluster.diagnosis.Finding.look;

import java.util.ArrayList;
import java.util.List;
import trigon.cluster.diagnosis.Finding.Remedy;
import trigon.cluster.diagnosis.Finding.Weight;
import trigon.cluster.facts.NodeFacts;
import trigon.cluster.machine.FirewallFacts;
import trigon.cluster.probe.LinkResult.Connection.Usual;
import trigon.cluster.probe.LinkResult.Neighbour;
import trigon.cluster.probe.Observations;
import trigon.cluster.probe.Observations.Probe;

/**
 * Findings about a node whose firewall keeps out a peer. The remedies are commands of the program that manages it, and
 * survive a restart; see ufw(8), firewall-cmd(1), nft(8) and iptables(8). Pure.
 */
final class FirewallChecks {

    private static final int ROCE_PORT = 4791;
    private static final String ALL = "";

    private final Observations seen;

    FirewallChecks(Observations seen) {
        this.seen = seen;
    }

    /** An answer that says no: a TCP reset, or an ICMP message while the hardware answers. */
    Finding refused(Probe probe) {
        List<Remedy> remedies = new ArrayList<>(List.of(look(probe.to(), "nft list ruleset; iptables -S")));
        remedies.addAll(probe.hasUdp() ? accept(probe, "tcp") : accept(probe, ALL));
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
                accept(probe, "tcp"));
    }

    Finding allBlocked(Probe probe) {
        List<Remedy> remedies = new ArrayList<>(accept(probe, ALL));
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
                accept(probe, "udp"));
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
                acceptUdp(probe, port));
    }

    private FirewallFacts firewall(Probe probe) {
        return facts(probe).networks().firewall().orElse(FirewallFacts.NONE);
    }

    private NodeFacts facts(Probe probe) {
        return seen.node(probe.to());
    }

    /** Lets one protocol, tcp or udp, from the probe's end in, or all. */
    private List<Remedy> accept(Probe probe, String protocol) {
        String node = probe.to();
        String from = probe.fromAddress();
        boolean six = from.contains(":");
        boolean all = protocol.equals(ALL);
        return switch (firewall(probe).manager()) {
            case "ufw" -> List.of(change(node, "ufw allow " + (all ? "" : "proto " + protocol + " ") + "from " + from));
            case "firewalld" ->
                List.of(change(
                        node,
                        "firewall-cmd --permanent --zone=trusted --add-source=" + from + " && firewall-cmd --reload"));
            case "nftables" ->
                nftables(probe, (six ? "ip6" : "ip") + " saddr " + from + (all ? "" : " meta l4proto " + protocol));
            default ->
                iptables(probe, six ? "ip6tables" : "iptables", (all ? "" : "-p " + protocol + " ") + "-s " + from);
        };
    }

    /** Lets a port of UDP in, from everywhere. */
    private List<Remedy> acceptUdp(Probe probe, long port) {
        String node = probe.to();
        return switch (firewall(probe).manager()) {
            case "ufw" -> List.of(change(node, "ufw allow " + port + "/udp"));
            case "firewalld" ->
                List.of(change(node, "firewall-cmd --permanent --add-port=" + port + "/udp && firewall-cmd --reload"));
            case "nftables" -> nftables(probe, "udp dport " + port);
            default -> iptables(probe, "iptables", "-p udp --dport " + port);
        };
    }

    private List<Remedy> nftables(Probe probe, String match) {
        String node = probe.to();
        String chain = firewall(probe).detail();
        return List.of(
                change(node, "nft insert rule " + chain + " " + match + " accept"),
                advice(
                        node,
                        "to keep it, add \"%s accept\" to the chain %s in the file that nftables.service loads"
                                .formatted(match, chain)));
    }

    private List<Remedy> iptables(Probe probe, String program, String match) {
        String command = firewall(probe).detail();
        String keep = command.isEmpty() ? "" : " && " + command;
        return List.of(change(probe.to(), program + " -I INPUT " + match + " -j ACCEPT" + keep));
    }
}
