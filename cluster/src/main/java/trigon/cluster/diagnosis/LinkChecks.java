package trigon.cluster.diagnosis;

import static trigon.cluster.diagnosis.Finding.advice;
import static trigon.cluster.diagnosis.Finding.change;
import static trigon.cluster.diagnosis.Finding.look;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import trigon.cluster.diagnosis.Finding.Remedy;
import trigon.cluster.diagnosis.Finding.Weight;
import trigon.cluster.facts.NodeFacts;
import trigon.cluster.machine.Nic;
import trigon.cluster.probe.LinkResult;
import trigon.cluster.probe.LinkResult.Answer;
import trigon.cluster.probe.LinkResult.Connection;
import trigon.cluster.probe.LinkResult.Connection.Usual;
import trigon.cluster.probe.LinkResult.Neighbour;
import trigon.cluster.probe.Observations;
import trigon.cluster.probe.Observations.Probe;
import trigon.system.InterfaceAddress;

/** Checks between two nodes, on a link that was tried. Pure. */
final class LinkChecks {

    private static final double MIN_SHARE_OF_SPEED = 0.7;

    /** Value of rp_filter, see the kernel's ip-sysctl. */
    private static final long STRICT = 1;

    /** Losses of a hundred that are no finding: a full queue drops one now and then. */
    private static final long MAX_LOST = 2;

    /** A cable and two NICs take less than a tenth of a millisecond; a busy machine takes some. */
    private static final long MAX_MICROS = 10_000;

    private static final Pattern RULE = Pattern.compile("table \\S+, by rule (\\d+)");

    private final Observations seen;
    private final FirewallChecks firewalls;
    private final MergedFindings findings = new MergedFindings();
    private final Set<String> said = new HashSet<>();

    /** Pairs of addresses between which one end's packets go elsewhere: the other end's answers do, too. */
    private final Set<String> astray = new HashSet<>();

    /** Those of which one end's hardware does not answer the other: that is all there is to say of both directions. */
    private final Set<String> unanswered = new HashSet<>();

