package trigon.cluster.probe;

import java.util.ArrayList;
import java.util.List;

/** Networks from the field. Of DGX Sparks, {@code enp1s0f0np0} and {@code enP2p1s0f0np0} are functions of one port. */
final class FieldCases {

    private static final String[] RING_OF_FOUR = {"a", "b", "c", "d"};

    private FieldCases() {}

    static List<FieldCase> all() {
        List<FieldCase> all = new ArrayList<>(sparks());
        all.addAll(oneSubnet());
        all.addAll(containers());
        all.addAll(names());
        all.addAll(others());
        all.addAll(routes());
        all.addAll(ofNccl());
        return all;
    }

    /** Three of them in a ring: of each wire both functions at either end. */
    private static FieldCase ring(FieldCase of) {
        return of.wire("a enp1s0f0np0", "a enP2p1s0f0np0", "b enp1s0f1np1", "b enP2p1s0f1np1")
                .wire("b enp1s0f0np0", "b enP2p1s0f0np0", "c enp1s0f1np1", "c enP2p1s0f1np1")
                .wire("c enp1s0f0np0", "c enP2p1s0f0np0", "a enp1s0f1np1", "a enP2p1s0f1np1");
    }

    private static FieldCase withTwinsInOneSubnet(FieldCase of) {
        return ring(of).addresses("a enp1s0f0np0 192.168.0.1/24", "a enP2p1s0f0np0 192.168.0.2/24")
                .addresses("b enp1s0f1np1 192.168.0.3/24", "b enP2p1s0f1np1 192.168.0.4/24")
                .addresses("b enp1s0f0np0 192.168.2.1/24", "b enP2p1s0f0np0 192.168.2.2/24")
                .addresses("c enp1s0f1np1 192.168.2.3/24", "c enP2p1s0f1np1 192.168.2.4/24")
                .addresses("c enp1s0f0np0 192.168.1.3/24", "c enP2p1s0f0np0 192.168.1.4/24")
                .addresses("a enp1s0f1np1 192.168.1.1/24", "a enP2p1s0f1np1 192.168.1.2/24");
    }

    private static FieldCase withoutIpv6(FieldCase of, String... nodes) {
        for (String node : nodes) {
            of.firstCommand(node + " sysctl -qw net.ipv6.conf.default.disable_ipv6=1");
        }
        return of;
    }

    private static List<FieldCase> sparks() {
        String[] three = {"twins-in-one-subnet", "twins-in-one-subnet", "twins-in-one-subnet"};
        FieldCase twins = withTwinsInOneSubnet(FieldCase.of("01 a subnet for both functions of a port", 3, three))
                .saying("192.168.0.0/24", "192.168.1.0/24", "192.168.2.0/24");
        FieldCase twinsWithoutIpv6 =
                withTwinsInOneSubnet(withoutIpv6(FieldCase.of("01b the same without IPv6", 3, three), "a", "b", "c"));
        FieldCase six = ring(FieldCase.of("02 six subnets, one for each pair of functions", 3))
                .addresses("a enp1s0f0np0 192.168.0.1/24", "a enP2p1s0f0np0 192.168.1.1/24")
                .addresses("b enp1s0f1np1 192.168.0.2/24", "b enP2p1s0f1np1 192.168.1.2/24")
                .addresses("a enp1s0f1np1 192.168.2.1/24", "a enP2p1s0f1np1 192.168.3.1/24")
                .addresses("c enp1s0f0np0 192.168.2.2/24", "c enP2p1s0f0np0 192.168.3.2/24")
                .addresses("b enp1s0f0np0 192.168.4.1/24", "b enP2p1s0f0np0 192.168.5.1/24")
                .addresses("c enp1s0f1np1 192.168.4.2/24", "c enP2p1s0f1np1 192.168.5.2/24");
        FieldCase one = FieldCase.of("04 one function of two has an address", 2, "address-missing")
                .wire("a enp1s0f1np1", "a enP2p1s0f1np1", "b enp1s0f1np1", "b enP2p1s0f1np1")
                .addresses("a enp1s0f1np1 192.168.177.11/24", "b enp1s0f1np1 192.168.177.12/24")
                .saying("ip addr add 192.168.178.1/24 dev enP2p1s0f1np1", "ip addr add 192.168.178.2/24");
        return List.of(twins, twinsWithoutIpv6, six, one, ringOfFour());
    }

