"""Nodes that are network namespaces with host names of their own, and the cables between them. Needs root."""

import os
import shlex
import stat
import subprocess
from pathlib import Path

IP_SECONDS = 20
MANAGEMENT = "192.168.199"


class Nodes:
    """Namespaces that this process has made. A node's namespace is called PREFIX-NODE.

    All of them share a management network, eth0, on which their names are known.
    """

    def __init__(self, folder, names):
        self.names = names.split()
        self.prefix = f"trigon-{os.getpid()}"
        self.switch = f"{self.prefix}-switch"
        self.made = []
        try:
            self.space(self.switch)
            ip(f"-n {self.switch} link add br0 type bridge")
            ip(f"-n {self.switch} link set br0 up")
            for number, node in enumerate(self.names, start=1):
                self.node(node, number)
        except BaseException:
            self.close()
            raise
        self.via = Path(folder) / "via"
        self.via.write_text(
            "#!/bin/sh\n# via NODE COMMAND...: runs it there, on a machine of that name\nnode=$1; shift\n"
            "case $node in " + "".join(f"{MANAGEMENT}.{number}) node={name} ;; "
                                       for number, name in enumerate(self.names, start=1)) + "esac\n"
            f"exec ip netns exec {self.prefix}-$node unshare --uts "
            "sh -c 'hostname \"$0\" && exec \"$@\"' \"$node\" \"$@\"\n")
        self.via.chmod(self.via.stat().st_mode | stat.S_IXUSR)

    def space(self, name):
        ip(f"netns add {name}")
        self.made.append(name)

    def node(self, node, number):
        space = f"{self.prefix}-{node}"
        self.space(space)
        ip(f"-n {space} link set lo up")
        ip(f"-n {space} link add eth0 type veth peer name to-{node} netns {self.switch}")
        ip(f"-n {self.switch} link set to-{node} master br0 up")
        ip(f"-n {space} address add {MANAGEMENT}.{number}/24 dev eth0")
        ip(f"-n {space} link set eth0 up")
        hosts = Path("/etc/netns") / space / "hosts"
        hosts.parent.mkdir(parents=True)
        hosts.write_text("127.0.0.1 localhost\n" + "".join(
            f"{MANAGEMENT}.{i} {name}\n" for i, name in enumerate(self.names, start=1)))

    def ip(self, node, command):
        """Runs ip on a node."""
        ip(f"-n {self.prefix}-{node} {command}")

    def on(self, node, *command):
        """What runs a command on a node, and becomes it; under this machine's name."""
        return ["ip", "netns", "exec", f"{self.prefix}-{node}", *map(str, command)]

    def cable(self, one, other, *addresses):
        """A cable between two ends, NODE:INTERFACE each, with their addresses where they have some."""
        (a, nic), (b, peer) = ends = one.split(":"), other.split(":")
        self.ip(a, f"link add {nic} type veth peer name {peer} netns {self.prefix}-{b}")
        for (node, name), address in zip(ends, addresses):
            self.ip(node, f"address add {address} dev {name}")
        self.ip(a, f"link set {nic} up")
        self.ip(b, f"link set {peer} up")

    def close(self):
        """Takes all of them away."""
        for space in self.made:
            subprocess.run(["ip", "netns", "del", space], check=False, timeout=IP_SECONDS)
            hosts = Path("/etc/netns") / space
            if hosts.is_dir():
                (hosts / "hosts").unlink(missing_ok=True)
                hosts.rmdir()
        self.made.clear()


def ip(arguments):
    subprocess.run(["ip", *shlex.split(arguments)], check=True, timeout=IP_SECONDS)
