package trigon.tools.diagnosis;

import static trigon.tools.diagnosis.Finding.advice;
import static trigon.tools.diagnosis.Finding.change;

import java.util.ArrayList;
import java.util.List;
import trigon.system.InterfaceAddress;
import trigon.tools.console.JsonObject;
import trigon.tools.probe.Observations;

/** What is wrong with one node, whatever the others are. Pure. */
final class NodeChecks {

    private static final long LEAST_LOCKED_BYTES = 1L << 30;
    private static final long LEAST_FILES = 1024;
    private static final long LEAST_SHARED_BYTES = 256L << 20;
    private static final long LEAST_TASKS = 256;

    private final String node;
    private final JsonObject facts;
    private final List<Finding> findings = new ArrayList<>();

    private NodeChecks(String node, JsonObject facts) {
        this.node = node;
        this.facts = facts;
    }

    static List<Finding> of(String node, JsonObject facts) {
        NodeChecks checks = new NodeChecks(node, facts);
        checks.settings();
        checks.links();
        checks.hardware();
        checks.rdma();
        checks.limits();
        checks.findings.addAll(NcclChecks.of(node, facts));
        return checks.findings;
    }

    private void settings() {
        for (String problem : facts.texts("problems")) {
            findings.add(Finding.error(
                    "settings-wrong",
                    node,
                    "the plugin would fail to start here: " + problem,
                    "from its settings, as the plugin reads them",
                    advice(node, "do as the message says")));
        }
        for (String unknown : facts.texts("unknownVariables")) {
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
        for (JsonObject leftOut : facts.objects("leftOut")) {
            // of what is down, the checks of interfaces say more
            if (leftOut.text("weight").equals("suspect") && !leftOut.isTrue("down")) {
                findings.add(Finding.warning(
                        "prefix-not-the-files",
                        node + " " + leftOut.text("name"),
                        leftOut.text("why"),
                        "the file and the interface",
                        advice(node, "give the interface the prefix of the file, or correct the file")));
            }
        }
    }

    /**
     * Without a list of NICs the loopback, or a bridge of containers, is taken where there is nothing else: no other
     * machine is reached by it.
     */
    private boolean usesNoCable() {
        boolean listed = facts.find("clusterNode").isPresent();
        return facts.objects("links").stream()
                .allMatch(link -> !listed
                        && (Observations.isInner(facts, link.text("interface"))
                                || InterfaceAddress.parse(link.text("address"))
                                        .address()
                                        .isLoopbackAddress()));
    }

    private void hardware() {
        for (JsonObject nic : facts.objects("interfaces")) {
            String name = nic.text("name");
            boolean used = isUsed(name);
            if (facts.texts("innerInterfaces").contains(name)) {
                continue; // to containers or virtual machines, without a cable
            }
            if (nic.isFalse("carrier")
                    && (used || !Observations.ownAddresses(nic).isEmpty())) {
                findings.add(Finding.error(
                        "no-carrier",
                        node + " " + name,
                        name + " has an address, but no carrier: nothing is connected to it",
                        "/sys/class/net/" + name + "/carrier is 0",
                        advice(node, "plug the cable in at both ends, and bring the other end's interface up")));
            } else if (nic.text("state").equals("down")
                    && !nic.isTrue("carrier") // the state follows a moment later
                    && !Observations.ownAddresses(nic).isEmpty()) {
                findings.add(Finding.error(
                        "interface-down",
                        node + " " + name,
                        name + " has an address and is down",
                        "/sys/class/net/" + name + "/operstate is down",
                        change(node, "ip link set " + name + " up")));
            }
            if (nic.text("duplex").equals("half")) {
                findings.add(Finding.warning(
                        "half-duplex",
                        node + " " + name,
                        name + " has negotiated half duplex, so that only one end sends at a time",
                        "/sys/class/net/" + name + "/duplex",
                        change(node, "ethtool -s " + name + " autoneg on")));
            }
            JsonObject pci = nic.object("pci");
            if (used && pci.text("negotiated").length() > 0 && isReduced(pci)) {
                findings.add(Finding.warning(
                        "pcie-reduced",
                        node + " " + name,
                        "the PCIe link of %s is %s, but the card supports %s"
                                .formatted(name, pci.text("negotiated"), pci.text("possible")),
                        "current_link_speed and current_link_width of " + pci.text("function"),
                        advice(node, "move the card to a slot with all lanes, or check the firmware's settings")));
            }
            moreTroubles(nic);
        }
    }

    private boolean isUsed(String name) {
        return facts.objects("links").stream()
                .anyMatch(link -> link.text("interface").equals(name));
    }

    private static boolean isReduced(JsonObject pci) {
        return !pci.text("possible").isEmpty()
                && !pci.text("negotiated").equals(pci.text("possible"))
                && !pci.isFalse("reduced");
    }

    /** Of the kernel's counters of errors, those that have moved during the test. */
    private void moreTroubles(JsonObject nic) {
        facts.objects("interfacesAfter").stream()
                .filter(after -> after.text("name").equals(nic.text("name")) && isUsed(nic.text("name")))
                .forEach(after -> {
                    List<String> moved = new ArrayList<>();
                    nic.object("counters").values().keySet().stream().sorted().forEach(counter -> {
                        long more = after.object("counters").whole(counter)
                                - nic.object("counters").whole(counter);
                        if (more > 0 && (counter.endsWith("errors") || counter.equals("collisions"))) {
                            moved.add(counter + " by " + more);
                        }
                    });
                    if (!moved.isEmpty()) {
                        findings.add(Finding.warning(
                                "errors-counted",
                                node + " " + nic.text("name"),
                                "packets were damaged or lost at " + nic.text("name") + " during the test",
                                "counters increased: " + String.join(", ", moved),
                                advice(node, "clean or replace the cable; see ethtool -S " + nic.text("name"))));
                    }
                });
    }

    private void rdma() {
        List<JsonObject> ports = facts.objects("rdmaPorts");
        if (ports.isEmpty()) {
            return;
        }
        JsonObject devices = facts.object("rdmaDevices");
        if (devices.texts("usable").isEmpty()) {
            boolean refused = !devices.texts("refused").isEmpty();
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
        } else if (facts.find("noRdma").isPresent() && !facts.text("noRdma").startsWith("links is")) {
            findings.add(Finding.error(
                    "rdma-library",
                    node,
                    "RDMA is not used: " + facts.text("noRdma"),
                    "from libibverbs",
                    change(node, "apt-get install ibverbs-providers libibverbs1")));
        }
        for (JsonObject port : ports) {
            String label = port.text("device") + (port.whole("port") > 1 ? ":" + port.whole("port") : "");
            if (!port.text("state").equals("ACTIVE")
                    && port.texts("interfaces").stream().anyMatch(this::hasAddress)
                    && port.texts("interfaces").stream().noneMatch(this::isDown)) {
                findings.add(Finding.error(
                        "rdma-port-down",
                        node + " " + label,
                        "the RDMA port " + label + " is " + port.text("state")
                                + ", though its interface has an address",
                        "/sys/class/infiniband/" + port.text("device") + "/ports/" + port.whole("port") + "/state",
                        advice(node, "check that the cable is plugged in at both ends")));
            } else if (port.text("linkLayer").equals("Ethernet")
                    && port.texts("interfaces").stream().anyMatch(this::hasAddress)
                    && port.objects("gids").stream()
                            .noneMatch(gid -> gid.text("type").equals("RoCE v2"))) {
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
        String locked = facts.object("limits").text("lockedBytes");
        if (!locked.equals("unlimited") && !locked.isEmpty() && number(locked) < LEAST_LOCKED_BYTES) {
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
    private void interfaceElsewhere(List<JsonObject> ports) {
        boolean one = ports.stream()
                .flatMap(port -> port.texts("interfaces").stream())
                .anyMatch(this::isHere);
        for (JsonObject port : ports) {
            if (!one
                    && port.text("state").equals("ACTIVE")
                    && !port.texts("interfaces").isEmpty()) {
                String name = port.texts("interfaces").getFirst();
                findings.add(Finding.error(
                        "rdma-interface-elsewhere",
                        node + " " + port.text("device"),
                        "%s is the port of the interface %s, which is not in this network namespace: RDMA is not used"
                                .formatted(port.text("device"), name),
                        "/sys/class/infiniband/%s/ports/%d/gid_attrs/ndevs, and the interfaces here"
                                .formatted(port.text("device"), port.whole("port")),
                        advice(
                                node,
                                "give the container that interface, with an address: in Kubernetes by an SR-IOV or"
                                        + " host-device network; with Docker by --network host")));
            }
        }
    }

    private boolean isHere(String name) {
        return Observations.interfaceNamed(facts, name).isPresent();
    }

    private boolean hasAddress(String name) {
        return Observations.interfaceNamed(facts, name)
                .filter(nic -> !Observations.ownAddresses(nic).isEmpty())
                .isPresent();
    }

    /** It is down or has no carrier, which is a finding of its own. */
    private boolean isDown(String name) {
        return Observations.interfaceNamed(facts, name)
                .filter(nic -> nic.text("state").equals("down") || nic.isFalse("carrier"))
                .isPresent();
    }

    private static long number(String text) {
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException _) {
            return Long.MAX_VALUE;
        }
    }

    private void limits() {
        JsonObject limits = facts.object("limits");
        String files = limits.text("openFiles");
        if (!files.isEmpty() && number(files) < LEAST_FILES) {
            findings.add(Finding.warning(
                    "open-files-low",
                    node,
                    "a process may have " + files + " files open; each connection needs several",
                    "\"Max open files\" of /proc/self/limits",
                    change(node, "ulimit -n 65536")));
        }
        limits.number("sharedMemoryBytes")
                .filter(bytes -> bytes > 0 && bytes < LEAST_SHARED_BYTES)
                .ifPresent(bytes -> findings.add(Finding.warning(
                        "shared-memory-small",
                        node,
                        "/dev/shm has %d MiB; NCCL needs more between the GPUs of a node"
                                .formatted(bytes.longValue() >> 20),
                        "the size of its file system",
                        advice(node, "in a container: --shm-size 8g, or --ipc host"))));
        String tasks = limits.text("tasks");
        if (!tasks.isEmpty() && number(tasks) < LEAST_TASKS) {
            findings.add(Finding.warning(
                    "tasks-few",
                    node,
                    "this container can have " + tasks + " threads and processes; a rank needs about 100",
                    "/sys/fs/cgroup/pids.max",
                    advice(node, "raise --pids-limit of the container")));
        }
    }
}