    /** A /31 for each pair of functions; diagonals by routes of the kernel, through neighbours. */
    private static FieldCase ringOfFour() {
        FieldCase ring = FieldCase.of("15 a ring of four by /31, with forwarding", 4);
        int[] subnets = {128, 134, 136, 132};
        for (int i = 0; i < subnets.length; i++) {
            String from = RING_OF_FOUR[i];
            String to = RING_OF_FOUR[(i + 1) % subnets.length];
            String subnet = " 10.100." + subnets[i];
            ring.wire(from + " enp1s0f1np1", from + " enP2p1s0f1np1", to + " enp1s0f0np0", to + " enP2p1s0f0np0")
                    .addresses(from + " enp1s0f1np1" + subnet + ".0/31", from + " enP2p1s0f1np1" + subnet + ".128/31")
                    .addresses(to + " enp1s0f0np0" + subnet + ".1/31", to + " enP2p1s0f0np0" + subnet + ".129/31")
                    .command(from + " sysctl -qw net.ipv4.ip_forward=1");
        }
        return ring.command("a ip route add 10.100.134.0/24 via 10.100.128.1")
                .command("a ip route add 10.100.136.0/24 via 10.100.132.0")
                .command("c ip route add 10.100.128.0/24 via 10.100.134.0")
                .command("c ip route add 10.100.132.0/24 via 10.100.136.1")
                .command("b ip route add 10.100.136.0/24 via 10.100.134.1")
                .command("b ip route add 10.100.132.0/24 via 10.100.128.0")
                .command("d ip route add 10.100.128.0/24 via 10.100.132.1")
                .command("d ip route add 10.100.134.0/24 via 10.100.136.0");
    }

    private static FieldCase linkLocal(FieldCase of) {
        return of.wire("a enp1s0f0np0", "b enp1s0f1np1")
                .wire("b enp1s0f0np0", "c enp1s0f1np1")
                .wire("c enp1s0f0np0", "a enp1s0f1np1")
                .addresses("a enp1s0f0np0 169.254.28.198/16", "a enp1s0f1np1 169.254.91.14/16")
                .addresses("b enp1s0f0np0 169.254.77.5/16", "b enp1s0f1np1 169.254.140.33/16")
                .addresses("c enp1s0f0np0 169.254.201.8/16", "c enp1s0f1np1 169.254.11.250/16")
                .saying("169.254.0.0/16");
    }

    private static List<FieldCase> oneSubnet() {
        String code = "interfaces-in-one-subnet";
        return List.of(
                linkLocal(withoutIpv6(
                                FieldCase.of("03 link-local IPv4 on all cables, without IPv6", 3, code), "a", "b", "c"))
                        .saying("so there are no link-local addresses to use instead"),
                linkLocal(FieldCase.of("03c link-local IPv4 on all cables, with IPv6", 3, code)),
                FieldCase.of("09 two networks in one /20", 2, code)
                        .wire("a eno1", "b eno1")
                        .wire("a enp37s0f0", "b enp37s0f0")
                        .addresses("a eno1 192.168.3.8/20", "a enp37s0f0 192.168.2.8/20")
                        .addresses("b enp37s0f0 192.168.2.9/20", "b eno1 192.168.3.9/20"));
    }

