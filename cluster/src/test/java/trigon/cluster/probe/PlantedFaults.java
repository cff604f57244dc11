package trigon.cluster.probe;

import static trigon.cluster.probe.PlantedFault.ofCable;
import static trigon.cluster.probe.PlantedFault.ofNode;
import static trigon.cluster.probe.PlantedFault.ofTwo;

import java.util.ArrayList;
import java.util.List;

/** What goes wrong on cabled clusters. Node a has the interfaces ab1 and ac2, b has ba1 and bc3, c has ca2 and cb3. */
final class PlantedFaults {

    private static final String INFINIBAND = "sys/class/infiniband/mlx5_0/ports/1/";
    private static final String IPV6 = "sysctl -qw net.ipv6.conf.";
    private static final String LIMITS = "proc/self/limits";
    private static final String NIC = "sys/class/net/ab1/";

    private PlantedFaults() {}

    static List<PlantedFault> all() {
        List<PlantedFault> faults = new ArrayList<>(addresses());
        faults.addAll(cables());
        faults.addAll(firewalls());
        faults.addAll(betweenNodes());
        faults.addAll(ofNccl());
        faults.addAll(ofSettings());
        faults.addAll(ofLimits());
        faults.addAll(ofHardware());
        faults.addAll(ofRdma());
        return faults;
    }

    private static PlantedFault readdressed(PlantedFault fault, String node, String nic, String from, String to) {
        fault.on(node, "ip addr del " + from + " dev " + nic, "ip addr add " + from + " dev " + nic);
        return to.isEmpty()
                ? fault
                : fault.on(node, "ip addr add " + to + " dev " + nic, "ip addr del " + to + " dev " + nic);
    }

    private static List<PlantedFault> addresses() {
        PlantedFault overlapping = ofCable("ab ac bc", "subnets overlap", "subnets-overlap");
        readdressed(overlapping, "b", "bc3", "10.77.3.1/24", "10.77.0.1/20");
        readdressed(overlapping, "c", "cb3", "10.77.3.2/24", "10.77.0.2/20");
        PlantedFault together = ofCable("ab ac", "two cables are in one subnet", "interfaces-in-one-subnet");
        readdressed(together, "a", "ac2", "10.77.2.1/24", "10.77.1.9/24");
        readdressed(together, "c", "ca2", "10.77.2.2/24", "10.77.1.10/24");
        PlantedFault linkLocal =
                ofCable("ab ac", "two cables have link-local addresses of IPv4", "interfaces-in-one-subnet");
        readdressed(linkLocal, "a", "ab1", "10.77.1.1/24", "169.254.28.198/16");
        readdressed(linkLocal, "a", "ac2", "10.77.2.1/24", "169.254.91.14/16");
        readdressed(linkLocal, "b", "ba1", "10.77.1.2/24", "169.254.77.5/16");
        readdressed(linkLocal, "c", "ca2", "10.77.2.2/24", "169.254.11.250/16");
        return List.of(
                readdressed(
                        ofCable("bc", "the ends are in different subnets", "no-common-subnet"),
                        "c",
                        "cb3",
                        "10.77.3.2/24",
                        "10.77.9.2/24"),
                readdressed(
                        ofCable("bc", "the prefixes differ", "prefix-differs"),
                        "c",
                        "cb3",
                        "10.77.3.2/24",
                        "10.77.3.2/28"),
                readdressed(
                        ofCable("bc", "an address is there twice", "address-twice"),
                        "c",
                        "cb3",
                        "10.77.3.2/24",
                        "10.77.3.1/24"),
                readdressed(ofCable("bc", "an address is missing", "address-missing"), "c", "cb3", "10.77.3.2/24", ""),
                overlapping,
                linkLocal,
                together.slow());
    }

