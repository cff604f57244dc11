package trigon.cluster.diagnosis;

import static trigon.cluster.diagnosis.Finding.advice;
import static trigon.cluster.diagnosis.Finding.change;

import java.util.ArrayList;
import java.util.List;
import trigon.cluster.facts.NodeFacts;
import trigon.cluster.machine.RdmaPort;
import trigon.cluster.machine.Usb4Cable;

/** Checks of a node's cables by USB4 and Thunderbolt, and of RDMA over them. Pure. */
final class Usb4Checks {

    /** An interface has it from the kernel; frames of up to 64 KiB are as cheap. */
    private static final int USUAL_MTU = 1500;

    private static final int MAX_MTU = 65_520;

    /** The kernel's driver of a controller, whose rings carry RDMA if another module makes a device of them. */
    private static final String CONTROLLER = "thunderbolt";

    private final String node;
    private final NodeFacts facts;
    private final List<Finding> findings = new ArrayList<>();

    private Usb4Checks(String node, NodeFacts facts) {
        this.node = node;
        this.facts = facts;
    }

    static List<Finding> of(String node, NodeFacts facts) {
        Usb4Checks checks = new Usb4Checks(node, facts);
        facts.networks().usb4Cables().forEach(checks::cable);
        facts.rdmaPorts().stream()
                .filter(port -> port.driver().equals(CONTROLLER))
                .forEach(checks::rdma);
        return checks.findings;
    }

    private void cable(Usb4Cable cable) {
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
            return;
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
                .filter(nic -> nic.mtu() > 0 && nic.mtu() <= USUAL_MTU)
                .ifPresent(nic -> findings.add(Finding.warning(
                        "usb4-small-mtu",
                        where,
                        "the USB4 link to %s has small packets, which cost most of its speed".formatted(to),
                        "MTU " + nic.mtu(),
                        change(node, "ip link set dev %s mtu %d".formatted(nic.name(), MAX_MTU)),
                        advice(node, "the same at the other end, in the same minute"))));
    }

    /** A device of thunderbolt-ibverbs, or of another module of its kind. */
    private void rdma(RdmaPort port) {
        String where = node + " " + port.label();
        if (port.unlisted()) {
            findings.add(Finding.warning(
                    "usb4-no-provider",
                    where,
                    "libibverbs has no driver for the USB4 device %s: its cable carries TCP".formatted(port.device()),
                    "the kernel has the device, and libibverbs does not list it",
                    advice(node, "install the provider that comes with the kernel's module" + renamed(port.device()))));
        } else if (port.isActive() && port.interfaces().isEmpty()) {
            findings.add(Finding.warning(
                    "usb4-rdma-no-interface",
                    where,
                    "the USB4 device %s belongs to no network interface: its cable carries TCP"
                            .formatted(port.device()),
                    "so it has no GID of an address",
                    advice(
                            node,
                            "load its module with the interface of the cable; of thunderbolt_ibverbs that is the"
                                    + " option roce_netdev=" + interfaceOfACable())));
        }
    }

    /** Older providers know a device by the name that its module gave it, and udev gives it another one. */
    private static String renamed(String device) {
        return device.startsWith("usb4_")
                ? ""
                : "; one that goes by names needs rdma dev set %s name usb4_rdma0".formatted(device);
    }

    private String interfaceOfACable() {
        return facts.networks().usb4Cables().stream()
                .flatMap(cable -> cable.nic().stream())
                .findFirst()
                .orElse("thunderbolt0");
    }
}
