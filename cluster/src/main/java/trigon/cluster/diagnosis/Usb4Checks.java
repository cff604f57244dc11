package trigon.cluster.diagnosis;

import static trigon.cluster.diagnosis.Finding.advice;
import static trigon.cluster.diagnosis.Finding.change;

import java.util.ArrayList;
import java.util.List;
import trigon.cluster.facts.NodeFacts;
import trigon.cluster.machine.Nic;
import trigon.cluster.machine.Usb4Cable;

/** Checks of a node's cables by USB4 and Thunderbolt. Pure. */
final class Usb4Checks {

    /** An interface has it from the kernel; frames of up to 64 KiB are as cheap. */
    private static final int USUAL_MTU = 1500;

    private static final int MAX_MTU = 65_520;

    private Usb4Checks() {}

    static List<Finding> of(String node, NodeFacts facts) {
        List<Finding> findings = new ArrayList<>();
        for (Usb4Cable cable : facts.networks().usb4Cables()) {
            String to = cable.peer().isEmpty() ? "another machine" : cable.peer();
            String where = node + " " + cable.nic().orElse(cable.device());
            if (cable.nic().isEmpty()) {
                findings.add(Finding.warning(
                        "usb4-no-interface",
                        where,
                        "a USB4 cable leads to %s, and has no network interface".formatted(to),
                        "the kernel's bus has the machine as %s, without one".formatted(cable.device()),
                        change(node, "modprobe thunderbolt-net"),
                        advice(node, "the same on the other machine")));
                continue;
            }
            if (cable.lanes() == 1) {
                findings.add(Finding.warning(
                        "usb4-one-lane",
                        where,
                        "the USB4 cable to %s carries one lane of two".formatted(to),
                        "%d Mbit/s".formatted(cable.speedMbps()),
                        advice(node, "plug it again, into ports for USB4; then take a cable for 40 Gbit/s")));
            }
            cable.nic()
                    .flatMap(facts::interfaceNamed)
                    .map(Nic::mtu)
                    .filter(mtu -> mtu > 0 && mtu <= USUAL_MTU)
                    .ifPresent(mtu -> findings.add(Finding.warning(
                            "usb4-small-mtu",
                            where,
                            "the USB4 link to %s has small packets, which cost most of its speed".formatted(to),
                            "MTU " + mtu,
                            change(
                                    node,
                                    "ip link set dev %s mtu %d"
                                            .formatted(cable.nic().orElseThrow(), MAX_MTU)),
                            advice(node, "the same at the other end, in the same minute"))));
        }
        return findings;
    }
}