    /** By Thunderbolt: no other network, and addresses that nobody has chosen. */
    static FieldCase lineOfFour() {
        return FieldCase.of("28 a line of four by link-local IPv4", 4, "interfaces-in-one-subnet", "no-cable")
                .wire("a thunderbolt0", "b thunderbolt0")
                .wire("b thunderbolt1", "c thunderbolt0")
                .wire("c thunderbolt1", "d thunderbolt0")
                .addresses("a thunderbolt0 169.254.105.6/16", "b thunderbolt0 169.254.12.90/16")
                .addresses("b thunderbolt1 169.254.201.4/16", "c thunderbolt0 169.254.77.31/16")
                .addresses("c thunderbolt1 169.254.140.9/16", "d thunderbolt0 169.254.33.150/16")
                .saying("169.254.0.0/16", "no cable joins these");
    }

    /** Of interfaces and addresses: what the kernel has besides those that programs take. */
    private static List<FieldCase> names() {
        FieldCase names = FieldCase.of(
                        "40 the other name of an interface",
                        2,
                        "bootstrap-interface",
                        "bootstrap-interface",
                        "socket-interface",
                        "socket-interface")
                .wire("a ens15f0np0", "b ens15f0np0")
                .addresses("a ens15f0np0 10.20.3.1/24", "b ens15f0np0 10.20.3.2/24")
                .saying("enp73s0f0np0 is another name of ens15f0np0");
        for (String node : List.of("a", "b")) {
            names.command(node + " ip link property add dev ens15f0np0 altname enp73s0f0np0")
                    .variable(node, "NCCL_SOCKET_IFNAME", "enp73s0f0np0")
                    .variable(node, "GLOO_SOCKET_IFNAME", "enp73s0f0np0");
        }
        return List.of(
                names,
                FieldCase.of(
                                "43 an address that two machines have, and a deprecated one",
                                2,
                                "address-failed",
                                "address-deprecated")
                        .wire("a eno1", "b eno1")
                        .addresses("a eno1 10.20.3.1/24 fd00:3::5/64", "b eno1 10.20.3.2/24")
                        .command("b sysctl -qw net.ipv6.conf.eno1.accept_dad=1")
                        .addresses("b eno1 fd00:3::5/64")
                        .command("a ip addr add fd00:4::1/64 dev eno1 preferred_lft 0")
                        .saying("another machine on the link of eno1 has fd00:3::5/64 as well"));
    }

    /** The same bridges on both machines, each with a container or a machine at a port. */
    private static List<FieldCase> containers() {
        FieldCase bridges = FieldCase.of(
                        "07 bridges of container software, and a tunnel", 2, "tunnel-down", "tunnel-down")
                .healthy()
                .wire("a enp1s0f0np0", "b enp1s0f0np0")
                .addresses("a enp1s0f0np0 10.20.3.1/24", "b enp1s0f0np0 10.20.3.2/24");
        List<String> all = List.of(
                "docker0 172.17.0.1/16",
                "br-0a1b2c3d4e5f 172.18.0.1/16",
                "virbr0 192.168.122.1/24",
                "incusbr0 10.61.0.1/24",
                "l4tbr0 192.168.55.1/24",
                "nerdctl0 10.4.0.1/24",
                "mpqemubr0 10.135.1.1/24");
        for (String node : List.of("a", "b")) {
            for (int i = 0; i < all.size(); i++) {
                bridge(bridges, node, all.get(i), i);
            }
            bridges.command(node + " ip tuntap add tailscale0 mode tun")
                    .command(node + " sysctl -qw net.ipv6.conf.tailscale0.disable_ipv6=1")
                    .command(node + " ip link set tailscale0 up");
        }
        bridges.addresses("a tailscale0 100.64.1.1/32", "b tailscale0 100.64.1.2/32");
        FieldCase alone = FieldCase.of("07 nothing but bridges", 2, "no-link", "no-link");
        bridge(alone, "a", all.getFirst(), 0);
        bridge(alone, "b", all.getFirst(), 0);
        FieldCase inside = withoutIpv6(
                        FieldCase.of("33 containers in the default network of their hosts", 2, "container-network"),
                        "a",
                        "b")
                .wire("a eth0", "c veth0")
                .wire("b eth0", "d veth0")
                .addresses("a eth0 172.17.0.2/16", "b eth0 172.17.0.2/16")
                .command("a ip route add default via 172.17.0.1")
                .command("b ip route add default via 172.17.0.1")
                .saying("--network=host");
        return List.of(bridges, alone, inside);
    }

