package trigon.tools.diagnosis;

import static trigon.tools.diagnosis.Finding.advice;
import static trigon.tools.diagnosis.Finding.change;
import static trigon.tools.diagnosis.Finding.look;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import trigon.system.InterfaceAddress;
import trigon.tools.console.JsonObject;
import trigon.tools.diagnosis.Finding.Weight;
import trigon.tools.probe.Examination;
import trigon.tools.probe.Observations;
import trigon.tools.probe.Observations.Probe;

/** What is wrong between two nodes, on a link that was tried. Pure. */
final class LinkChecks {

    private static final double LEAST_SHARE_OF_SPEED = 0.7;

    /** Value of rp_filter, see the kernel's ip-sysctl. */
    private static final long STRICT = 1;

    /** Of a hundred; a full queue drops one now and then. */
    private static final long MOST_LOST = 2;

    /** A cable and two NICs take less than a tenth of a millisecond; a busy machine takes some. */
    private static final long MOST_MICROS = 10_000;

    private final Observations seen;
    private final MergedFindings findings = new MergedFindings();
    private final Set<String> said = new HashSet<>();

    /** Pairs of addresses between which one end's packets go elsewhere: the other end's answers do, too. */
    private final Set<String> astray = new HashSet<>();

    /** Those of which one end's hardware does not answer the other: that is all there is to say of both directions. */
    private final Set<String> unanswered = new HashSet<>();

    private LinkChecks(Observations seen) {
        this.seen = seen;
    }

    /**
     * All of them.
     *
     * @param misled addresses whose trouble is explained already, by another finding
     */
    static List<Finding> of(Observations seen, Set<String> misled) {
        LinkChecks checks = new LinkChecks(seen);
        for (Probe probe : seen.probes()) {
            if (checks.goesElsewhere(probe)) {
                checks.astray.add(MergedFindings.pair(probe.result()));
            }
            if (hasNoNeighbour(probe.result())) {
                checks.unanswered.add(MergedFindings.pair(probe.result()));
            }
        }
        for (Probe probe : seen.probes()) {
            String from = probe.result().text("from");
            String to = probe.result().text("to");
            boolean byRoute = probe.result().isTrue("routed");
            if (!misled.contains(from) && !misled.contains(to) && (!byRoute || !probe.works())) {
                checks.check(probe);
            }
        }
        return checks.findings.merged();
    }

    /** Not from that interface: from another address of it is as good. */
    private boolean goesElsewhere(Probe probe) {
        String source = probe.result().text("source");
        String from = probe.result().text("from");
        JsonObject facts = seen.facts().get(probe.from());
        if (source.equals(from) || source.isEmpty()) {
            return false;
        }
        return source.equals("none")
                || facts == null
                || Observations.interfaceOf(facts, address(source)).isEmpty()
                || !Observations.interfaceOf(facts, address(source))
                        .equals(Observations.interfaceOf(facts, address(from)));
    }

    private void check(Probe probe) {
        JsonObject result = probe.result();
        String from = result.text("from");
        String to = result.text("to");
        String where = "%s %s to %s %s".formatted(probe.from(), from, probe.to(), to);
        String source = result.text("source");
        if (goesElsewhere(probe)) {
            findings.add(
                    probe,
                    Finding.error(
                            "route-elsewhere",
                            where,
                            source.equals("none")
                                    ? "the kernel of " + probe.from() + " has no route to " + to
                                    : "the kernel of %s sends to %s from %s, through another interface"
                                            .formatted(probe.from(), to, source),
                            "from its routing table",
                            look(probe.from(), "ip route get " + to),
                            advice(probe.from(), "remove the more specific route, or the duplicate address")));
            checkReversePath(probe);
            return;
        }
        if (astray.contains(MergedFindings.pair(result))) {
            return;
        }
        switch (result.text("tcp")) {
            case "ok" -> transferred(probe, where);
            case "refused" ->
                findings.add(
                        probe,
                        Finding.error(
                                "tcp-refused",
                                where,
                                probe.to() + " refuses TCP at " + to,
                                "a listener runs there, but the connection was refused: by a firewall, or by"
                                        + " another machine with this address",
                                look(probe.to(), "nft list ruleset; iptables -S"),
                                change(probe.to(), "iptables -I INPUT -p tcp -s " + from + " -j ACCEPT")));
            case Examination.NO_LISTENER -> {} // the other end's address has gone: that link fails
            default -> noConnection(probe, where);
        }
    }

