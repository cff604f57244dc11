"""The nodes' network: one namespace per node and a cable between every two, or loopback addresses.

Every cable is a subnet of its own. Node number 1 is a, 2 is b, and so on; cable c, from 0, between nodes x and y is
10.c.xy.0/24 (127.c.xy.0/24 on the loopback interface), and a node's own number is the last byte of its addresses.
"""

import itertools
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass

NODES = "abcd"
COMMAND_SECONDS = 20
SPARES = 2
NOBODY = "02:00:00:00:00:01"  # no interface here has this MAC address


@dataclass(frozen=True)
class Fault:
    """One way in which a cable or its NIC fails, and comes back."""

    kind: str
    what: str
    """The kind, where it is planted."""
    plant: Callable[[], object]
    mend: Callable[[], object]


class NetworkUnavailable(Exception):
    """Namespaces cannot be had here; the message says why."""


def number(node):
    return NODES.index(node) + 1


def address(prefix, node, peer, cable=0):
    """A node's address on a cable to a peer; prefix is the first byte, 10 or 127."""
    low, high = sorted((number(node), number(peer)))
    return f"{prefix}.{cable}.{low}{high}.{number(node)}"


def interface(peer, cable):
    return f"to_{peer}" if cable == 0 else f"to_{peer}_{cable}"


def yaml(prefix, nodes, cables=1, missing=(), rdma=False):
    """The cluster's file: every node with one NIC per cable.

    missing: pairs without a cable, which take relays, over TCP; rdma: whether each interface is an RDMA device of the
    same name.
    """
    links = "software" if not rdma else "auto" if missing else "rdma"
    lines = ["version: 1", f"links: {links}", "nodes:"]
    for node in nodes:
        nics = ", ".join(f"{{{f'device: {interface(peer, cable)}, ' if rdma else ''}"
                         f"address: {address(prefix, node, peer, cable)}/24}}"
                         for cable in range(cables) for peer in nodes
                         if peer != node and tuple(sorted((node, peer))) not in missing)
        lines.append(f"  {node}: {{nics: [{nics}]}}")
    return "\n".join(lines) + "\n"


