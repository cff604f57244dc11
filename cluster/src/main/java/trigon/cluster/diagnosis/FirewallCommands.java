package trigon.cluster.diagnosis;

import static trigon.cluster.diagnosis.Finding.advice;
import static trigon.cluster.diagnosis.Finding.change;

import java.util.List;
import trigon.cluster.diagnosis.Finding.Remedy;
import trigon.cluster.facts.NodeFacts;
import trigon.cluster.machine.FirewallFacts;

/**
 * Commands that let a peer through a node's firewall, and survive a restart: those of the program that manages it. See
 * ufw(8), firewall-cmd(1), nft(8) and iptables(8).
 */
final class FirewallCommands {

    private static final String ALL = "";

    private final String node;
    private final FirewallFacts firewall;

    /** Of the node with these facts. */
    FirewallCommands(String node, NodeFacts facts) {
        this.node = node;
        firewall = facts.networks().firewall().orElse(FirewallFacts.NONE);
    }

    /** Lets everything from an address in. */
    List<Remedy> accept(String from) {
        return accept(from, ALL);
    }

    /** Lets one protocol, tcp or udp, from an address in. */
    List<Remedy> accept(String from, String protocol) {
        boolean six = from.contains(":");
        boolean all = protocol.equals(ALL);
        return switch (firewall.manager()) {
            case "ufw" -> List.of(change(node, "ufw allow " + (all ? "" : "proto " + protocol + " ") + "from " + from));
            case "firewalld" ->
                List.of(change(
                        node,
                        "firewall-cmd --permanent --zone=trusted --add-source=" + from + " && firewall-cmd --reload"));
            case "nftables" ->
                nftables((six ? "ip6" : "ip") + " saddr " + from + (all ? "" : " meta l4proto " + protocol));
            default -> iptables(six ? "ip6tables" : "iptables", (all ? "" : "-p " + protocol + " ") + "-s " + from);
        };
    }

    /** Lets a port of UDP in, from everywhere. */
    List<Remedy> acceptUdp(long port) {
        return switch (firewall.manager()) {
            case "ufw" -> List.of(change(node, "ufw allow " + port + "/udp"));
            case "firewalld" ->
                List.of(change(node, "firewall-cmd --permanent --add-port=" + port + "/udp && firewall-cmd --reload"));
            case "nftables" -> nftables("udp dport " + port);
            default -> iptables("iptables", "-p udp --dport " + port);
        };
    }

    private List<Remedy> nftables(String match) {
        String chain = firewall.detail();
        return List.of(
                change(node, "nft insert rule " + chain + " " + match + " accept"),
                advice(
                        node,
                        "to keep it, add \"%s accept\" to the chain %s in the file that nftables.service loads"
                                .formatted(match, chain)));
    }

    private List<Remedy> iptables(String program, String match) {
        String keep = firewall.detail().isEmpty() ? "" : " && " + firewall.detail();
        return List.of(change(node, program + " -I INPUT " + match + " -j ACCEPT" + keep));
    }
}