    private static void bridge(FieldCase of, String node, String nameAndAddress, int number) {
        String name = nameAndAddress.split(" ", -1)[0];
        of.command("%s ip link add %s type bridge".formatted(node, name))
                .command("%s ip link add veth%d type veth peer name q%d".formatted(node, number, number))
                .command("%s ip link set veth%d master %s".formatted(node, number, name));
        for (String nic : List.of("veth" + number, "q" + number, name)) {
            of.command("%s sysctl -qw net.ipv6.conf.%s.disable_ipv6=1".formatted(node, nic))
                    .command("%s ip link set %s up".formatted(node, nic));
        }
        of.addresses(node + " " + nameAndAddress);
    }

    private static List<FieldCase> others() {
        FieldCase functions = FieldCase.of("12 an exclusion, and functions without addresses", 2)
                .wire("a enp90s0np0", "b enp90s0np0")
                .addresses("a enp90s0np0 10.168.192.89/24", "b enp90s0np0 10.168.192.90/24")
                .variable("a", "NCCL_SOCKET_IFNAME", "^ibs,ibp,lo,docker,veth,cilium,lxc")
                .variable("b", "NCCL_SOCKET_IFNAME", "^ibs,ibp,lo,docker,veth,cilium,lxc");
        for (String nic : List.of("enp220s0f0", "enp90s0v0", "enp90s0v1", "cilium_host")) {
            functions.wire("a " + nic, "c a" + nic).wire("b " + nic, "d b" + nic);
            for (String node : List.of("a", "b")) {
                functions.command("%s sysctl -qw net.ipv6.conf.%s.disable_ipv6=1".formatted(node, nic));
            }
        }
        functions.addresses("a cilium_host 10.0.21.95/32", "b cilium_host 10.0.22.17/32");
        return List.of(
                functions,
                FieldCase.of("12 virtual functions without addresses, on the network of the others", 2)
                        .wire("a enp90s0np0", "a enp90s0v0", "b enp90s0np0", "b enp90s0v0")
                        .addresses("a enp90s0np0 10.168.192.89/24", "b enp90s0np0 10.168.192.90/24"),
                FieldCase.of("13 an MTU of 4200 and one of 9000", 2, "mtu")
                        .wire("a enp1s0f0np0", "b enp1s0f0np0")
                        .addresses("a enp1s0f0np0 10.20.3.1/24", "b enp1s0f0np0 10.20.3.2/24")
                        .command("a ip link set enp1s0f0np0 mtu 4200")
                        .command("b ip link set enp1s0f0np0 mtu 9000")
                        .saying("WARNING"),
                routed(),
                FieldCase.of("25 virtual and secondary addresses", 2)
                        .wire("a eno1", "b eno1")
                        .addresses("a eno1 10.0.0.1/24 10.0.0.100/24 10.9.9.1/24 10.0.0.101/32")
                        .addresses("b eno1 10.0.0.2/24 10.9.9.2/24 10.7.7.2/24")
                        .addresses("a lo 10.255.0.1/32", "b lo 10.255.0.2/32"));
    }

    /** Each node in a subnet of its own, with a gateway; the parents of these VLANs have link-local addresses alone. */
    private static FieldCase routed() {
        return FieldCase.of("18 children of VLANs in different subnets", 2)
                .wire("a ens5f0.3003", "d gwa")
                .wire("b ens5f1.3003", "d gwb")
                .wire("a ens5f0", "c exa")
                .wire("b ens5f1", "c exb")
                .addresses("a ens5f0.3003 10.1.118.3/24", "b ens5f1.3003 10.1.102.5/24")
                .addresses("d gwa 10.1.118.1/24", "d gwb 10.1.102.1/24")
                .command("d sysctl -qw net.ipv4.ip_forward=1")
                .command("a ip route add default via 10.1.118.1")
                .command("b ip route add default via 10.1.102.1");
    }