class Loopback:
    """All nodes share the loopback interface; needs no root. The kernel's counters cannot tell who sent what."""

    kind = "loopback"
    is_rdma = False
    environment = {}
    bootstrap_interface = "lo"
    rendezvous_host = "127.0.0.1"

    def __init__(self, count, cables=1):
        self.nodes = NODES[:count]
        self.cables_each = cables

    def management_address(self, node):
        return self.rendezvous_host

    def prefix(self, node):
        return []

    def yaml(self, nodes):
        return yaml(127, nodes, self.cables_each)

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
    """One network namespace per node, veth pairs as cables, and a router for bootstrap and rendezvous only.

    The router needs nothing of the kernel that the cables do not need as well. Its subnets are the nodes' own, so no
    address of another node lies in them.
    """

    kind = "namespaces"
    is_rdma = False  # the links, and not TCP alone
    environment = {}  # of every rank
    bootstrap_interface = "mgmt0"
    rendezvous_host = "10.99.1.1"

    def __init__(self, count, ip="ip", cables=1):
        """ip: the program of that name, or where it is; cables: between every two nodes."""
        self.nodes = NODES[:count]
        self.cables_each = cables
        self.base = f"trigon-{os.getpid()}-"
        self.created = []
        self.ip = shutil.which(ip)
        if os.geteuid() != 0:
            raise NetworkUnavailable("network namespaces need root")
        if self.ip is None:
            raise NetworkUnavailable("network namespaces need the program ip (package iproute2), "
                                     f"and there is no '{ip}'; "
                                     "portable-ip.sh makes a copy of another machine's, for --ip")
        self.ip = os.path.abspath(self.ip)  # the ranks' working directories are others
        self._remove_stale()
        try:
            self._create()
        except (subprocess.SubprocessError, OSError, NetworkUnavailable) as e:
            self.close()
            raise NetworkUnavailable(f"network namespaces cannot be made here: {explain(e)}") from e

    def name(self, node):
        return self.base + node

    def management_address(self, node):
        return f"10.99.{number(node)}.1"

    def _create(self):
        for node in [*self.nodes, "router"]:
            run(self.ip, "netns", "add", self.name(node))
            self.created.append(node)
            # answers come back on the cable they were asked on, whatever the distribution's default says
            self._write(node, "conf/all/rp_filter", 0)
            self._write(node, "conf/default/rp_filter", 0)
            self.inside(node, self.ip, "link", "set", "lo", "up")
        self._write("router", "ip_forward", 1)
        for node in self.nodes:
            port, subnet = f"port_{node}", f"10.99.{number(node)}"
            self.inside(node, self.ip, "link", "add", "mgmt0", "type", "veth", "peer", "name", port,
                        "netns", self.name("router"))
            self._configure(node, "mgmt0", f"{subnet}.1/24")
            self._configure("router", port, f"{subnet}.254/24")
            self.inside(node, self.ip, "route", "add", "10.99.0.0/16", "via", f"{subnet}.254", "dev", "mgmt0")
        for one, other in itertools.combinations(self.nodes, 2):
            for cable in range(self.cables_each):
                self.inside(one, self.ip, "link", "add", interface(other, cable), "type", "veth",
                            "peer", "name", interface(one, cable), "netns", self.name(other))
                self._configure(one, interface(other, cable), address(10, one, other, cable) + "/24")
                self._configure(other, interface(one, cable), address(10, other, one, cable) + "/24")

    def _configure(self, node, interface, cidr):
        self.inside(node, self.ip, "address", "add", cidr, "dev", interface)
        self.inside(node, self.ip, "link", "set", interface, "up")

    def _write(self, node, setting, value):
        self.inside(node, "sh", "-c", f"echo {value} >/proc/sys/net/ipv4/{setting}")

    def route_to_all_addresses(self):
        """Lets every address of a node be reached over the cable to that node.

        NCCL's socket transport connects to whatever address its peer listens on, so without these routes it cannot use
        cables at all. Trigon needs none.
        """
        for node, peer, third in itertools.permutations(self.nodes, 3):
            for cable in range(self.cables_each):
                self.inside(node, self.ip, "route", "replace", address(10, peer, third, cable) + "/32",
                            "via", address(10, peer, node, cable), "dev", interface(peer, cable))

    def within(self, node):
        """What goes before a command so that it runs on the node; it keeps the process id."""
        return [self.ip, "netns", "exec", self.name(node)]

    def prefix(self, node):
        """What goes before a rank's command."""
        return self.within(node)

    def inside(self, node, *command):
        return run(*self.within(node), *command)

    def faults(self, end, peer, cable):
        """What may go wrong with a cable at that end: [Fault]."""
        name, back = interface(peer, cable), interface(end, cable)
        here, there = address(10, end, peer, cable), address(10, peer, end, cable)
        return [Fault("link down", f"{end}'s {name} down", lambda: self.set_link(end, name, "down"),
                      lambda: self.set_link(end, name, "up")),
                Fault("silence", f"{name} of {end} and {back} of {peer} send to nobody",
                      lambda: (self.misdirect(end, name, there), self.misdirect(peer, back, here)),
                      lambda: (self.direct(end, name, there), self.direct(peer, back, here))),
                Fault("silence one way", f"{end}'s {name} sends to nobody",
                      lambda: self.misdirect(end, name, there), lambda: self.direct(end, name, there))]

    def misdirect(self, node, interface, to):
        """What goes to that address gets a MAC address that nobody has: the link stays up, and nothing arrives."""
        self.inside(node, self.ip, "neigh", "replace", to, "lladdr", NOBODY, "nud", "permanent", "dev", interface)

    def direct(self, node, interface, to):
        self.inside(node, self.ip, "neigh", "delete", to, "dev", interface)

    def set_link(self, node, interface, state):
        """up or down; the cable's other end loses its carrier meanwhile."""
        self.inside(node, self.ip, "link", "set", interface, state)

    def add_spares(self, node):
        """Two NICs more, with addresses, that lead to the router alone."""
        for number in range(SPARES):
            self.inside(node, self.ip, "link", "add", f"spare{number}", "type", "veth", "peer", "name",
                        f"spare_{node}_{number}", "netns", self.name("router"))
            self._configure(node, f"spare{number}", f"10.77.{number}.1/24")
            self._configure("router", f"spare_{node}_{number}", f"10.77.{number}.254/24")

    def remove_spares(self, node):
        for number in range(SPARES):
            self.inside(node, self.ip, "link", "delete", f"spare{number}")

    def yaml(self, nodes, missing=()):
        return yaml(10, nodes, self.cables_each, missing)

    def cables(self, node, nodes):
        return "=" + ",".join(interface(peer, cable)
                              for cable in range(self.cables_each) for peer in nodes if peer != node)

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
        cables = "a veth cable 10.0.XY.0/24" if self.cables_each == 1 else \
            f"{self.cables_each} veth cables 10.C.XY.0/24"
        return f"network namespaces: {cables} between every two nodes, management network apart"

    def close(self):
        for node in self.created:
            self._delete(self.name(node))
        self.created = []

    def _delete(self, namespace):
        subprocess.run([self.ip, "netns", "delete", namespace], check=False, timeout=COMMAND_SECONDS,
                       capture_output=True)

    def _remove_stale(self):
        """Removes what runs that were killed left behind: namespaces that carry the id of a process that is gone."""
        try:
            listed = run(self.ip, "netns", "list")
        except (NetworkUnavailable, subprocess.SubprocessError, OSError):
            return  # whatever is wrong, making namespaces says it better
        for match in re.finditer(r"^(trigon-(\d+)-\w+)", listed, re.MULTILINE):
            if not os.path.exists(f"/proc/{match[2]}"):
                self._delete(match[1])


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False)
    if done.returncode != 0:
        raise NetworkUnavailable(f"'{' '.join(command)}' failed: {done.stderr.strip() or done.returncode}")
    return done.stdout


def explain(error):
    return str(error) or type(error).__name__


def open_network(count, wanted, ip="ip", cables=1):
    """The network as wanted: namespaces, loopback, or auto, which falls back to loopback and says why."""
    if wanted == "loopback":
        return Loopback(count, cables)
    try:
        return Namespaces(count, ip, cables)
    except NetworkUnavailable as e:
        if wanted == "namespaces":
            raise
        print(f"network: {e}\nnetwork: using loopback addresses instead; the kernel's counters prove nothing there",
              flush=True)
        return Loopback(count, cables)
