"""Tests of what judges the survivors of a killed rank, on any machine."""

import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import cluster
import timeline


def marks(**ranks):
    """A timeline with the given marks: seconds by label, for the ranks r0, r1 and so on."""
    made = timeline.Timeline("test", [int(rank[1:]) for rank in ranks])
    for rank, labels in ranks.items():
        for label, seconds in labels.items():
            made.mark(int(rank[1:]), label, seconds, "exit status 0" if label == timeline.ENDED else "")
    return made


RAISED = {"error raised in Python": 2.0, "communicator aborted": 2.5, timeline.ENDED: 4.0}
REPORTED = {"watchdog reports the error": 2.0}


class KilledRank(unittest.TestCase):
    def test_the_contract_is_error_abort_and_end_within_the_limit(self):
        self.assertIsNone(timeline.judge_contract(marks(r0=RAISED, r1=RAISED), 30))
        for missing, text in (("error raised in Python", "saw no error"), ("communicator aborted", "abort did not end"),
                              (timeline.ENDED, "did not end within 30 s")):
            partly = {label: seconds for label, seconds in RAISED.items() if label != missing}
            problem = timeline.judge_contract(marks(r0=RAISED, r1=partly), 30)
            self.assertRegex(problem, f"^rank 1: .*{text}$")
        late = marks(r0={**RAISED, timeline.ENDED: 31.0})
        self.assertIn("did not end within 30 s", timeline.judge_contract(late, 30))

    def test_a_crash_is_no_end_that_the_contract_allows(self):
        crashed = marks(r0={label: seconds for label, seconds in RAISED.items() if label != timeline.ENDED})
        crashed.mark(0, timeline.ENDED, 4.0, timeline.how_ended(-11))
        self.assertIn("by SIGSEGV", timeline.judge_contract(crashed, 30))
        self.assertIsNone(timeline.judge_ended(crashed, 30))

    def test_a_delay_as_long_as_over_sockets_is_pytorchs(self):
        ours, theirs = marks(r0={**REPORTED, timeline.ENDED: 64.0}), marks(r0={**REPORTED, timeline.ENDED: 62.0})
        problem, verdict = timeline.judge_beside(ours, theirs, 30, 10)
        self.assertIsNone(problem)
        self.assertIn("PyTorch's own", verdict)

    def test_a_delay_that_sockets_do_not_have_is_ours(self):
        for ours in (marks(r0={**REPORTED, timeline.ENDED: 73.0}), marks(r0=REPORTED)):
            problem, _ = timeline.judge_beside(ours, marks(r0={**REPORTED, timeline.ENDED: 62.0}), 30, 10)
            self.assertIn("the delay is Trigon's", problem)

    def test_who_hears_nothing_fails_whatever_sockets_do(self):
        silent = marks(r0={"watchdog reports the error": 31.0, timeline.ENDED: 62.0})
        self.assertIn("no sign", timeline.judge_beside(silent, silent, 30, 10)[0])

    def test_without_an_end_over_sockets_there_is_no_verdict(self):
        self.assertEqual(timeline.judge_beside(marks(r0=REPORTED), marks(r0=REPORTED), 30, 10), (None, None))
        self.assertIn("over sockets they do not", timeline.judge_beside(
            marks(r0={**REPORTED, timeline.ENDED: 50.0}), marks(r0=REPORTED), 30, 10)[1])

    def test_a_log_is_searched_from_where_it_is(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "log"
            path.write_text("NCCL WARN of long ago\n")
            tail = timeline.Tail(path, timeline.NCCL_LOG)
            self.assertEqual(tail.found(), [])
            with path.open("a") as log:
                log.write("host NCCL WA")
                log.flush()
                self.assertEqual(tail.found(), [])
                log.write("RN lost\nNCCL WARN again\n")
            self.assertEqual(tail.found(), [("NCCL warns", "host NCCL WARN lost")])
            self.assertEqual(tail.found(), [])

    def test_watches_who_ends_and_takes_the_stacks_of_who_does_not(self):
        with tempfile.TemporaryDirectory() as folder, FakeLaunch(Path(folder)) as launch:
            seen = timeline.watch(launch, [0, 1], time.monotonic(), 4, 60)
            self.assertIsNotNone(seen.seconds(0, "watchdog reports the error"))
            self.assertEqual(seen.marks[0][timeline.ENDED][1], "by SIGABRT")
            self.assertEqual(seen.marks[1]["error raised in Python"][1], "SomeError: x")
            self.assertEqual(seen.alive(), [1])
            stacks = seen.stacks[0].read_text()
            self.assertIn("in lingers", stacks)
            self.assertRegex(stacks, r"== threads[^=]*python")
            seen.write(Path(folder) / "timelines.json")
            self.assertIn("by SIGABRT", (Path(folder) / "timelines.json").read_text())


class FakeLaunch:
    """Two processes in place of ranks: one ends as PyTorch's watchdog makes it, the other one lingers."""

    SCRIPT = """
import faulthandler, os, signal, sys, time
faulthandler.register(signal.SIGUSR1)
def lingers():
    os.write(int(sys.argv[2]), b'{"notice": true, "seen": "SomeError: x"}\\n')
    time.sleep(60)
time.sleep(0.3)
if sys.argv[1] == "1":
    lingers()
print("[rank0] failure detected by watchdog at work sequence id: 3", flush=True)
time.sleep(0.3)
os.kill(os.getpid(), signal.SIGABRT)
"""

    def __init__(self, folder):
        self.name, self.directory, self.buffers, self.processes, self.pipes = "fake", folder, [b""] * 2, [], []
        for rank in range(2):
            read_end, write_end = os.pipe()
            with open(self.log(rank), "wb") as log:
                self.processes.append(subprocess.Popen([sys.executable, "-c", self.SCRIPT, str(rank), str(write_end)],
                                                       stdout=log, stderr=log, pass_fds=[write_end]))
            os.close(write_end)
            self.pipes.append(read_end)

    received = cluster.Launch.received

    def log(self, rank):
        return self.directory / f"rank-{rank}.log"

    def nccl_log(self, rank):
        return self.directory / f"nccl-rank-{rank}.log"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.wait(20)
        for pipe in self.pipes:
            os.close(pipe)
