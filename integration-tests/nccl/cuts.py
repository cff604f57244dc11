"""Cables and NICs fail under running all-reduces: only the time may tell, and every bit is as without failures."""

import itertools
import random
import statistics
import threading
import time

from cluster import LaunchFailed
from session import Session

SECONDS = 300
REST_SECONDS = 5
AWAY_SECONDS = 2
ROUNDS = 40  # of a block: all-reduces that are asked for at once
BLOCK_SECONDS = 60
SEED = 20261125
# the same sums in the same order, with cuts or without
FIXED = {"NCCL_ALGO": "Ring", "NCCL_PROTO": "Simple", "NCCL_MIN_NCHANNELS": "2", "NCCL_MAX_NCHANNELS": "2",
         "TRIGON_TUNING": "off"}


class Cutter(threading.Thread):
    """Has a random cable fail every few seconds, in a random one of the ways asked for, and mends it."""

    def __init__(self, network, seed, kind=None):
        """kind: the only kind of fault; None: all that the network has."""
        super().__init__(daemon=True)
        self.network, self.random, self.kind = network, random.Random(seed), kind
        self.over, self.cuts, self.problem = threading.Event(), [], None

    def run(self):
        try:
            while not self.over.wait(REST_SECONDS - AWAY_SECONDS):
                one, other = self.random.choice(list(itertools.combinations(self.network.nodes, 2)))
                end, peer = self.random.choice([(one, other), (other, one)])
                ways = self.network.faults(end, peer, self.random.randrange(self.network.cables_each))
                fault = self.random.choice([way for way in ways if self.kind in (None, way.kind)])
                self.cuts.append((time.monotonic(), fault))
                fault.plant()
                self.over.wait(AWAY_SECONDS)
                fault.mend()
        except Exception as e:  # the driver has to hear of it
            self.problem = f"the cutter failed: {e}"

    def stop(self):
        self.over.set()
        self.join(30)


def cuts(setting, report, ranks, out_of_time):
    name = "cut cables"
    network = setting.network
    if network.kind != "namespaces" or network.cables_each < 2:
        report.skips(name, "needs namespaces and --cables 2")
        return
    kinds = [fault.kind for fault in network.faults(*network.nodes[:2], 0)]
    if setting.fault not in (None, *kinds):
        report.fails(name, f"no fault \"{setting.fault}\": these cables have {', '.join(kinds)}")
        return
    environment, expected = FIXED, None
    with Session(setting, report, f"{name}: none", ranks, environment) as session:
        session.connect()
        expected = session.launch.ask("endure", BLOCK_SECONDS, first=0, rounds=ROUNDS)
    if expected is None:
        return
    with Session(setting, report, f"{name}: one every {REST_SECONDS} s", ranks, environment) as session:
        session.connect()
        under_cuts(setting, report, session, {rank: a["bits"] for rank, a in expected.items()}, out_of_time)


def under_cuts(setting, report, session, expected, out_of_time):
    cutter, blocks = Cutter(setting.network, SEED, setting.fault), []
    cutter.start()
    end = time.monotonic() + SECONDS
    try:
        while time.monotonic() < end and not out_of_time():
            start = time.monotonic()
            answers = session.launch.ask("endure", BLOCK_SECONDS, first=0, rounds=ROUNDS)
            blocks.append((start, time.monotonic(), max(a["slowest_s"] for a in answers.values())))
            session.add_payload(answers)
            wrong = [rank for rank, a in answers.items() if a["bits"] != expected[rank]]
            if wrong:
                report.fails(session.name, f"block {len(blocks)}: other bits than without cuts on ranks {wrong}")
                return
    except LaunchFailed as e:
        last = "; ".join(f"{time.monotonic() - at:.1f} s ago {fault.what}" for at, fault in cutter.cuts[-3:])
        raise LaunchFailed(f"{e}\nthe last of {len(cutter.cuts)} cuts (seed {SEED}): {last}") from e
    finally:
        cutter.stop()
    problem = cutter.problem or (None if cutter.cuts else "there was no cut")
    moved = sum(log.count("goes on over") for log in map(session.log, range(session.launch.ranks)))
    report.judge(session.name, problem,
                 f"{len(cutter.cuts)} cuts (seed {SEED}), {len(blocks) * ROUNDS} all-reduces, the same bits on every "
                 f"rank; {moved} moves in the logs; {shown(stalls(cutter.cuts, blocks), blocks)}")


def stalls(cuts, blocks):
    """For each kind of fault what each one cost: the slowest all-reduce that met the cable while it was away."""
    found = {}
    for at, fault in cuts:
        met = [slowest for start, end, slowest in blocks if start <= at + AWAY_SECONDS and end >= at]
        if met:
            found.setdefault(fault.kind, []).append(max(met))
    return found


def shown(found, blocks):
    text = f"slowest all-reduce of a block: {statistics.median(slowest for *_, slowest in blocks) * 1e3:.1f} ms"
    for kind, each in sorted(found.items()):
        text += (f"\n           {kind}: {len(each)} times, slowest all-reduce {statistics.median(each) * 1e3:.0f} ms "
                 f"in the median, {max(each) * 1e3:.0f} ms at most")
    return text