    private static List<PlantedFault> cables() {
        PlantedFault swapped = ofCable("ab ac", "two cables are swapped", "cable-elsewhere");
        readdressed(swapped, "a", "ab1", "10.77.1.1/24", "");
        readdressed(swapped, "a", "ac2", "10.77.2.1/24", "10.77.1.1/24");
        swapped.on("a", "ip addr add 10.77.2.1/24 dev ab1", "ip addr del 10.77.2.1/24 dev ab1");
        PlantedFault atWrongPort = ofCable("ab bc", "an address is at another port", "address-at-wrong-port");
        readdressed(atWrongPort, "b", "ba1", "10.77.1.2/24", "");
        atWrongPort.on("b", "ip addr add 10.77.1.2/24 dev bc3", "ip addr del 10.77.1.2/24 dev bc3");
        return List.of(
                atWrongPort,
                ofCable("ab", "an MTU of 1400 at one end", "mtu")
                        .on("b", "ip link set ba1 mtu 1400", "ip link set ba1 mtu 1500"),
                ofCable("ab", "an MTU of 1500 at one end and 9000 at the other", "mtu")
                        .on("a", "ip link set ab1 mtu 9000", "ip link set ab1 mtu 1500")
                        .slow(),
                swapped,
                ofCable("ab ac", "a route is more specific than the subnet", "route-elsewhere")
                        .on("a", "ip route add 10.77.1.2/32 via 10.77.2.2", "ip route del 10.77.1.2/32 via 10.77.2.2"),
                ofCable("ab", "the route to the subnet is missing", "route-elsewhere")
                        .on(
                                "a",
                                "ip route del 10.77.1.0/24 dev ab1",
                                "ip route add 10.77.1.0/24 dev ab1 proto kernel scope link src 10.77.1.1"),
                ofCable("ab bc", "the reverse-path filter is strict", "reverse-path-filter", "route-elsewhere")
                        .on("b", "sysctl -qw net.ipv4.conf.ba1.rp_filter=1", "sysctl -qw net.ipv4.conf.ba1.rp_filter=0")
                        .on("b", "ip route add 10.77.1.1/32 via 10.77.3.2", "ip route del 10.77.1.1/32 via 10.77.3.2"),
                ofCable("ab", "an interface is down", "interface-down")
                        .on("b", "ip link set ba1 down", "ip link set ba1 up"),
                ofCable("ab", "the other end does not answer ARP", "no-neighbour")
                        .on("a", "true", "ip neigh flush dev ab1")
                        .on("b", "ip link set ba1 arp off", "ip link set ba1 arp on")
                        .on("a", "ip neigh flush dev ab1", ""),
                ofCable("ab", "a link at a hundredth of its speed", "slow")
                        .on(
                                "a",
                                "tc qdisc add dev ab1 root tbf rate 100mbit burst 64kb latency 50ms",
                                "tc qdisc del dev ab1 root")
                        .measured());
    }

    private static PlantedFault firewall(String what, String code, String node, String rule) {
        return ofCable("ab", what, code).on(node, "iptables -w -A INPUT " + rule, "iptables -w -D INPUT " + rule);
    }

    private static List<PlantedFault> firewalls() {
        return List.of(
                firewall("UDP 4791 is dropped", "roce-port-blocked", "a", "-i ab1 -p udp --dport 4791 -j DROP"),
                firewall(
                        "the port of announcements is dropped",
                        "topology-port-blocked",
                        "a",
                        "-i ab1 -p udp --dport 21577 -j DROP"),
                firewall("TCP is dropped", "tcp-blocked", "a", "-i ab1 -p tcp --syn -j DROP"),
                firewall("TCP is refused", "tcp-refused", "a", "-i ab1 -p tcp --syn -j REJECT --reject-with tcp-reset"),
                firewall("UDP is dropped", "udp-blocked", "b", "-i ba1 -p udp ! --dport 21578 -j DROP"),
                firewall("all is dropped", "all-blocked", "b", "-s 10.77.1.1 -j DROP"),
                firewall(
                        "long TCP packets are dropped",
                        "transfer-stuck",
                        "b",
                        "-i ba1 -p tcp -m length --length 900:65535 -j DROP"),
                firewall(
                        "every fourth packet is lost",
                        "packets-lost",
                        "b",
                        "-i ba1 -p udp -m length --length 92 -m statistic --mode nth --every 4 --packet 0 -j DROP"));
    }

    private static List<PlantedFault> betweenNodes() {
        String file = """
            version: 1
            nodes:
              a:
                nics:
                  - {address: 10.77.1.1/24}
                  - {address: 10.77.2.1/24}
              b:
                nics:
                  - {address: 10.77.1.2/24}
                  - {address: 10.77.3.1/24}
              c:
                nics:
                  - {address: 10.77.2.2/24}
                  - {address: 10.77.3.2/24}
            """;
        String moved = file.replace("{address: 10.77.1.1", "{device: ac2, address: 10.77.1.1");
        return List.of(
                ofTwo("different versions", "version-differs").told("b", "version", "0.9"),
                ofTwo("a setting differs", "settings-differ").variable("b", "TRIGON_FAILOVER", "off"),
                ofTwo("a clock is two minutes ahead", "clock").told("b", "aheadMillis", 120_000),
                ofTwo("one end has a tenth of the other's speed", "speed-differs")
                        .touching("ab")
                        .file("a", NIC + "speed", "1000"),
                ofTwo("damaged packets are counted", "errors-counted")
                        .touching("ab")
                        .file("a", NIC + "statistics/rx_crc_errors", "0")
                        .told("a", "rising", NIC + "statistics/rx_crc_errors"),
                withCluster(
                        "cluster files differ",
                        file,
                        file + "  d:\n    nics:\n      - {address: 10.77.4.1/24}\n",
                        "cluster-file-differs"),
                withCluster(
                        "the file has another prefix than the interface",
                        file.replace("1.2/24", "1.2/28"),
                        file.replace("1.2/24", "1.2/28"),
                        "prefix-not-the-files"),
                withCluster("an address was moved to another interface", moved, moved, "settings-wrong"),
                withCluster(
                        "an address of the file is nowhere",
                        file.replace("10.77.1.1", "10.77.1.7"),
                        file.replace("10.77.1.1", "10.77.1.7"),
                        "settings-wrong"));
    }

