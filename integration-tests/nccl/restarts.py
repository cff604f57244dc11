"""A rank of a training is killed, and torchrun starts the training again: over Trigon as over NCCL's sockets."""

import json
import sys
import time

import evidence
from cluster import HERE, Launch, LaunchFailed, free_port, sockets, trigon
from cuts import FIXED

WITHIN_SECONDS = 150
STEPS = 80
KILLED_AT = 40
# else the second attempt may find the addresses of the first one
FRESH_STORE = {"TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}


class Torchruns(Launch):
    """A torchrun on each node, whose child is the node's rank. They end by themselves."""

    def __init__(self, setting, name, ranks, environment):
        self.rendezvous = f"{setting.network.rendezvous_host}:{free_port()}"
        own = {"TRAINING_STEPS": str(STEPS), "TRAINING_KILL_AT": str(KILLED_AT)}
        super().__init__(setting, name, ranks, {**FIXED, **FRESH_STORE, **environment, **own})

    def program(self, rank):
        backend = "gloo" if self.setting.dry_run else "nccl"
        return [sys.executable, str(HERE / "elastic.py"), str(self.directory), self.rendezvous, str(rank),
                str(self.ranks), self.setting.network.management_address(self.nodes[rank]), backend]

    def nccl_log(self, rank):
        """The newest log of a node: each attempt is a process, and writes its own."""
        return max(self.nccl_logs(rank), key=lambda path: path.stat().st_mtime,
                   default=self.directory / f"nccl-rank-{rank}-%p.log")

    def nccl_logs(self, rank):
        return list(self.directory.glob(f"nccl-rank-{rank}-*.log"))

    def said(self, rank):
        """What a node's ranks wrote, of both attempts."""
        path = self.directory / f"node-{rank}.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def judge(said):
    """What is wrong with what the ranks of both attempts wrote, or None."""
    if not any(line.get("killed_at") == KILLED_AT for lines in said for line in lines):
        return f"no rank was killed at step {KILLED_AT}: {said}"
    for node, lines in enumerate(said):
        starts = [line["first"] for line in lines if "first" in line]
        if len(starts) != 2 or not 0 < starts[1] <= KILLED_AT:
            return f"node {node} did not start twice, the second time from a checkpoint: {lines}"
        if lines[-1].get("ended_at") != STEPS:
            return f"node {node} did not end with step {STEPS}: {lines}"
    ends = {tuple(lines[-1]["parameters"]) for lines in said}
    return None if len(ends) == 1 else f"the ranks end with different parameters: {said}"


def run(setting, report, name, ranks, environment, over_trigon):
    """The parameters that the ranks end with, or None after a failure."""
    began = time.monotonic()
    with Torchruns(setting, name, ranks, environment) as launch:
        problem = launch.await_end(WITHIN_SECONDS)
        taken = time.monotonic() - began
        said = [launch.said(rank) for rank in range(ranks)]
        problem = problem or judge(said)
        if not problem and over_trigon and not setting.dry_run:
            logs = [path.read_text(errors="replace") for rank in range(ranks) for path in launch.nccl_logs(rank)]
            named = sum(1 for log in logs if evidence.plugin_lines(log))
            problem = None if named == 2 * ranks else f"{named} of NCCL's {len(logs)} logs name Trigon"
        if not report.judge(name, problem, f"killed at step {KILLED_AT}, ended with step {STEPS}, {taken:.0f} s"):
            return None
        return said[0][-1]["parameters"]


def restarts(setting, report, ranks, out_of_time):
    """Data loaders fork the rank or start programs of their own, which load the same libraries."""
    name = "killed rank, torchrun starts again"
    ends = [run(setting, report, f"{name}, loaders {start}, over {network}", ranks,
                {**environment, "TRAINING_WORKERS": start}, network == "Trigon")
            for start, network, environment in (("fork", "Trigon", trigon(setting)),
                                                ("spawn", "Trigon", trigon(setting)),
                                                ("fork", "sockets", sockets(1, 1)))]
    if all(ends):
        report.judge(f"{name}: the same parameters over Trigon and over sockets",
                     None if ends[0] == ends[1] == ends[2] else f"they differ: {ends}")
