package trigon.cluster.diagnosis;

import static trigon.cluster.diagnosis.Finding.advice;
import static trigon.cluster.diagnosis.Finding.change;
import static trigon.cluster.diagnosis.Finding.look;

import java.util.ArrayList;
import java.util.List;
import trigon.cluster.facts.LinkFacts.LeftOut;
import trigon.cluster.facts.NodeFacts;
import trigon.cluster.facts.SystemFacts.Limits;
import trigon.cluster.facts.SystemFacts.RdmaDevices;
import trigon.cluster.machine.Nic;
import trigon.cluster.machine.RdmaPort;

/** Checks of one node, whatever the others are. Pure. */
final class NodeChecks {

    private static final long MIN_LOCKED_BYTES = 1L << 30;
    private static final long MIN_FILES = 1024;
    private static final long MIN_SHARED_BYTES = 256L << 20;
    private static final long MIN_TASKS = 256;

    private final String node;
    private final NodeFacts facts;
    private final List<Finding> findings = new ArrayList<>();

    private NodeChecks(String node, NodeFacts facts) {
        this.node = node;
        this.facts = facts;
    }

    static List<Finding> of(String node, NodeFacts facts) {
        NodeChecks checks = new NodeChecks(node, facts);
        checks.settings();
        checks.links();
        checks.addresses();
        checks.hardware();
        checks.rdma();
        facts.system().limits().ifPresent(checks::limits);
        checks.findings.addAll(GpuChecks.of(node, facts));
        checks.findings.addAll(Usb4Checks.of(node, facts));
        checks.findings.addAll(TableChecks.of(node, facts));
        checks.findings.addAll(NcclChecks.of(node, facts.nccl(), facts.interfaces()));
        return checks.findings;
    }

    private void settings() {
        for (String problem : facts.local().problems()) {
            findings.add(Finding.error(
                    "settings-wrong",
                    node,
                    "the plugin would fail to start here: " + problem,
                    "from its settings, as the plugin reads them",
                    advice(node, "do as the message says")));
        }
        for (String unknown : facts.plugin().unknownVariables()) {
            findings.add(Finding.warning(
                    "unknown-variable",
                    node,
                    unknown,
                    "the environment of this command",
                    advice(node, "correct the name, or remove the variable")));
        }
    }

    private void links() {
        if (usesNoCable()) {
            findings.add(Finding.error(
                    "no-link",
                    node,
                    "there is no link to other machines: apart from bridges and the like, no interface with an IP"
                            + " address is up",
                    "trigon links",
                    advice(node, "bring an interface up and give it an address; trigon plan assigns addresses")));
        }
        for (LeftOut leftOut : facts.local().leftOut()) {
            if (leftOut.isSuspect()) {
                findings.add(Finding.warning(
                        "prefix-not-the-files",
                        node + " " + leftOut.name(),
                        leftOut.why(),
                        "the file and the interface",
                        advice(node, "give the interface the prefix of the file, or correct the file")));
            }
        }
    }

    /** IPv6 addresses that the kernel does not use, or only last. */
    private void addresses() {
        for (Nic nic : facts.interfaces()) {
            for (String address : nic.addressesIn("failed")) {
                findings.add(Finding.warning(
                        "address-failed",
                        node + " " + nic.name(),
                        "another machine on the link of %s has %s as well, so the kernel does not use it here"
                                .formatted(nic.name(), address),
                        "duplicate address detection has failed (dadfailed)",
                        look(node, "ip -6 addr show dev " + nic.name()),
                        advice(node, "give one of the two machines another address")));
            }
            for (String address : nic.addressesIn("tentative")) {
                findings.add(Finding.note(
                        "address-tentative",
                        node + " " + nic.name(),
                        "%s of %s is not used yet: the kernel still checks that no other machine has it"
                                .formatted(address, nic.name()),
                        "the address is tentative for more than two seconds",
                        look(node, "ip -6 addr show dev " + nic.name())));
            }
            for (String address : nic.addressesIn("deprecated")) {
                findings.add(Finding.note(
                        "address-deprecated",
                        node + " " + nic.name(),
                        "%s of %s is used last: its preferred lifetime is over".formatted(address, nic.name()),
                        "the address is deprecated",
                        advice(node, "give it a new lifetime, or remove it; see ip -6 addr show dev " + nic.name())));
            }
        }
    }

