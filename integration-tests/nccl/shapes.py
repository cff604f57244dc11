"""Nodes without a common cable: rings, lines and stars, with relays in between."""

import itertools

from cluster import LaunchFailed, Setting
from correctness import every_operation, fixed
from network import interface
from session import Session

SHAPES = {"ring of four": ("ab", "bc", "cd", "ad"), "line of four": ("ab", "bc", "cd"),
          "star of four": ("ab", "ac", "ad")}
COUNTS = (1, 1000, 262_147)


class Shaped:
    """The network with some cables only: the others are down, and in nobody's file."""

    def __init__(self, network, cables, spare=""):
        """spare: a node that gets two NICs more, which lead to nobody of the job."""
        self.network, self.spare = network, spare
        self.missing = [pair for pair in itertools.combinations(network.nodes, 2) if "".join(pair) not in cables]

    def __getattr__(self, name):
        return getattr(self.network, name)

    def __enter__(self):
        self._all("down")
        if self.spare:
            self.network.add_spares(self.spare)
        return self

    def __exit__(self, *_):
        self._all("up")
        if self.spare:
            self.network.remove_spares(self.spare)

    def _all(self, state):
        for one, other in self.missing:
            for cable in range(self.network.cables_each):
                self.network.set_link(one, interface(other, cable), state)
                self.network.set_link(other, interface(one, cable), state)

    def prefix(self, node):
        return self.network.prefix(node, self.missing) if self.network.is_rdma else self.network.prefix(node)

    def yaml(self, nodes):
        return self.network.yaml(nodes, self.missing)


def shapes(setting, report, ranks, out_of_time):
    if setting.network.kind != "namespaces" or ranks != 4 or setting.dry_run:
        report.skips("shapes", "needs namespaces, NCCL, and --nodes 4")
        return
    for name, cables in SHAPES.items():
        with Shaped(setting.network, cables) as network:
            shaped = Setting(setting.distribution, network, setting.out, False, setting.sharing, setting.settings)
            for algorithm in ("Ring", "Tree"):
                if out_of_time():
                    report.fails(name, "not run: the part's time was over")
                    continue
                operations(shaped, report, f"{name}, {algorithm}", algorithm)


def operations(setting, report, name, algorithm):
    try:
        with Session(setting, report, name, 4, fixed(algorithm, "Simple", 2)) as session:
            session.connect()
            session.check(every_operation(COUNTS, ("float32",)), 120)
            session.check([{"op": "all_reduce", "count": 16_777_259}, {"op": "all_to_all", "count": 4_194_319}], 120)
    except LaunchFailed as e:
        report.fails(name, str(e))
