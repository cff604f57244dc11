"""`trigon tune` makes a policy of a job's best choices, which must be right then; the part, and the job's launcher.

The launcher, `tune.py JOB`, starts all ranks with the policy and the trace that `trigon tune` gives it.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import turns
from cluster import Launch, LaunchFailed, free_port, tail, trigon

# a choice needs three turns of eight calls, and has one turn in 32
TIMES = {4096: 1500, 65_536: 1500, 1 << 20: 1000, 8 << 20: 1000}
RUN_SECONDS, TUNE_SECONDS = 120, 300
GIVEN = ("TRIGON_POLICY", "TRIGON_TRACE")


class Job(Launch):
    """A launch whose ranks the launcher starts, as often as it is told to."""

    def __init__(self, setting, name, ranks):
        self.told = []
        super().__init__(setting, name, ranks, {**trigon(setting), **turns.LOG})

    def _start(self, rank, extra, configured):
        self.told.append({"command": [*self.setting.network.prefix(self.nodes[rank]), *self.program(rank)],
                          "environment": self._environment(rank, extra, configured), "log": str(self.log(rank)),
                          "processors": self.setting.processors_of(self.nodes[rank])})

    def command(self):
        """What a user would give to `trigon tune`."""
        file = self.directory / "job.json"
        file.write_text(json.dumps({"ranks": self.told, "times": list(TIMES.items())}))
        return [sys.executable, __file__, str(file)]


def tune(setting, report, ranks, out_of_time):
    if setting.dry_run:
        report.skips("tune", "gloo asks no tuner")
        return
    job, table = Job(setting, "tune", ranks), setting.out / "tuned.o"
    done = subprocess.run([setting.distribution / "bin" / "trigon", "tune", "--out", table,
                           "--traces", setting.out / "traces", "--", *job.command()],
                          capture_output=True, text=True, timeout=TUNE_SECONDS)
    said = f"{done.stdout}\n{done.stderr}".strip()
    problem = judge(done.returncode, said, table.is_file())
    ends = "".join(tail(job.log(rank)) for rank in range(ranks))
    if not report.judge("tune", f"{problem}\n{ends}" if problem else None, "\n" + said) or not table.is_file():
        return
    verified = subprocess.run([setting.distribution / "bin" / "trigon", "policy", "verify", table],
                              capture_output=True, text=True, timeout=60)
    report.judge("tune: the policy is accepted", verified.stderr if verified.returncode else None, verified.stdout)
    compare(setting, report, ranks, table)


def judge(status, said, written):
    """What is wrong with the end of `trigon tune`, or None: it writes a policy, or says that nothing was faster."""
    said = " ".join(said.split())  # lines are as long as the terminal
    if status:
        return f"exit status {status}: {said}"
    if not written and "no choice was faster by enough, in " not in said:
        return f"no policy, and no word why: {said}"
    return f"the policy was not loaded: {said}" if "in one way only" in said else None


def compare(setting, report, ranks, table):
    """All-reduces with the policy and without, in turns."""
    own = trigon(setting)
    launches = {"usual": Launch(setting, "tune usual", ranks, {**own, **turns.LOG}),
                "tuned": Launch(setting, "tune tuned", ranks, {**own, **turns.LOG, "TRIGON_POLICY": str(table)})}
    samples = {size: {name: [] for name in launches} for size in TIMES}
    try:
        for launch in launches.values():
            launch.ask("warm", 90)
            turns.connected(launch)
        for size, taken in samples.items():
            turns.take(launches, size, 0, taken)
            usual, tuned = (statistics.median(taken[name]) for name in ("usual", "tuned"))
            report.say(f"all-reduce of {size} B: {usual * 1e6:.1f} us as usual, {tuned * 1e6:.1f} us with the policy, "
                       f"{tuned / usual:.2f} times that")
        for launch in launches.values():
            launch.ask("disconnect", 60)
            report.judge(launch.name, launch.stop(), "every rank ended")
    except LaunchFailed as e:
        report.fails("tune: compare", str(e))
    finally:
        for launch in launches.values():
            launch.kill()


def commands(port, times):
    """A rank's, one a line: what worker.py reads."""
    return [{"do": "warm", "within": 90}, {"do": "connect", "within": 90, "port": port},
            *({"do": "measure", "within": 60, "bytes": size, "iterations": count, "warmup": 0}
              for size, count in times),
            {"do": "disconnect", "within": 60}, {"do": "exit", "within": 30}]


def start(rank, lines, given):
    """A rank's process, and the pipe of its answers."""
    answers, write_end = os.pipe()
    with open(rank["log"], "ab") as log:
        process = subprocess.Popen(rank["command"], stdin=subprocess.PIPE, stdout=log, stderr=subprocess.STDOUT,
                                   env={**rank["environment"], **given, "REPLIES_FD": str(write_end)},
                                   pass_fds=[write_end],
                                   preexec_fn=lambda: os.sched_setaffinity(0, rank["processors"]))
    os.close(write_end)
    process.stdin.write(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    process.stdin.close()
    return process, answers


def finish(process, answers, deadline):
    """What a rank failed with, or None."""
    try:
        status = process.wait(max(0.1, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        process.kill()
        return f"a rank does not end within {RUN_SECONDS} s"
    with open(answers) as file:
        bad = [answer["error"] for answer in map(json.loads, file) if not answer.get("ok", True)]
    return bad[0] if bad else f"a rank ended with {status}" if status else None


def launch_job(path):
    job = json.loads(Path(path).read_text())
    lines = commands(free_port(), job["times"])
    started = [start(rank, lines, {name: os.environ[name] for name in GIVEN}) for rank in job["ranks"]]
    deadline = time.monotonic() + RUN_SECONDS
    problems = [finish(process, answers, deadline) for process, answers in started]
    return next((problem for problem in problems if problem), None)


if __name__ == "__main__":
    sys.exit(launch_job(sys.argv[1]))