    private LinkChecks(Observations seen) {
        this.seen = seen;
        firewalls = new FirewallChecks(seen);
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
                checks.astray.add(MergedFindings.pair(probe));
            }
            if (hasNoNeighbour(probe)) {
                checks.unanswered.add(MergedFindings.pair(probe));
            }
        }
        for (Probe probe : seen.probes()) {
            String from = probe.fromAddress();
            String to = probe.toAddress();
            boolean byRoute = probe.result().routed();
            if (!misled.contains(from) && !misled.contains(to) && (!byRoute || !probe.works())) {
                checks.check(probe);
            }
        }
        return checks.findings.merged();
    }

    /** By another interface than that of this end's address, or by none. */
    private boolean goesElsewhere(Probe probe) {
        String source = probe.result().ends().source();
        String from = probe.fromAddress();
        NodeFacts facts = seen.node(probe.from());
        if (!probe.result().ends().leavesBy().isEmpty()) {
            return seen.nicOf(probe)
                    .filter(nic -> !nic.name().equals(probe.result().ends().leavesBy()))
                    .isPresent();
        }
        if (source.equals(from) || source.isEmpty()) {
            return false;
        }
        return source.equals(LinkResult.NO_SOURCE)
                || facts.interfaceAt(source).isEmpty()
                || !facts.interfaceAt(source).equals(seen.nicOf(probe));
    }

    private void check(Probe probe) {
        if (goesElsewhere(probe)) {
            findings.add(probe, elsewhere(probe));
            checkReversePath(probe);
            return;
        }
        if (astray.contains(MergedFindings.pair(probe))) {
            return;
        }
        switch (probe.tcp()) {
            case Usual.OK -> transferred(probe);
            case Usual.REFUSED -> findings.add(probe, firewalls.refused(probe));
            case Usual.NO_LISTENER -> {} // the other end's address has gone: that link fails
            case Usual _, Connection.Failed _ -> noConnection(probe);
        }
    }

    /** The finding that the kernel sends packets for the link by another interface. */
    private Finding elsewhere(Probe probe) {
        String from = probe.fromAddress();
        String to = probe.toAddress();
        List<Remedy> remedies = new ArrayList<>(List.of(look(
                probe.from(),
                "ip route get " + to + (probe.result().ends().leavesBy().isEmpty() ? "" : " from " + from))));
        remedies.addAll(remedies(probe));
        return new Finding(
                Weight.ERROR,
                "route-elsewhere",
                probe.where(),
                whatOf(probe),
                probe.result().ends().route().isEmpty()
                        ? "from its routing table"
                        : "the kernel's route is in " + probe.result().ends().route(),
                remedies);
    }

    private String whatOf(Probe probe) {
        String to = probe.toAddress();
        if (!probe.result().ends().leavesBy().isEmpty()) {
            return "the kernel of %s sends to %s from %s through %s, not through %s"
                    .formatted(
                            probe.from(),
                            to,
                            probe.fromAddress(),
                            probe.result().ends().leavesBy(),
                            nic(probe).name());
        }
        return probe.result().ends().source().equals(LinkResult.NO_SOURCE)
                ? "the kernel of " + probe.from() + " has no route to " + to
                : "the kernel of %s sends to %s from %s, through another interface"
                        .formatted(probe.from(), to, probe.result().ends().source());
    }

    /** A rule that goes before the main table is answered by one before it, for this subnet alone. */
    private List<Remedy> remedies(Probe probe) {
        String node = probe.from();
        Matcher rule = RULE.matcher(probe.result().ends().route());
        if (!rule.matches()) {
            return List.of(advice(node, "remove the more specific route, or the duplicate address"));
        }
        long preference = Long.parseLong(rule.group(1));
        List<Remedy> remedies = new ArrayList<>();
        nic(probe).ownAddresses().stream()
                .filter(own -> own.contains(InterfaceAddress.parseAddress(probe.toAddress())))
                .findFirst()
                .ifPresent(own -> remedies.add(change(
                        node,
                        "ip %srule add pref %d to %s lookup main"
                                .formatted(
                                        probe.toAddress().contains(":") ? "-6 " : "",
                                        Math.max(1, preference - 1),
                                        own.subnet()))));
        remedies.add(advice(
                node,
                probe.result().ends().leavesBy().startsWith("tailscale")
                        ? "to keep it, do not accept the route: tailscale set --accept-routes=false, or withdraw the"
                                + " subnet route where it is advertised"
                        : "to keep it, have the program behind %s leave this subnet out of %s"
                                .formatted(
                                        probe.result().ends().leavesBy(),
                                        probe.result().ends().route().replaceFirst(",.*", ""))));
        return remedies;
    }

    /** A strict filter drops what comes in over another interface than the one that answers go to. */
    private void checkReversePath(Probe probe) {
        NodeFacts facts = seen.node(probe.from());
        seen.nicOf(probe)
                .map(nic -> nic.name())
                .filter(name -> facts.reversePathFilter(name) == STRICT)
                .ifPresent(name -> findings.add(
                        probe,
                        Finding.error(
                                "reverse-path-filter",
                                probe.from() + " " + name,
                                ("%s drops what comes from %s over %s: answers would take another interface, and"
                                                + " its reverse-path filter is strict")
                                        .formatted(probe.from(), probe.toAddress(), name),
                                "net.ipv4.conf." + Ipv6Checks.slashed(name) + ".rp_filter is 1, and the route to "
                                        + probe.toAddress() + " does not lead over " + name,
                                change(
                                        probe.from(),
                                        "sysctl -w net.ipv4.conf." + Ipv6Checks.slashed(name) + ".rp_filter=2"))));
    }

    private void noConnection(Probe probe) {
        String to = probe.toAddress();
        if (unanswered.contains(MergedFindings.pair(probe)) && !hasNoNeighbour(probe)) {
            return;
        }
        if (hasNoNeighbour(probe)) {
            String pair = MergedFindings.pair(probe);
            if (said.add("cable " + pair)) {
                findings.error(
                        probe,
                        "no-neighbour",
                        "no answer from " + to + ": the cable leads elsewhere, the other end is down, or these"
                                + " are two networks with the same addresses",
                        probe.result().neighbour().isEmpty()
                                ? "a connection got \"no route to host\""
                                : "the kernel sent ARP or neighbour requests for " + to + ", without an answer",
                        advice(
                                probe.from(),
                                "check that a cable or a switch joins these two ports; trigon doctor's tables"
                                        + " show where each leads"));
            }
        } else if (probe.tcp() == Usual.UNREACHABLE) {
            findings.add(probe, firewalls.refused(probe));
        } else if (probe.hasUdp()) {
            findings.add(probe, firewalls.tcpBlocked(probe));
        } else if (probe.result().neighbour().isEmpty()) {
            findings.error(
                    probe,
                    "no-answer",
                    "nothing from %s reaches %s".formatted(probe.from(), probe.to()),
                    "no answer to TCP or UDP",
                    look(probe.from(), "ping -c 3 -I " + probe.fromAddress() + " " + to));
        } else {
            findings.add(probe, firewalls.allBlocked(probe));
        }
    }

    private static boolean hasNoNeighbour(Probe probe) {
        return probe.tcp() != Usual.OK
                && (probe.result().neighbour().filter(Neighbour::isSilent).isPresent()
                        || (probe.tcp() == Usual.UNREACHABLE
                                && probe.result().neighbour().isEmpty()));
    }

    private void transferred(Probe probe) {
        if (probe.data() == Usual.WRONG) {
            findings.error(
                    probe,
                    "data-wrong",
                    "data arrives corrupted",
                    "the checksum differs at the other end",
                    advice(probe.from(), "replace the cable; see dmesg and ethtool -S of both ends"));
        }
        boolean mtu = checkMtu(probe);
        if (probe.data() != Usual.RIGHT && probe.data() != Usual.WRONG && !mtu) {
            findings.error(
                    probe,
                    "transfer-stuck",
                    "a connection comes up, but no data arrives",
                    "transfer: " + probe.data(),
                    advice(probe.from(), "a smaller MTU on the way, or a firewall that drops long packets"));
        }
        if (!probe.hasUdp()) {
            findings.add(probe, firewalls.udpBlocked(probe));
        } else {
            if (probe.result()
                    .udpPackets()
                    .roceUdp()
                    .filter(Answer.NONE::equals)
                    .isPresent()) {
                findings.add(probe, firewalls.rocePortBlocked(probe));
            }
            if (probe.result()
                    .udpPackets()
                    .topologyUdp()
                    .filter(Answer.NONE::equals)
                    .isPresent()) {
                findings.add(probe, firewalls.topologyPortBlocked(probe));
            }
        }
        checkLosses(probe);
        checkRate(probe);
    }

    private void checkLosses(Probe probe) {
        int lost = probe.result().udpPackets().datagramsLost();
        if (lost > MAX_LOST) {
            findings.warning(
                    probe,
                    "packets-lost",
                    "%d of %d small datagrams were lost in one of the directions"
                            .formatted(lost, probe.result().udpPackets().datagrams()),
                    "the other end answers each datagram",
                    look(probe.from(), "ip -s link; tc -s qdisc"),
                    advice(probe.from(), "replace the cable; see ethtool -S of both ends"));
        }
        long micros = probe.result().stream().leastRoundTripMicros().orElse(0L);
        if (micros > MAX_MICROS) {
            findings.warning(
                    probe,
                    "round-trip-long",
                    "a round trip takes %d us at best; over a cable it takes less than 100".formatted(micros),
                    "the shortest of 20 round trips over TCP",
                    look(probe.from(), "tc qdisc show"),
                    advice(probe.from(), "check whether this is a cable, or a path through other machines"));
        }
    }

    /** Tells whether packets of the interface's size do not arrive. */
    private boolean checkMtu(Probe probe) {
        if (probe.result().udpPackets().mtuArrives().isEmpty()) {
            return false;
        }
        Nic nic = nic(probe);
        long mtu = nic.mtu();
        long arrives = probe.result().udpPackets().mtuArrives().orElseThrow();
        if (mtu == 0 || arrives >= Math.min(mtu, 65_000)) {
            return false;
        }
        long other = other(probe).mtu();
        boolean dataArrive = probe.data() == Usual.RIGHT; // TCP and RoCE agree on what both ends take
        findings.add(
                probe,
                new Finding(
                        dataArrive ? Weight.WARNING : Weight.ERROR,
                        "mtu",
                        probe.where(),
                        "packets of %d bytes, the MTU of %s, do not arrive; packets of %d do"
                                .formatted(mtu, nic.name(), arrives),
                        "unfragmented datagrams" + (other > 0 ? "; the MTU of the other end is " + other : ""),
                        List.of(
                                other > 0 && other < mtu
                                        ? change(
                                                probe.to(),
                                                "ip link set " + other(probe).name() + " mtu " + mtu)
                                        : change(probe.from(), "ip link set " + nic.name() + " mtu " + arrives))));
        return true;
    }

    private Nic nic(Probe probe) {
        return seen.nicOf(probe).orElse(Nic.NONE);
    }

    private Nic other(Probe probe) {
        return seen.node(probe.to()).interfaceAt(probe.toAddress()).orElse(Nic.NONE);
    }

    private void checkRate(Probe probe) {
        boolean byRdma = probe.rdmaRate().isPresent();
        Optional<Long> measured = probe.rdmaRate().or(probe.result().stream()::rateMbps);
        if (measured.isEmpty()) {
            return;
        }
        long rate = measured.orElseThrow();
        seen.nicOf(probe)
                .filter(nic -> nic.speedMbps() > 0)
                .filter(nic -> rate < nic.speedMbps() * MIN_SHARE_OF_SPEED)
                .ifPresent(nic -> findings.warning(
                        probe,
                        "slow",
                        "%s carries %d Mbit/s; the link's nominal speed is %d"
                                .formatted(byRdma ? "RDMA WRITE" : "one TCP connection", rate, nic.speedMbps()),
                        "less than 0.7 of its speed, measured for " + (byRdma ? "1 s" : "2 s"),
                        advice(
                                probe.from(),
                                byRdma
                                        ? "see MTU, PCIe link and counters of errors above"
                                        : "see MTU, PCIe link and counters of errors above; with RDMA, TCP"
                                                + " may be slower")));
    }
}
