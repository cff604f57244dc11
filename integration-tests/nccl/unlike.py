"""Nodes that are not alike, and NCCL's own choice of channels: both ends of a pair must come to the same."""

import itertools

import evidence
from cluster import LaunchFailed, Setting
from correctness import UNCONFIGURED, every_operation
from session import Session
from shapes import COUNTS, SHAPES, Shaped

PER_NODE = 2
# between the GPUs of one node NCCL may use whatever there is
WITHIN_NODES = {"NCCL_P2P_DISABLE": "0", "NCCL_SHM_DISABLE": "0"}
TRIANGLE = ("ab", "ac", "bc")


def unlike(setting, report, ranks, out_of_time):
    if setting.network.kind != "namespaces" or ranks != 4 or setting.dry_run:
        report.skips("unlike", "needs namespaces, NCCL, and --nodes 4")
        return
    steps = [(name, cables, "", 4) for name, cables in SHAPES.items()]
    steps.append(("triangle, a node with two NICs more", TRIANGLE, "b", 3))
    for name, cables, spare, joining in steps:
        with Shaped(setting.network, cables, spare) as network:
            both(Setting(setting.distribution, network, setting.out, False, setting.sharing, setting.settings),
                 report, name, joining, out_of_time)


def pairs(setting, report, ranks, out_of_time):
    if setting.network.kind != "namespaces" or setting.dry_run or setting.sharing.gpus % PER_NODE != 0:
        report.skips("pairs", f"needs namespaces, NCCL, and GPUs by {PER_NODE}")
        return
    everything = ["".join(pair) for pair in itertools.combinations(setting.network.nodes, 2)]
    four = {name: SHAPES[name] for name in ("ring of four", "line of four")}
    for name, cables in (four if ranks == 4 else {"full mesh": everything}).items():
        with Shaped(setting.network, cables) as network:
            both(Setting(setting.distribution, network, setting.out, False, setting.sharing, setting.settings,
                         per_node=PER_NODE),
                 report, f"{name}, two GPUs each", PER_NODE * ranks, out_of_time, WITHIN_NODES)


def both(setting, report, name, ranks, out_of_time, environment=None):
    """With the cluster's file, and with no setting of Trigon at all."""
    for suffix, configured in (("with a file", True), (UNCONFIGURED, False)):
        if out_of_time():
            report.fails(f"{name}, {suffix}", "not run: the part's time was over")
            continue
        try:
            # with several ranks a node, some bytes go over no network, and without a key the ends of a line of four use
            # the router: no lower bound is known
            proved = setting.per_node == 1 and (configured or not name.startswith("line"))
            with Session(setting, report, f"{name}, {suffix}", ranks, environment, proved=proved,
                         configured=configured) as session:
                session.connect()
                session.check(every_operation(COUNTS, ("float32",)), 120)
                session.check([{"op": "all_reduce", "count": 16_777_259},
                               {"op": "all_to_all", "count": 4_194_319}], 120)
                logs = [session.log(rank) for rank in range(ranks)]
                report.judge(f"{session.name}: channels", *evidence.judge_agreed(logs))
                without = sorted({node for node in session.launch.nodes
                                  if not any("NET/Trigon/0" in evidence.transports(log)
                                             for log, its in zip(logs, session.launch.nodes) if its == node)})
                report.judge(f"{session.name}: NCCL connects through Trigon",
                             f"not on {', '.join(without)}" if without else None)
        except LaunchFailed as e:
            report.fails(f"{name}, {suffix}", str(e))
