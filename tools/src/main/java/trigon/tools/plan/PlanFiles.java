package trigon.tools.plan;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import trigon.tools.plan.Subnets.NicAddress;

/** The files of a plan: a folder for each node, which only that node accepts, and what concerns all of them. Pure. */
final class PlanFiles {

    /** A script's file name ends so; it may be executed. */
    static final String SCRIPT = ".sh";

    private final Plan plan;
    private final int mtu;

    /** @param mtu of all interfaces, in bytes */
    PlanFiles(Plan plan, int mtu) {
        this.plan = plan;
        this.mtu = mtu;
    }

    /** Texts of the files by their names, which have {@code /}. */
    Map<String, String> all() {
        Map<String, String> files = new LinkedHashMap<>();
        files.put("cluster.yaml", plan.clusterFile());
        files.put("cables.svg", Picture.of(plan.cabling(), plan.subnets()));
        files.put("hosts", String.join("\n", plan.order()) + "\n");
        files.put("launchers.txt", launchers());
        for (int rank = 0; rank < plan.order().size(); rank++) {
            String node = plan.order().get(rank);
            files.put(node + "/apply" + SCRIPT, apply(node));
            files.put(node + "/cluster.yaml", plan.clusterFile());
            files.put(node + "/launch" + SCRIPT, launch(node, rank));
            files.put(node + "/netplan.yaml", netplan(node));
            for (NicAddress nic : plan.nics(node)) {
                files.put(node + "/networkmanager/trigon-" + nic.nic() + ".nmconnection", networkManager(nic));
            }
        }
        return files;
    }

    /** Ends a script that runs on another machine. */
    private static String guard(String script, String node) {
        return """
                set -eu
                here=$(cd -- "$(dirname -- "$0")" && pwd)
                host=$(uname -n)
                case $host in
                  %2$s | %2$s.*) ;;
                  *)
                    echo "%1$s: this is for the node %2$s, and this machine is called $host; nothing was done." \\
                      "Run it on %2$s. If this is the right machine, plan again with $host as the node's name." >&2
                    exit 1
                    ;;
                esac
                """.formatted(script, node);
    }

    private String apply(String node) {
        return """
                #!/bin/sh
                # Gives the node %1$s its addresses for old ones, and its interfaces the MTU %2$d. As root, on %1$s:
                #   ./apply.sh                   until the machine starts anew
                #   ./apply.sh netplan           for good, where netplan is used, as on Ubuntu
                #   ./apply.sh networkmanager    for good, where NetworkManager is used
                """.formatted(node, mtu)
                + guard("apply.sh", node)
                + """
                drop() { # INTERFACE ADDRESS: removes an address that the plan replaces, but none that is in use
                  ip -o addr show dev "$1" | grep -qF " $2 " || return 0
                  case $2 in *:*) local="[${2%%/*}]" ;; *) local=${2%%/*} ;; esac
                  if [ -n "$(ss -Htn state established src "$local" 2>/dev/null)" ]; then
                    echo "apply.sh: $1 still has $2, which the plan replaces, because connections use it." \
                      "When they have ended, run apply.sh again, or: ip addr del $2 dev $1" >&2
                  else
                    ip addr del "$2" dev "$1"
                    echo "apply.sh: $1 no longer has $2"
                  fi
                }
                for nic in %1$s; do
                  ip link show dev "$nic" >/dev/null 2>&1 || {
                    echo "apply.sh: $host has no interface $nic; nothing was done. \"trigon links\" lists what it" \
                      "has; correct the list of cables, and plan again." >&2
                    exit 1
                  }
                done
                case ${1-} in
                  "")
                %2$s    ;;
                  netplan)
                    install -m 600 "$here/netplan.yaml" /etc/netplan/60-trigon.yaml
                    netplan apply
                %4$s    ;;
                  networkmanager)
                    install -m 600 "$here"/networkmanager/*.nmconnection /etc/NetworkManager/system-connections/
                    nmcli connection reload
                    for nic in %1$s; do nmcli connection up "trigon-$nic"; done
                    ;;
                  *)
                    echo "apply.sh: $1: must be netplan, networkmanager or nothing" >&2
                    exit 2
                    ;;
                esac
                %3$s""".formatted(
                                plan.nics(node).stream().map(NicAddress::nic).collect(Collectors.joining(" ")),
                                indented(plan.nics(node).stream().map(this::address)),
                                replaced(node, "drop %s %s\n"),
                                indented(replaced(
                                                node,
                                                "grep -lF %2$s /etc/netplan/*.yaml | while read -r file; do echo"
                                                        + " \"apply.sh: remove %2$s of %1$s from $file: netplan sets it"
                                                        + " again\" >&2; done\n")
                                        .lines()));
    }