    /** A strict filter drops what comes in over another interface than the one that answers go to. */
    private void checkReversePath(Probe probe) {
        JsonObject facts = seen.facts().get(probe.from());
        if (facts == null) {
            return;
        }
        Observations.interfaceOf(facts, address(probe.result().text("from")))
                .map(nic -> nic.text("name"))
                .filter(name -> facts.object("reversePathFilter").whole(name) == STRICT)
                .ifPresent(name -> findings.add(
                        probe,
                        Finding.error(
                                "reverse-path-filter",
                                probe.from() + " " + name,
                                ("%s drops what comes from %s over %s: answers would take another interface, and"
                                                + " its reverse-path filter is strict")
                                        .formatted(probe.from(), probe.result().text("to"), name),
                                "net.ipv4.conf." + slashed(name) + ".rp_filter is 1, and the route to "
                                        + probe.result().text("to") + " does not lead over " + name,
                                change(probe.from(), "sysctl -w net.ipv4.conf." + slashed(name) + ".rp_filter=2"))));
    }

    /** As sysctl takes a VLAN's name: a dot would begin the next part. */
    private static String slashed(String name) {
        return name.replace('.', '/');
    }

    private void noConnection(Probe probe, String where) {
        JsonObject result = probe.result();
        String to = result.text("to");
        if (unanswered.contains(MergedFindings.pair(result)) && !hasNoNeighbour(result)) {
            return;
        }
        if (hasNoNeighbour(result)) {
            String pair = MergedFindings.pair(result);
            if (said.add("cable " + pair)) {
                findings.add(
                        probe,
                        Finding.error(
                                "no-neighbour",
                                where,
                                "no answer from " + to
                                        + " on this cable: the cable leads elsewhere, or the other end is down",
                                "the kernel sent ARP or neighbour requests for " + to + ", without an answer",
                                advice(
                                        probe.from(),
                                        "check that the cable joins these two ports; trigon doctor's table of"
                                                + " cables shows where it leads")));
            }
        } else if (result.text("udp").equals("ok")) {
            findings.add(
                    probe,
                    Finding.error(
                            "tcp-blocked",
                            where,
                            "TCP from %s does not reach %s, and UDP does: a firewall"
                                    .formatted(probe.from(), probe.to()),
                            "no answer to a connection within 1.5 s",
                            change(probe.to(), "iptables -I INPUT -p tcp -s " + result.text("from") + " -j ACCEPT")));
        } else if (result.text("neighbour").isEmpty()) {
            findings.add(
                    probe,
                    Finding.error(
                            "no-answer",
                            where,
                            "nothing from %s reaches %s".formatted(probe.from(), probe.to()),
                            "no answer to TCP or UDP",
                            look(probe.from(), "ping -c 3 -I " + result.text("from") + " " + to)));
        } else {
            findings.add(
                    probe,
                    Finding.error(
                            "all-blocked",
                            where,
                            "neither TCP nor UDP from %s reaches %s, whose hardware answers: a firewall, or rp_filter"
                                    .formatted(probe.from(), probe.to()),
                            "ARP has an answer, " + result.text("neighbour") + "; TCP and UDP have none",
                            change(probe.to(), "iptables -I INPUT -s " + result.text("from") + " -j ACCEPT"),
                            look(probe.to(), "sysctl net.ipv4.conf.all.rp_filter")));
        }
    }

    private static boolean hasNoNeighbour(JsonObject result) {
        return !result.text("tcp").equals("ok")
                && (result.text("neighbour").equals("no answer")
                        || result.text("tcp").equals("unreachable"));
    }

    private void transferred(Probe probe, String where) {
        JsonObject result = probe.result();
        if (result.text("data").equals("wrong")) {
            findings.add(
                    probe,
                    Finding.error(
                            "data-wrong",
                            where,
                            "data arrives corrupted",
                            "the checksum differs at the other end",
                            advice(probe.from(), "replace the cable; see dmesg and ethtool -S of both ends")));
        }
        boolean mtu = checkMtu(probe, where);
        if (!result.text("data").equals("right") && !result.text("data").equals("wrong") && !mtu) {
            findings.add(
                    probe,
                    Finding.error(
                            "transfer-stuck",
                            where,
                            "a connection comes up, but no data arrives",
                            "transfer: " + result.text("data"),
                            advice(probe.from(), "a smaller MTU on the way, or a firewall that drops long packets")));
        }
        if (!result.text("udp").equals("ok")) {
            findings.add(
                    probe,
                    Finding.warning(
                            "udp-blocked",
                            where,
                            "UDP from %s does not reach %s, and TCP does: a firewall; nodes announce themselves by UDP"
                                    .formatted(probe.from(), probe.to()),
                            "no answer to three datagrams",
                            change(probe.to(), "iptables -I INPUT -p udp -s " + result.text("from") + " -j ACCEPT")));
        } else if (result.text("roceUdp").equals("no answer")) {
            findings.add(
                    probe,
                    Finding.warning(
                            "roce-port-blocked",
                            where,
                            "UDP port 4791 of %s is blocked: RoCE v2 would not get through".formatted(probe.to()),
                            "no answer there; other ports answer",
                            change(probe.to(), "iptables -I INPUT -p udp --dport 4791 -j ACCEPT")));
        }
        checkTopologyPort(probe, where);
        checkLosses(probe, where);
        checkRate(probe, where);
    }