    /** What the kernel makes of an address is its own word: rules, tables, neighbours and firewalls. */
    private static List<FieldCase> routes() {
        return List.of(tailscale(), overlay(), firewall(), rules(), cableOut(), unnumbered());
    }

    /** A subnet router advertises the cable's subnet, and a rule goes before the main table. */
    private static FieldCase tailscale() {
        FieldCase of = withoutIpv6(
                        FieldCase.of("31 an overlay's route takes the cable's subnet", 2, "route-elsewhere"),
                        "a",
                        "b",
                        "c")
                .wire("a enp1s0f0np0", "b enp1s0f0np0")
                .wire("a tailscale0", "c ta")
                .wire("b tailscale0", "c tb")
                .addresses("a enp1s0f0np0 192.168.177.11/24", "b enp1s0f0np0 192.168.177.12/24")
                .addresses("a tailscale0 100.90.1.1/32", "b tailscale0 100.90.1.2/32")
                .saying("through tailscale0, not through enp1s0f0np0", "table 52, by rule 5270")
                .saying("tailscale set --accept-routes=false")
                .unhealthy();
        for (String node : List.of("a", "b")) {
            of.command(node + " ip route add 192.168.177.0/24 dev tailscale0 table 52")
                    .command(node + " ip route add 100.90.0.0/16 dev tailscale0 table 52")
                    .command(node + " ip rule add pref 5270 lookup 52");
        }
        return of;
    }

    /** Two networks of the same numbers behind NAT: each node has another router. */
    private static FieldCase overlay() {
        FieldCase of = withoutIpv6(
                        FieldCase.of("32 only an overlay joins the nodes", 2, "no-neighbour", "overlay-path"),
                        "a",
                        "b",
                        "c",
                        "d")
                .wire("a tailscale0", "b tailscale0")
                .wire("a eth0", "c lan")
                .wire("b eth0", "d lan")
                .addresses("a tailscale0 100.64.0.21/32", "b tailscale0 100.64.0.22/32")
                .addresses("a eth0 192.168.1.51/24", "b eth0 192.168.1.52/24")
                .addresses("c lan 192.168.1.1/24", "d lan 192.168.1.1/24")
                .saying("two networks with the same addresses", "only an overlay joins these two")
                .healthy();
        for (String node : List.of("a", "b")) {
            of.command(node + " ip route add 100.64.0.0/10 dev tailscale0")
                    .command(node + " ip route add default via 192.168.1.1");
        }
        return of;
    }

    private static FieldCase firewall() {
        String append = "b iptables -w -A INPUT ";
        return FieldCase.of("34 a firewall rejects on the cable", 2, "tcp-refused")
                .wire("a enp1s0f0np0", "b enp1s0f0np0")
                .addresses("a enp1s0f0np0 10.20.3.1/24", "b enp1s0f0np0 10.20.3.2/24")
                .command(append + "-m conntrack --ctstate ESTABLISHED,RELATED -j ACCEPT")
                .command(append + "-p icmp -j ACCEPT")
                .command(append + "-j REJECT --reject-with icmp-admin-prohibited")
                .saying("rejects TCP at 10.20.3.2", "iptables -I INPUT -s 10.20.3.1 -j ACCEPT")
                .unhealthy();
    }

