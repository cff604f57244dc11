"""Planted causes: a trace of each, and the report has to put the time where it went."""

import itertools
import json
import subprocess
import time
from collections import Counter

from cluster import Launch, LaunchFailed, Setting, free_port, trigon
from correctness import fixed
from network import interface
from shapes import Shaped

TIMES = 60
BYTES = 4 << 20
LATE_SECONDS = 0.02
NOBODY = -1


def causes(setting, report, ranks, out_of_time):
    if setting.dry_run or setting.network.kind != "namespaces" or ranks < 3:
        report.skips("causes", "needs namespaces, NCCL, and --nodes 3 or more")
        return
    steps = (("nothing", lambda: plain(setting, report, ranks)),
             ("a late rank", lambda: late_rank(setting, report, ranks)),
             ("a relay", lambda: relayed(setting, report, ranks)),
             ("a cut cable", lambda: cut(setting, report, ranks)))
    for name, step in steps:
        if out_of_time():
            report.fails(f"causes: {name}", "not run: the part's time was over")
            continue
        try:
            step()
        except LaunchFailed as e:
            report.fails(f"causes: {name}", str(e))


class Traced:
    """A launch with a trace, whose end is reported: the share of each cause of the time, by the command."""

    def __init__(self, setting, name, ranks, environment=None):
        self.setting, self.name = setting, f"causes: {name}"
        self.folder = setting.out / "causes" / name.replace(" ", "-")
        more = {"TRIGON_TRACE": str(self.folder), "NCCL_PROFILER_PLUGIN": setting.plugin(), **(environment or {})}
        self.launch = Launch(setting, self.name, ranks, {**trigon(setting), **fixed("Ring", "Simple", 1), **more})

    def __enter__(self):
        self.launch.ask("warm", 60)
        self.launch.ask("connect", 90, port=free_port())
        return self.launch

    def __exit__(self, *_):
        self.launch.kill()

    def shares(self):
        """After the end: {cause: share of the time of the collectives}, and the verdict."""
        lines = self.folder / "report.jsonl"
        subprocess.run([self.setting.distribution / "bin" / "trigon", "report", "--json", lines, "--html",
                        self.folder / "report.html", self.folder], capture_output=True, timeout=120, check=True)
        wall, time_of, verdict = 0, Counter(), ""
        for line in lines.read_text().splitlines():
            each = json.loads(line)
            if each["kind"] == "run":
                verdict = each["verdict"]
            elif each["kind"] == "collective":
                wall += each["end"] - each["start"]
            elif each["kind"] == "segment":
                time_of[each["cause"]] += each["to"] - each["from"]
        return {cause: spent / wall for cause, spent in time_of.items()}, verdict


def ended(traced, report):
    """The launch's end, then what the report says."""
    traced.launch.ask("disconnect", 60)
    problem = traced.launch.stop()
    if problem:
        report.fails(traced.name, problem)
        return None
    shares, verdict = traced.shares()
    known = sum(share for cause, share in shares.items() if cause != "unknown")
    said = ", ".join(f"{cause} {share:.1%}" for cause, share in sorted(shares.items(), key=lambda s: -s[1]))
    report.say(f"{traced.name}: {verdict}")
    report.judge(f"{traced.name}: explained", None if known >= 0.95 else f"only {known:.1%}: {said}", said)
    return shares


def plain(setting, report, ranks):
    for size in (8, 1 << 20, 64 << 20):
        traced = Traced(setting, f"nothing {size} B", ranks)
        with traced as launch:
            launch.ask("late", 60, who=NOBODY, seconds=0, times=TIMES, bytes=size)
            ended(traced, report)


def late_rank(setting, report, ranks):
    traced = Traced(setting, "a late rank", ranks)
    with traced as launch:
        launch.ask("late", 60, who=1, seconds=LATE_SECONDS, times=TIMES, bytes=BYTES)
        shares = ended(traced, report)
    if shares is not None:
        late = shares.get("late call", 0) + shares.get("peer late", 0)
        report.judge(traced.name, None if late > 0.5 else f"late calls have {late:.1%} of the time", f"{late:.1%}")


def relayed(setting, report, ranks):
    """A ring of ranks on a line of nodes: the last and the first have no cable."""
    cables = ["".join(pair) for pair in zip(setting.network.nodes, setting.network.nodes[1:])]
    with Shaped(setting.network, cables) as network:
        shaped = Setting(setting.distribution, network, setting.out, False, setting.sharing, setting.settings)
        traced = Traced(shaped, "a relay", ranks)
        with traced as launch:
            launch.ask("late", 60, who=NOBODY, seconds=0, times=TIMES, bytes=BYTES)
            shares = ended(traced, report)
    if shares is not None:
        relay = shares.get("relay", 0)
        report.judge(traced.name, None if relay > 0.1 else f"relays have {relay:.1%} of the time", f"{relay:.1%}")


def cut(setting, report, ranks):
    """All cables of a pair are away for a second: the connection moves to a relay, and the pause is failover's."""
    traced = Traced(setting, "a cut cable", ranks)
    one, other = next(itertools.combinations(setting.network.nodes, 2))
    names = [interface(other, cable) for cable in range(setting.network.cables_each)]
    with traced as launch:
        launch.tell("late", 60, who=0, seconds=0.05, times=TIMES, bytes=BYTES)
        time.sleep(1)
        for name in names:
            setting.network.set_link(one, name, "down")
        time.sleep(1)
        for name in names:
            setting.network.set_link(one, name, "up")
        launch.require("late", launch.collect(60))
        shares = ended(traced, report)
    if shares is not None:
        moved = shares.get("failover", 0)
        report.judge(traced.name, None if moved > 0.005 else f"failovers have {moved:.1%} of the time", f"{moved:.1%}")