    /**
     * Without a list of NICs the loopback, or a bridge of containers, is taken where there is nothing else: no other
     * machine is reached by it.
     */
    private boolean usesNoCable() {
        boolean listed = facts.isListed();
        return facts.links().stream()
                .allMatch(link -> !listed
                        && (facts.isInner(link.nic())
                                || link.address().address().isLoopbackAddress()));
    }

    private void hardware() {
        for (Nic nic : facts.interfaces()) {
            String name = nic.name();
            boolean used = isUsed(name);
            if (facts.networks().innerInterfaces().contains(name)) {
                continue; // to containers or virtual machines, without a cable
            }
            if (nic.isTunnel()) {
                tunnel(nic);
            } else if (nic.lacksCarrier() && (used || !nic.ownAddresses().isEmpty())) {
                findings.add(Finding.error(
                        "no-carrier",
                        node + " " + name,
                        name + " has an address, but no carrier: nothing is connected to it",
                        "/sys/class/net/" + name + "/carrier is 0",
                        advice(node, "plug the cable in at both ends, and bring the other end's interface up")));
            } else if (nic.isDown()
                    && !nic.hasCarrier() // the state follows a moment later
                    && !nic.ownAddresses().isEmpty()) {
                findings.add(Finding.error(
                        "interface-down",
                        node + " " + name,
                        name + " has an address and is down",
                        "/sys/class/net/" + name + "/operstate is down",
                        change(node, "ip link set " + name + " up")));
            }
            if (nic.duplex().equals("half")) {
                findings.add(Finding.warning(
                        "half-duplex",
                        node + " " + name,
                        name + " has negotiated half duplex, so that only one end sends at a time",
                        "/sys/class/net/" + name + "/duplex",
                        change(node, "ethtool -s " + name + " autoneg on")));
            }
            nic.pci()
                    .filter(pci -> used && !pci.negotiated().isEmpty() && pci.isReduced())
                    .ifPresent(pci -> findings.add(Finding.warning(
                            "pcie-reduced",
                            node + " " + name,
                            "the PCIe link of %s is %s, but the card supports %s"
                                    .formatted(name, pci.negotiated(), pci.possible()),
                            "current_link_speed and current_link_width of " + pci.function(),
                            advice(node, "move the card to a slot with all lanes, or check the firmware's settings"))));
        }
    }

    /** A tunnel has no cable; without its program it has no carrier, or is down. */
    private void tunnel(Nic nic) {
        if ((nic.lacksCarrier() || nic.isDown()) && !nic.ownAddresses().isEmpty()) {
            findings.add(Finding.note(
                    "tunnel-down",
                    node + " " + nic.name(),
                    nic.name() + " is a tunnel with an address, and its program does not run",
                    "it has no carrier, or is down",
                    advice(node, "start its program if jobs are to use it")));
        }
    }

    private boolean isUsed(String name) {
        return facts.links().stream().anyMatch(link -> link.nic().equals(name));
    }