    private static PlantedFault withCluster(String what, String ofA, String ofB, String... codes) {
        PlantedFault fault = ofTwo(what, codes).touching("ab ac bc"); // the file has all addresses
        for (String node : List.of("a", "b", "c")) {
            fault.file(node, "etc/trigon-cluster.yaml", node.equals("b") ? ofB : ofA)
                    .told(node, "cluster", "etc/trigon-cluster.yaml")
                    .told(node, "node", node);
        }
        return fault;
    }

    private static List<PlantedFault> ofNccl() {
        return List.of(
                ofNode("NCCL_NET is another", "nccl-net-other").variable("a", "NCCL_NET", "Socket"),
                ofNode("a left-over nccl.conf names another plugin", "nccl-plugin-other")
                        .file("a", "etc/nccl.conf", "NCCL_NET_PLUGIN=none"),
                ofNode("NCCL_IB_DISABLE is left", "nccl-ib-disable").variable("a", "NCCL_IB_DISABLE", "1"),
                ofNode("NCCL_IB_GID_INDEX is left in nccl.conf", "nccl-ib-setting")
                        .file("a", "etc/nccl.conf", "NCCL_IB_GID_INDEX=3"),
                ofNode("NCCL_SOCKET_IFNAME names nothing that is there", "bootstrap-interface")
                        .variable("a", "NCCL_SOCKET_IFNAME", "enP7s7"),
                ofCable("ab ac bc", "NCCL_SOCKET_IFNAME is a cable to one of two nodes", "bootstrap-cable")
                        .variable("a", "NCCL_SOCKET_IFNAME", "ab1"),
                ofNode("NCCL_NET_PLUGIN names a library that is not there", "nccl-plugin-missing")
                        .variable("a", "NCCL_NET_PLUGIN", "/opt/nowhere/libnccl-net-trigon.so"),
                ofNode("files of another cluster are left in nccl.conf", "nccl-leftover", "nccl-leftover")
                        .file("a", "etc/nccl.conf", "NCCL_GRAPH_FILE=/etc/graph.xml\nNCCL_TUNER_PLUGIN=libother.so"),
                ofNode("a line of nccl.conf has blanks", "nccl-file-line")
                        .file("a", "etc/nccl.conf", "NCCL_NET = Trigon"),
                ofNode("GLOO_SOCKET_IFNAME names nothing that is there", "socket-interface")
                        .variable("a", "GLOO_SOCKET_IFNAME", "eth7"));
    }

    private static List<PlantedFault> ofSettings() {
        return List.of(
                ofNode("a variable is misspelt", "unknown-variable").variable("a", "TRIGON_" + "LNKS", "software"),
                ofNode("a value is none", "settings-wrong").variable("a", "TRIGON_LINKS", "tcp"),
                ofNode("no interface has an address", "no-link")
                        .touching("ab ac bc")
                        .on("a", "ip -4 addr flush dev ab1", "ip addr add 10.77.1.1/24 dev ab1")
                        .on("a", "ip -4 addr flush dev ac2", "ip addr add 10.77.2.1/24 dev ac2")
                        // link-local addresses come back by themselves
                        .on("a", IPV6 + "ab1.disable_ipv6=1", IPV6 + "ab1.disable_ipv6=0")
                        .on("a", IPV6 + "ac2.disable_ipv6=1", IPV6 + "ac2.disable_ipv6=0"));
    }

    private static List<PlantedFault> ofLimits() {
        return List.of(
                ofNode("256 open files", "open-files-low").file("a", LIMITS, limits("unlimited", "256")),
                ofNode("64 MiB of shared memory", "shared-memory-small")
                        .on(
                                "a",
                                "nsenter -m -t PID mount -t tmpfs -o size=64m tmpfs /dev/shm",
                                "nsenter -m -t PID umount /dev/shm"),
                ofNode("64 tasks", "tasks-few").file("a", "sys/fs/cgroup/pids.max", "64"),
                rdma("8 MiB of locked memory", "ACTIVE", "RoCE v2", true, "memlock-low")
                        .file("a", LIMITS, limits("8388608", "65536")));
    }

