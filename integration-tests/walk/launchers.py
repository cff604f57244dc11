#!/usr/bin/env python3
"""The recipes for mpirun and Slurm on three nodes: a rank of the program that plays NCCL on each.

Nodes are network namespaces, addressed by `trigon plan`. Open MPI and Slurm are Debian's packages, installed in a mount
namespace, so that this machine stays as it is. Needs root, and Debian's archive.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from nodes import MANAGEMENT, Nodes
from walk import INSIDE, StepFailed, expect, in_own_mounts, run

PACKAGES = ("openmpi-bin", "slurmctld", "slurmd", "slurm-client", "munge")
DAEMON_SECONDS = 60
RANK = """#!/bin/bash
# What "python train.py" is in the recipes: NCCL's file says all that NCCL must be told, and launchers pass nothing.
exec {home}/libexec/nccl-host --rank "${{OMPI_COMM_WORLD_RANK:-$SLURM_PROCID}}" --ranks 3 --rendezvous "$1"
"""
SLURM = """ClusterName=trigon
SlurmctldHost=a({management}.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ReturnToService=2
PropagateResourceLimitsExcept=MEMLOCK
{nodes}
PartitionName=all Nodes=a,b,c Default=YES State=UP
"""


class Launchers:
    """The nodes, and what is started on them."""

    def __init__(self, folder, home):
        self.folder = Path(folder)
        self.home = Path(home)
        self.trigon = self.home / "bin/trigon"
        self.daemons = []
        self.folder.chmod(0o755)
        self.rank = self.folder / "rank"
        self.rank.write_text(RANK.format(home=self.home))
        self.rank.chmod(0o755)
        self.nodes = Nodes(self.folder, "a b c")
        for one, other in (("a:eth1", "b:eth1"), ("a:eth2", "c:eth1"), ("b:eth2", "c:eth2")):
            self.nodes.cable(one, other)
        self.plan = self.folder / "plan"

    def close(self):
        for daemon in reversed(self.daemons):
            daemon.kill()
            daemon.wait()
        self.nodes.close()

    def address(self):
        cables = self.folder / "cables.yaml"
        cables.write_text("cables:\n- a:eth1 b:eth1\n- a:eth2 c:eth1\n- b:eth2 c:eth2\n")
        run(self.trigon, "plan", cables, "--write", self.plan)
        for node in self.nodes.names:
            run(self.nodes.via, node, self.plan / node / "apply.sh")

    def enable(self):
        """What each node needs once; these nodes share /etc."""
        run("install", "-D", "-m", "644", self.plan / "cluster.yaml", "/etc/trigon/cluster.yaml")
        Path("/etc/nccl.conf").write_text("NCCL_DEBUG=INFO\nNCCL_SOCKET_IFNAME=eth0\n")
        expect(run(self.nodes.via, "a", self.trigon, "enable"), "/etc/nccl.conf: written")

    def script(self, launcher, command):
        """A script of the lines of the recipe, run on node a."""
        script = self.folder / launcher
        script.write_text(f"""#!/bin/bash
set -eu
cd {self.plan}
{command}
""")
        script.chmod(0o755)
        meeting = self.folder / f"meet-{launcher}"
        meeting.mkdir()
        text = run(self.nodes.via, "a", script)
        expect(text, r"sends to b 10\.77\.")
        right = sum(line.endswith(" 0 wrong") for line in text.splitlines())
        if right != 3:
            raise StepFailed(f"{launcher}: {right} of 3 ranks were right:\n{text[-3000:]}")

    def mpirun(self):
        agent = self.folder / "rsh"  # as ssh does, it gives the words to a shell
        agent.write_text(f'#!/bin/sh\nnode=$1; shift\nexec {self.nodes.via} "$node" sh -c "$*"\n')
        agent.chmod(0o755)
        self.script("mpirun", f"""mpirun --mca plm_rsh_agent {agent} --mca oob_tcp_if_include eth0 \\
  --mca btl_tcp_if_include eth0 --allow-run-as-root --hostfile hosts -np 3 {self.rank} \\
  {self.folder}/meet-mpirun 2>&1""")
        return run("mpirun", "--version").splitlines()[0]

    def start(self, *command):
        with open(self.folder / "daemons.log", "a") as log:
            self.daemons.append(subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL,
                                                 stdout=log, stderr=log))

    def slurm(self):
        (self.folder / "state").mkdir()
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        lines = []
        for number, node in enumerate(self.nodes.names, start=1):
            (self.folder / f"spool-{node}").mkdir()
            lines.append(f"NodeName={node} NodeAddr={MANAGEMENT}.{number} CPUs={os.cpu_count()} State=UNKNOWN")
        conf = self.folder / "slurm.conf"
        conf.write_text(SLURM.format(folder=self.folder, management=MANAGEMENT, nodes="\n".join(lines)))
        os.environ["SLURM_CONF"] = str(conf)
        self.start("munged", "--force", "--foreground", f"--key-file={key}", f"--socket={self.folder}/munge.socket",
                   f"--pid-file={self.folder}/munged.pid", f"--log-file={self.folder}/munged.log",
                   f"--seed-file={self.folder}/munge.seed")
        self.start(self.nodes.via, "a", "slurmctld", "-D")
        cgroups = Path("/mnt/cgroups")  # slurmd looks for them, and a node's own /sys has none
        cgroups.mkdir()
        run("mount", "--rbind", "/sys/fs/cgroup", cgroups)
        for node in self.nodes.names:
            self.start(self.nodes.via, node, "sh", "-c",
                       f"mount --rbind {cgroups} /sys/fs/cgroup && exec slurmd -D -N {node}")
        end = time.monotonic() + DAEMON_SECONDS
        while "3 idle" not in run(self.nodes.via, "a", "sinfo", "--noheader", "--format", "%D %T", allowed=(0, 1)):
            if time.monotonic() > end:
                raise StepFailed("Slurm does not start:\n" + (self.folder / "daemons.log").read_text()[-2000:])
            time.sleep(0.5)
        self.script("srun", f"""SLURM_HOSTFILE=$PWD/hosts srun --ntasks 3 --distribution arbitrary \\
  {self.rank} {self.folder}/meet-srun 2>&1""")
        return run(self.nodes.via, "a", "srun", "--version").strip()


def main():
    if len(sys.argv) != 2 or os.geteuid():
        sys.exit("usage, as root: launchers.py DISTRIBUTION")
    if INSIDE not in os.environ:
        in_own_mounts(__file__, sys.argv[1:])
    os.environ["DEBIAN_FRONTEND"] = "noninteractive"
    run("apt-get", "install", "--yes", "--no-install-recommends", *PACKAGES, seconds=600)
    with tempfile.TemporaryDirectory(prefix="trigon-launchers-") as folder:
        launchers = Launchers(folder, Path(sys.argv[1]).resolve())
        try:
            launchers.address()
            launchers.enable()
            for launcher in (launchers.mpirun, launchers.slurm):
                print(f"ok      {launcher()}: a rank on each of three nodes, every element right", flush=True)
        except (StepFailed, subprocess.SubprocessError) as error:
            print(f"FAILED  {error}", flush=True)
            return 1
        finally:
            launchers.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
