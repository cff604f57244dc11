package trigon.tools.plan;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import trigon.system.InterfaceAddress;
import trigon.tools.keep.Change;
import trigon.tools.keep.Keeper;
import trigon.tools.keep.LastingFile;
import trigon.tools.keep.WantedNic;
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
            for (Keeper keeper : Keeper.all()) {
                lasting(node, keeper).stream()
                        .filter(file -> !file.isLink())
                        .forEach(file -> files.put(node + "/" + keeper.word() + "/" + file.name(), file.text()));
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
                #   ./apply.sh PROGRAM           for good, by what is in charge of these interfaces, such as netplan:
                #     %3$s
                """.formatted(node, mtu, words())
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
                %4$s  *)
                    echo "apply.sh: $1: must be one of %5$s, or nothing" >&2
                    exit 2
                    ;;
                esac
                %3$s""".formatted(
                        plan.nics(node).stream().map(NicAddress::nic).collect(Collectors.joining(" ")),
                        indented(plan.nics(node).stream().map(this::address)),
                        replaced(node, "drop %s %s\n"),
                        Keeper.all().stream().map(keeper -> kept(node, keeper)).collect(Collectors.joining()),
                        words());
    }

    private static String words() {
        return Keeper.all().stream().map(Keeper::word).collect(Collectors.joining(", "));
    }

    /** The branch of apply.sh in which a program keeps the node's addresses. */
    private String kept(String node, Keeper keeper) {
        List<String> lines = new ArrayList<>();
        for (LastingFile file : lasting(node, keeper)) {
            lines.add(
                    file.isLink()
                            ? "mkdir -p %s && ln -sf %s %s".formatted(file.folder(), file.text(), file.path())
                            : "install -D -m %s \"$here/%s/%s\" %s"
                                    .formatted(file.mode(), keeper.word(), file.name(), file.path()));
        }
        nics(node).flatMap(nic -> keeper.reread(nic).stream()).distinct().forEach(lines::add);
        nics(node).flatMap(nic -> keeper.activate(nic).stream()).forEach(lines::add);
        keeper.mergedWith()
                .ifPresent(others -> replaced(
                                node,
                                "grep -lF %2$s " + others
                                        + " 2>/dev/null | while read -r file; do echo \"apply.sh: remove"
                                        + " %2$s of %1$s from $file, which sets it again\" >&2; done\n")
                        .lines()
                        .forEach(lines::add));
        return "  " + keeper.word() + ")\n" + indented(lines.stream()) + "    ;;\n";
    }

    private List<LastingFile> lasting(String node, Keeper keeper) {
        return nics(node).flatMap(nic -> keeper.files(nic).stream()).toList();
    }

    private Stream<WantedNic> nics(String node) {
        return plan.nics(node).stream()
                .map(nic -> new WantedNic(nic.nic(), mtu, List.of(), List.of(InterfaceAddress.parse(nic.address()))));
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
        return new Change.Add(nic.nic(), InterfaceAddress.parse(nic.address())).command() + " && "
                + new Change.Link(nic.nic(), mtu).command();
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
}
