"""The nodes' network: one namespace per node and a cable between every two, or loopback addresses.

Every cable is a subnet of its own. Node number 1 is a, 2 is b, and so on; the cable between nodes x and y is
10.0.xy.0/24 (127.0.xy.0/24 on the loopback interface), and a node's own number is the last byte of its addresses.
"""

import itertools
import os
import re
import shutil
import subprocess

NODES = "abcd"
COMMAND_SECONDS = 20


class NetworkUnavailable(Exception):
    """Namespaces cannot be had here; the message says why."""


def number(node):
    return NODES.index(node) + 1


def address(prefix, node, peer):
    """A node's address on its cable to a peer; prefix is the first byte, 10 or 127."""
    low, high = sorted((number(node), number(peer)))
    return f"{prefix}.0.{low}{high}.{number(node)}"


def yaml(prefix, nodes):
    """The cluster's file: every node with one NIC per peer, software links."""
    lines = ["version: 1", "links: software", "nodes:"]
    for node in nodes:
        nics = ", ".join(f"{{address: {address(prefix, node, peer)}/24}}" for peer in nodes if peer != node)
        lines.append(f"  {node}: {{nics: [{nics}]}}")
    return "\n".join(lines) + "\n"


class Loopback:
    """All nodes share the loopback interface; needs no root. The kernel's counters cannot tell who sent what."""

    kind = "loopback"
    bootstrap_interface = "lo"
    rendezvous_host = "127.0.0.1"

    def __init__(self, count):
        self.nodes = NODES[:count]

    def prefix(self, node):
        return []

    def yaml(self, nodes):
        return yaml(127, nodes)

    def cables(self, node, nodes):
        """What NCCL_SOCKET_IFNAME must be for the socket transport to use what Trigon uses."""
        return "lo"

    def counters(self, node):
        return None

    def route_to_all_addresses(self):
        pass

    def describe(self):
        return "loopback addresses 127.0.XY.N: one interface, told apart by address only"

    def close(self):
        pass


class Namespaces:
    """One network namespace per node, veth pairs as cables, and a bridge for bootstrap and rendezvous only."""

    kind = "namespaces"
    bootstrap_interface = "mgmt0"
    rendezvous_host = "10.99.0.1"

    def __init__(self, count):
        self.nodes = NODES[:count]
        self.base = f"trigon-{os.getpid()}-"
        self.created = []
        if os.geteuid() != 0:
            raise NetworkUnavailable("network namespaces need root")
        if shutil.which("ip") is None:
            raise NetworkUnavailable("network namespaces need the program ip (package iproute2), which is not here")
        remove_stale()
        try:
            self._create()
        except (subprocess.SubprocessError, OSError, NetworkUnavailable) as e:
            self.close()
            raise NetworkUnavailable(f"network namespaces cannot be made here: {explain(e)}") from e

    def name(self, node):
        return self.base + node

    def _create(self):
        for node in [*self.nodes, "switch"]:
            run("ip", "netns", "add", self.name(node))
            self.created.append(node)
            # answers come back on the cable they were asked on, whatever the distribution's default says
            self.inside(node, "sh", "-c", "for k in all default; do echo 0 >/proc/sys/net/ipv4/conf/$k/rp_filter; done")
            self.inside(node, "ip", "link", "set", "lo", "up")
        switch = self.name("switch")
        self.inside("switch", "ip", "link", "add", "bridge0", "type", "bridge")
        self.inside("switch", "ip", "link", "set", "bridge0", "up")
        for node in self.nodes:
            port = f"port_{node}"
            self.inside(node, "ip", "link", "add", "mgmt0", "type", "veth", "peer", "name", port, "netns", switch)
            self.inside("switch", "ip", "link", "set", port, "master", "bridge0", "up")
            self._configure(node, "mgmt0", f"10.99.0.{number(node)}/16")
        for one, other in itertools.combinations(self.nodes, 2):
            self.inside(one, "ip", "link", "add", f"to_{other}", "type", "veth",
                        "peer", "name", f"to_{one}", "netns", self.name(other))
            self._configure(one, f"to_{other}", address(10, one, other) + "/24")
            self._configure(other, f"to_{one}", address(10, other, one) + "/24")

    def _configure(self, node, interface, cidr):
        self.inside(node, "ip", "address", "add", cidr, "dev", interface)
        self.inside(node, "ip", "link", "set", interface, "up")

    def route_to_all_addresses(self):
        """Lets every address of a node be reached over the cable to that node.

        NCCL's socket transport connects to whatever address its peer listens on, so without these routes it cannot use
        cables at all. Trigon needs none.
        """
        for node in self.nodes:
            for peer in self.nodes:
                for third in self.nodes:
                    if len({node, peer, third}) == 3:
                        self.inside(node, "ip", "route", "replace", address(10, peer, third) + "/32",
                                    "via", address(10, peer, node), "dev", f"to_{peer}")

    def prefix(self, node):
        """What goes before a command so that it runs on the node; it keeps the process id."""
        return ["ip", "netns", "exec", self.name(node)]

    def inside(self, node, *command):
        return run(*self.prefix(node), *command)

    def yaml(self, nodes):
        return yaml(10, nodes)

    def cables(self, node, nodes):
        return "=" + ",".join(f"to_{peer}" for peer in nodes if peer != node)

    def counters(self, node):
        """Bytes received and sent so far by the node's interfaces, as the kernel counts them: {interface: bytes}."""
        script = "cd /sys/class/net && for f in */statistics/[rt]x_bytes; do echo $f $(cat $f); done"
        totals = {}
        for line in self.inside(node, "sh", "-c", script).splitlines():
            path, value = line.split()
            interface = path.split("/")[0]
            totals[interface] = totals.get(interface, 0) + int(value)
        return totals

    def describe(self):
        return "network namespaces: a veth cable 10.0.XY.0/24 between every two nodes, management network apart"

    def close(self):
        for node in self.created:
            subprocess.run(["ip", "netns", "delete", self.name(node)], check=False, timeout=COMMAND_SECONDS,
                           capture_output=True)
        self.created = []


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False)
    if done.returncode != 0:
        raise NetworkUnavailable(f"'{' '.join(command)}' failed: {done.stderr.strip() or done.returncode}")
    return done.stdout


def explain(error):
    return str(error) or type(error).__name__


def remove_stale():
    """Removes what runs that were killed left behind: namespaces that carry the id of a process that is gone."""
    try:
        listed = run("ip", "netns", "list")
    except NetworkUnavailable:
        return
    for match in re.finditer(r"^(trigon-(\d+)-\w+)", listed, re.MULTILINE):
        if not os.path.exists(f"/proc/{match[2]}"):
            subprocess.run(["ip", "netns", "delete", match[1]], check=False, timeout=COMMAND_SECONDS,
                           capture_output=True)


def open_network(count, wanted):
    """The network as wanted: namespaces, loopback, or auto, which falls back to loopback and says why."""
    if wanted == "loopback":
        return Loopback(count)
    try:
        return Namespaces(count)
    except NetworkUnavailable as e:
        if wanted == "namespaces":
            raise
        print(f"network: {e}\nnetwork: using loopback addresses instead; the kernel's counters prove nothing there",
              flush=True)
        return Loopback(count)