    private void rdma() {
        List<RdmaPort> ports = facts.rdmaPorts();
        if (ports.isEmpty()) {
            return;
        }
        RdmaDevices devices = facts.system().rdmaDevices().orElse(new RdmaDevices(List.of(), List.of()));
        if (devices.usable().isEmpty()) {
            boolean refused = !devices.refused().isEmpty();
            findings.add(Finding.error(
                    refused ? "rdma-device-refused" : "no-dev-infiniband",
                    node,
                    refused
                            ? "this user cannot open /dev/infiniband/uverbs*, so RDMA is not used"
                            : "the kernel has RDMA devices, but there is no /dev/infiniband/uverbs*, so no RDMA",
                    refused ? "the files' modes" : "/sys/class/infiniband has devices",
                    refused
                            ? change(node, "chmod 666 /dev/infiniband/uverbs*")
                            : advice(node, "modprobe ib_uverbs; in a container: --device /dev/infiniband")));
        } else if (facts.local().noRdma().isPresent() && !facts.plugin().has("links", "software")) {
            findings.add(Finding.error(
                    "rdma-library",
                    node,
                    "RDMA is not used: " + facts.local().noRdma().orElseThrow(),
                    "from libibverbs",
                    change(node, "apt-get install ibverbs-providers libibverbs1")));
        }
        for (RdmaPort port : ports) {
            String label = port.label();
            if (!port.isActive()
                    && port.interfaces().stream().anyMatch(this::hasAddress)
                    && port.interfaces().stream().noneMatch(this::isDown)) {
                findings.add(Finding.error(
                        "rdma-port-down",
                        node + " " + label,
                        "the RDMA port " + label + " is " + port.state() + ", though its interface has an address",
                        "/sys/class/infiniband/" + port.device() + "/ports/" + port.port() + "/state",
                        advice(node, "check that the cable is plugged in at both ends")));
            } else if (port.linkLayer().equals("Ethernet")
                    && port.interfaces().stream().anyMatch(this::hasAddress)
                    && port.gids().stream().noneMatch(gid -> gid.type().equals("RoCE v2"))) {
                findings.add(Finding.error(
                        "no-roce-v2-gid",
                        node + " " + label,
                        label + " has no GID of RoCE v2 for its interface's address",
                        "the port's GID table",
                        advice(
                                node,
                                "update the card's firmware and driver; for mlx4, set the module option roce_mode"
                                        + " to 2")));
            }
        }
        interfaceElsewhere(ports);
        String locked = facts.system().limits().map(Limits::lockedBytes).orElse("");
        if (!locked.equals("unlimited") && !locked.isEmpty() && number(locked) < MIN_LOCKED_BYTES) {
            findings.add(Finding.error(
                    "memlock-low",
                    node,
                    "at most " + locked + " bytes of memory can be locked, but RDMA locks all registered memory",
                    "\"Max locked memory\" of /proc/self/limits",
                    change(
                            node,
                            "printf '* soft memlock unlimited\\n* hard memlock unlimited\\n'"
                                    + " > /etc/security/limits.d/60-trigon.conf"),
                    advice(node, "then log in again; in a container: --ulimit memlock=-1")));
        }
    }

    /** In a container that has a device, and not its interface. Of several devices the others may be for others. */
    private void interfaceElsewhere(List<RdmaPort> ports) {
        boolean one = ports.stream().flatMap(port -> port.interfaces().stream()).anyMatch(this::isHere);
        for (RdmaPort port : ports) {
            if (!one && port.isActive() && !port.interfaces().isEmpty()) {
                String name = port.interfaces().getFirst();
                findings.add(Finding.error(
                        "rdma-interface-elsewhere",
                        node + " " + port.device(),
                        "%s is the port of the interface %s, which is not in this network namespace: RDMA is not used"
                                .formatted(port.device(), name),
                        "/sys/class/infiniband/%s/ports/%d/gid_attrs/ndevs, and the interfaces here"
                                .formatted(port.device(), port.port()),
                        advice(
                                node,
                                "give the container that interface, with an address: in Kubernetes by an SR-IOV or"
                                        + " host-device network; with Docker by --network host")));
            }
        }
    }

    private boolean isHere(String name) {
        return facts.interfaceNamed(name).isPresent();
    }

    private boolean hasAddress(String name) {
        return facts.interfaceNamed(name)
                .filter(nic -> !nic.ownAddresses().isEmpty())
                .isPresent();
    }

    /** It is down or has no carrier, which is a finding of its own. */
    private boolean isDown(String name) {
        return facts.interfaceNamed(name)
                .filter(nic -> nic.isDown() || nic.lacksCarrier())
                .isPresent();
    }

    private static long number(String text) {
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException _) {
            return Long.MAX_VALUE;
        }
    }

    private void limits(Limits limits) {
        String files = limits.openFiles();
        if (!files.isEmpty() && number(files) < MIN_FILES) {
            findings.add(Finding.warning(
                    "open-files-low",
                    node,
                    "a process may have " + files + " files open; each connection needs several",
                    "\"Max open files\" of /proc/self/limits",
                    change(node, "ulimit -n 65536")));
        }
        limits.sharedMemoryBytes()
                .filter(bytes -> bytes > 0 && bytes < MIN_SHARED_BYTES)
                .ifPresent(bytes -> findings.add(Finding.warning(
                        "shared-memory-small",
                        node,
                        "/dev/shm has %d MiB; NCCL needs more between the GPUs of a node".formatted(bytes >> 20),
                        "the size of its file system",
                        advice(node, "in a container: --shm-size 8g, or --ipc host"))));
        limits.tasks()
                .filter(tasks -> number(tasks) < MIN_TASKS)
                .ifPresent(tasks -> findings.add(Finding.warning(
                        "tasks-few",
                        node,
                        "this container can have " + tasks + " threads and processes; a rank needs about 100",
                        "/sys/fs/cgroup/pids.max",
                        advice(node, "raise --pids-limit of the container"))));
    }
}