    private static String indented(Stream<String> lines) {
        return lines.map(line -> "    " + line + "\n").collect(Collectors.joining());
    }

    /** A line for each address that an interface of the node loses. */
    private String replaced(String node, String format) {
        return plan.nics(node).stream()
                .flatMap(nic -> nic.replaced().stream().map(old -> format.formatted(nic.nic(), old)))
                .collect(Collectors.joining());
    }

    private String address(NicAddress nic) {
        return "ip addr replace %s dev %s && ip link set %s mtu %d up"
                .formatted(nic.address(), nic.nic(), nic.nic(), mtu);
    }

    /** Commands that give the node's interfaces their addresses, and remove others, until the machine restarts. */
    List<String> commands(String node) {
        return Stream.concat(
                        plan.nics(node).stream().map(this::address),
                        replaced(node, "ip addr del %2$s dev %1$s\n").lines())
                .toList();
    }

    private String launch(String node, int rank) {
        return """
                #!/bin/sh
                # Starts this node's processes of a PyTorch job, on %1$s alone: ./launch.sh train.py [ARGUMENT...]
                # GPUS says how many of them there are on each node, MASTER_ADDR where they meet.
                """.formatted(node)
                + guard("launch.sh", node)
                + """
                exports=$(trigon env)
                eval "$exports"
                : "${NCCL_SOCKET_IFNAME:?must name the interface on which all nodes reach each other}"
                export NCCL_SOCKET_IFNAME TRIGON_CONFIG="${TRIGON_CONFIG:-$here/cluster.yaml}"
                exec torchrun --nnodes %d --node-rank %d --nproc-per-node "${GPUS:-1}" \\
                  --master-addr "${MASTER_ADDR:-%s}" --master-port "${MASTER_PORT:-29500}" "$@"
                """.formatted(plan.order().size(), rank, plan.order().getFirst());
    }

    private String launchers() {
        int nodes = plan.order().size();
        return """
                # Jobs by other launchers. "hosts" has the nodes in the order of their ranks%1$s.
                # On each node, once:
                sudo install -D -m 644 cluster.yaml /etc/trigon/cluster.yaml && sudo trigon enable

                # torchrun: on each node its own ./launch.sh train.py

                # Open MPI, which must keep off the cables itself: INTERFACE is that of a network that all nodes share
                mpirun --hostfile hosts -np %2$d --mca oob_tcp_if_include INTERFACE \\
                  --mca btl_tcp_if_include INTERFACE PROGRAM

                # Slurm
                SLURM_HOSTFILE=$PWD/hosts srun --ntasks %2$d --distribution arbitrary PROGRAM
                """.formatted(plan.withoutRelay() ? ", in which a ring needs no relay" : "", nodes);
    }

    /** A file of a node for netplan, whole. It also undoes what a file before it says of link-local addresses. */
    private String netplan(String node) {
        StringBuilder file =
                new StringBuilder("# of %s; ./apply.sh netplan makes it /etc/netplan/60-trigon.yaml\n".formatted(node));
        file.append(replaced(node, "# netplan adds to what other files say: remove %2$s of %1$s there\n"));
        file.append("network:\n  version: 2\n  ethernets:\n");
        for (NicAddress nic : plan.nics(node)) {
            file.append("    %s: {addresses: [%s], mtu: %d, dhcp4: false, link-local: [ipv6], optional: true}\n"
                    .formatted(nic.nic(), nic.address(), mtu));
        }
        return file.toString();
    }

    /** As nm-settings-keyfile(5) has it. */
    private String networkManager(NicAddress nic) {
        return """
                [connection]
                id=trigon-%1$s
                type=ethernet
                interface-name=%1$s
                autoconnect-priority=100

                [ethernet]
                mtu=%2$d

                [ipv4]
                method=manual
                address1=%3$s
                never-default=true

                [ipv6]
                method=link-local
                """.formatted(nic.nic(), mtu, nic.address());
    }
}