    private static String limits(String locked, String files) {
        return "Max locked memory         %1$s   %1$s   bytes\nMax open files            %2$s   %2$s   files"
                .formatted(locked, files);
    }

    private static PlantedFault rdma(String what, String state, String type, boolean device, String code) {
        PlantedFault fault = (code.equals("rdma-sent-again") || code.equals("congestion")
                        ? ofTwo(what, code)
                        : ofNode(what, code))
                .touching("ab")
                .variable("a", "TRIGON_LINKS", "software")
                .variable("b", "TRIGON_LINKS", "software")
                .variable("c", "TRIGON_LINKS", "software")
                .file("a", LIMITS, limits("unlimited", "65536"))
                .file("a", INFINIBAND + "state", "4: " + state)
                .file("a", INFINIBAND + "link_layer", "Ethernet")
                .file("a", INFINIBAND + "gids/0", "0000:0000:0000:0000:0000:ffff:0a4d:0101")
                .file("a", INFINIBAND + "gid_attrs/types/0", type)
                .file("a", INFINIBAND + "gid_attrs/ndevs/0", "ab1");
        return device ? fault.file("a", "dev/infiniband/uverbs0", "") : fault;
    }

    private static PlantedFault counted(String what, String counter, String code) {
        return rdma(what, "ACTIVE", "RoCE v2", true, code)
                .file("a", INFINIBAND + "hw_counters/" + counter, "0")
                .told("a", "rising", INFINIBAND + "hw_counters/" + counter);
    }

    private static List<PlantedFault> ofHardware() {
        return List.of(
                rdma("an RDMA port is down", "DOWN", "RoCE v2", true, "rdma-port-down"),
                rdma("an RDMA port has RoCE v1 alone", "ACTIVE", "IB/RoCE v1", true, "no-roce-v2-gid"),
                rdma(
                                "an RDMA port's interface is in another namespace",
                                "ACTIVE",
                                "RoCE v2",
                                true,
                                "rdma-interface-elsewhere")
                        .file("a", INFINIBAND + "gids/0", "fe80:0000:0000:0000:a4ed:ccff:fe8b:1994")
                        .file("a", INFINIBAND + "gid_attrs/ndevs/0", "enp220s0f0"),
                counted("RDMA packets come in another order", "out_of_sequence", "rdma-sent-again"),
                counted("the fabric tells of congestion", "np_cnp_sent", "congestion"),
                rdma("a container without /dev/infiniband", "ACTIVE", "RoCE v2", false, "no-dev-infiniband"),
                ofNode("half duplex", "half-duplex").touching("ab").file("a", NIC + "duplex", "half"),
                ofNode("a card in a slower slot", "pcie-reduced")
                        .touching("ab")
                        .file("a", NIC + "device/subsystem", "-> pci")
                        .file("a", NIC + "device/current_link_speed", "16.0 GT/s PCIe")
                        .file("a", NIC + "device/max_link_speed", "32.0 GT/s PCIe")
                        .file("a", NIC + "device/current_link_width", "4")
                        .file("a", NIC + "device/max_link_width", "4"),
                twins());
    }

    /** Of node b: a has RDMA, too, and c has none. */
    private static List<PlantedFault> ofRdma() {
        return List.of(
                ofTwoWithRdma("RDMA at one end of a link", "", "rdma-at-one-end"),
                ofTwoWithRdma("a GID that is not reached", "elsewhere", "rdma-not-up"),
                ofTwoWithRdma("nothing is acknowledged by RDMA", "silent", "rdma-no-acknowledgement"),
                ofTwoWithRdma("a key that RDMA refuses", "key", "rdma-write-failed"),
                ofTwoWithRdma("bytes are changed on their way by RDMA", "changing", "rdma-data-wrong"));
    }

    private static PlantedFault ofTwoWithRdma(String what, String ofB, String code) {
        return ofTwo(what, code).touching("ab ac bc").told("a", "rdma", "right").told("b", "rdma", ofB);
    }

    private static PlantedFault twins() {
        PlantedFault twins = ofNode("two functions of one port are in one subnet", "twins-in-one-subnet")
                .touching("ab ac");
        for (String nic : List.of("ab1", "ac2")) {
            twins.file("a", "sys/class/net/" + nic + "/phys_port_name", "p0")
                    .file("a", "sys/class/net/" + nic + "/phys_switch_id", "b83fd2");
        }
        return readdressed(twins, "a", "ac2", "10.77.2.1/24", "10.77.1.9/24");
    }
}