    private void checkTopologyPort(Probe probe, String where) {
        if (!probe.result().text("udp").equals("ok")
                || !probe.result().text("topologyUdp").equals("no answer")) {
            return;
        }
        JsonObject facts = seen.facts().get(probe.to());
        long port = facts == null ? 0 : facts.whole("topologyPort");
        findings.add(
                probe,
                Finding.warning(
                        "topology-port-blocked",
                        where,
                        "UDP port %d of %s is blocked, which announcements use: no relays are found here"
                                .formatted(port, probe.to()),
                        "no answer there; other ports answer",
                        change(probe.to(), "iptables -I INPUT -p udp --dport " + port + " -j ACCEPT")));
    }

    private void checkLosses(Probe probe, String where) {
        JsonObject result = probe.result();
        long lost = result.whole("datagramsLost");
        if (lost > MOST_LOST) {
            findings.add(
                    probe,
                    Finding.warning(
                            "packets-lost",
                            where,
                            "%d of %d small datagrams were lost in one of the directions"
                                    .formatted(lost, result.whole("datagrams")),
                            "the other end answers each datagram",
                            look(probe.from(), "ip -s link; tc -s qdisc"),
                            advice(probe.from(), "replace the cable; see ethtool -S of both ends")));
        }
        long micros = result.whole("leastRoundTripMicros");
        if (micros > MOST_MICROS) {
            findings.add(
                    probe,
                    Finding.warning(
                            "round-trip-long",
                            where,
                            "a round trip takes %d us at best; over a cable it takes less than 100".formatted(micros),
                            "the shortest of 20 round trips over TCP",
                            look(probe.from(), "tc qdisc show"),
                            advice(probe.from(), "check whether this is a cable, or a path through other machines")));
        }
    }

    /** Whether packets of the interface's size do not arrive. */
    private boolean checkMtu(Probe probe, String where) {
        InterfaceAddress from = address(probe.result().text("from"));
        JsonObject facts = seen.facts().get(probe.from());
        if (facts == null || probe.result().number("mtuArrives").isEmpty()) {
            return false;
        }
        JsonObject nic = Observations.interfaceOf(facts, from).orElse(facts);
        long mtu = nic.whole("mtu");
        long arrives = probe.result().whole("mtuArrives");
        if (mtu == 0 || arrives >= Math.min(mtu, 65_000)) {
            return false;
        }
        long other = other(probe).whole("mtu");
        boolean dataArrive = probe.result().text("data").equals("right"); // TCP and RoCE agree on what both ends take
        findings.add(
                probe,
                new Finding(
                        dataArrive ? Weight.WARNING : Weight.ERROR,
                        "mtu",
                        where,
                        "packets of %d bytes, the MTU of %s, do not arrive; packets of %d do"
                                .formatted(mtu, nic.text("name"), arrives),
                        "unfragmented datagrams" + (other > 0 ? "; the MTU of the other end is " + other : ""),
                        List.of(
                                other > 0 && other < mtu
                                        ? change(
                                                probe.to(),
                                                "ip link set " + other(probe).text("name") + " mtu " + mtu)
                                        : change(
                                                probe.from(), "ip link set " + nic.text("name") + " mtu " + arrives))));
        return true;
    }

    private JsonObject other(Probe probe) {
        JsonObject facts = seen.facts().get(probe.to());
        return facts == null
                ? new JsonObject(Map.of())
                : Observations.interfaceOf(facts, address(probe.result().text("to")))
                        .orElseGet(() -> new JsonObject(Map.of()));
    }

    private void checkRate(Probe probe, String where) {
        JsonObject facts = seen.facts().get(probe.from());
        boolean byRdma = probe.result().object("rdma").number("rateMbps").isPresent();
        JsonObject measured = byRdma ? probe.result().object("rdma") : probe.result();
        if (facts == null || measured.number("rateMbps").isEmpty()) {
            return;
        }
        long rate = measured.whole("rateMbps");
        Observations.interfaceOf(facts, address(probe.result().text("from")))
                .filter(nic -> nic.number("speedMbps").isPresent())
                .filter(nic -> rate < nic.whole("speedMbps") * LEAST_SHARE_OF_SPEED)
                .ifPresent(nic -> findings.add(
                        probe,
                        Finding.warning(
                                "slow",
                                where,
                                "%s carries %d Mbit/s; the link's nominal speed is %d"
                                        .formatted(
                                                byRdma ? "RDMA WRITE" : "one TCP connection",
                                                rate,
                                                nic.whole("speedMbps")),
                                "less than 0.7 of its speed, measured for " + (byRdma ? "1 s" : "2 s"),
                                advice(
                                        probe.from(),
                                        byRdma
                                                ? "see MTU, PCIe link and counters of errors above"
                                                : "see MTU, PCIe link and counters of errors above; with RDMA, TCP"
                                                        + " may be slower"))));
    }

    private static InterfaceAddress address(String text) {
        var address = InterfaceAddress.parseAddress(text);
        return new InterfaceAddress(address, address.getAddress().length * 8);
    }
}
