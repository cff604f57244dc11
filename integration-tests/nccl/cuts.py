"""Cables and NICs fail under running all-reduces: only the time may tell, and every bit is as without failures."""

import itertools
import random
import threading
import time

from cluster import LaunchFailed
from session import Session

SECONDS = 120
REST_SECONDS = 5
AWAY_SECONDS = 2
ROUNDS = 40  # of a block: all-reduces that are asked for at once
BLOCK_SECONDS = 60
SEED = 20261125
# the same sums in the same order, with cuts or without
FIXED = {"NCCL_ALGO": "Ring", "NCCL_PROTO": "Simple", "NCCL_MIN_NCHANNELS": "2", "NCCL_MAX_NCHANNELS": "2"}


class Cutter(threading.Thread):
    """Has a random cable fail every few seconds, in a random way, and mends it."""

    def __init__(self, network, seed):
        super().__init__(daemon=True)
        self.network, self.random = network, random.Random(seed)
        self.over, self.cuts, self.problem = threading.Event(), [], None

    def run(self):
        try:
            while not self.over.wait(REST_SECONDS - AWAY_SECONDS):
                one, other = self.random.choice(list(itertools.combinations(self.network.nodes, 2)))
                end, peer = self.random.choice([(one, other), (other, one)])
                ways = self.network.faults(end, peer, self.random.randrange(self.network.cables_each))
                what, fail, mend = self.random.choice(ways)
                self.cuts.append((time.monotonic(), what))
                fail()
                self.over.wait(AWAY_SECONDS)
                mend()
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
    cutter, blocks, stalls = Cutter(setting.network, SEED), 0, []
    cutter.start()
    end = time.monotonic() + SECONDS
    try:
        while time.monotonic() < end and not out_of_time():
            answers = session.launch.ask("endure", BLOCK_SECONDS, first=0, rounds=ROUNDS)
            blocks += 1
            session.add_payload(answers)
            stalls.append(max(a["slowest_s"] for a in answers.values()))
            wrong = [rank for rank, a in answers.items() if a["bits"] != expected[rank]]
            if wrong:
                report.fails(session.name, f"block {blocks}: other bits than without cuts on ranks {wrong}")
                return
    except LaunchFailed as e:
        last = "; ".join(f"{time.monotonic() - at:.1f} s ago {what}" for at, what in cutter.cuts[-3:])
        raise LaunchFailed(f"{e}\nthe last of {len(cutter.cuts)} cuts (seed {SEED}): {last}") from e
    finally:
        cutter.stop()
    problem = cutter.problem or (None if cutter.cuts else "there was no cut")
    moved = sum(log.count("goes on over") for log in map(session.log, range(session.launch.ranks)))
    stalls.sort()
    report.judge(session.name, problem,
                 f"{len(cutter.cuts)} cuts (seed {SEED}), {blocks * ROUNDS} all-reduces, the same bits on every rank; "
                 f"{moved} moves in the logs; slowest all-reduce of a block: median {stalls[len(stalls) // 2]:.3f} s, "
                 f"most {stalls[-1]:.3f} s")