    private static FieldCase rules() {
        FieldCase of = withoutIpv6(FieldCase.of("42 one subnet with a rule for each source", 2), "a", "b")
                .wire("a eth1", "a eth2", "b eth1", "b eth2")
                .addresses("a eth1 10.0.0.11/24", "a eth2 10.0.0.12/24")
                .addresses("b eth1 10.0.0.21/24", "b eth2 10.0.0.22/24")
                .healthy();
        for (String node : List.of("a", "b")) {
            for (int port = 1; port <= 2; port++) {
                String address = "10.0.0." + (node.equals("a") ? 1 : 2) + port;
                of.command("%s sysctl -qw net.ipv4.conf.eth%d.arp_ignore=2".formatted(node, port))
                        .command("%s sysctl -qw net.ipv4.conf.eth%d.arp_announce=2".formatted(node, port))
                        .command("%s ip route add 10.0.0.0/24 dev eth%d src %s table 10%2$d"
                                .formatted(node, port, address))
                        .command("%s ip rule add from %s lookup 10%d".formatted(node, address, port));
            }
        }
        return of;
    }

    private static FieldCase cableOut() {
        FieldCase of = withoutIpv6(
                        FieldCase.of("47 a second port without a cable", 2, "no-carrier", "no-carrier"), "c", "d")
                .wire("a enp1s0f1np1", "b enp1s0f1np1")
                .addresses("a enp1s0f1np1 10.0.2.1/24", "b enp1s0f1np1 10.0.2.2/24")
                .command("c ip link set za down")
                .command("d ip link set zb down")
                .saying("WARNING")
                .healthy();
        for (String[] end : List.of(new String[] {"a", "c za", "1"}, new String[] {"b", "d zb", "2"})) {
            of.wire(end[0] + " enp1s0f0np0", end[1])
                    .command(end[0] + " sysctl -qw net.ipv6.conf.enp1s0f0np0.disable_ipv6=1")
                    .addresses(end[0] + " enp1s0f0np0 10.0.1." + end[2] + "/24");
        }
        return of;
    }

    /** OpenFabric: addresses of hosts on the loopback; cables have link-local ones alone. */
    private static FieldCase unnumbered() {
        return FieldCase.of("30 a routing protocol's address on the loopback", 3, "no-addresses")
                .wire("a en05", "b en06")
                .wire("b en05", "c en06")
                .wire("c en05", "a en06")
                .addresses("a lo 10.0.0.81/32", "b lo 10.0.0.82/32", "c lo 10.0.0.83/32")
                .saying("NOTE")
                .healthy();
    }

    private static List<FieldCase> ofNccl() {
        String[] ofOne = {
            "bootstrap-interface",
            "nccl-ib-setting",
            "nccl-ib-setting",
            "nccl-ib-setting",
            "nccl-net-other",
            "nccl-plugin-other",
            "socket-interface",
            "socket-interface"
        };
        List<String> codes = new ArrayList<>(List.of(ofOne));
        codes.addAll(List.of(ofOne));
        FieldCase left = FieldCase.of("10 the launcher names eth0", 2, codes.toArray(String[]::new))
                .wire("a enP7s7", "b enP7s7")
                .wire("a enp1s0f0np0", "b enp1s0f0np0")
                .wire("a enP2p1s0f0np0", "b enP2p1s0f0np0")
                .addresses("a enP7s7 10.10.10.126/24", "b enP7s7 10.10.10.127/24")
                .addresses("a enp1s0f0np0 10.20.3.3/24", "b enp1s0f0np0 10.20.3.4/24")
                .addresses("a enP2p1s0f0np0 10.20.4.3/24", "b enP2p1s0f0np0 10.20.4.4/24")
                .saying("NCCL's bootstrap is set to use eth0", "Gloo is set to use eth0", "TensorPipe is set");
        for (String node : List.of("a", "b")) {
            for (String name : List.of("GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME")) {
                left.variable(node, name, "eth0");
            }
            left.variable(node, "NCCL_IB_HCA", "rocep1s0f0,roceP2p1s0f0")
                    .variable(node, "NCCL_IB_MERGE_NICS", "0")
                    .variable(node, "NCCL_IB_SUBNET_AWARE_ROUTING", "1")
                    .variable(node, "NCCL_NET", "IB")
                    .variable(node, "NCCL_NET_PLUGIN", "none");
        }
        return List.of(left);
    }
}
