"""What the survivors of a killed rank do, and when: what they and their logs say, until the last of them has ended."""

import json
import os
import re
import select
import shutil
import signal
import subprocess
import time
from pathlib import Path

from cluster import threads

POLL_SECONDS = 0.05
STACK_SECONDS = 20  # for one program that shows native stacks
ENDED = "ended"

# what to look for in a rank's two logs, in PyTorch's and NCCL's words
RANK_LOG = (("watchdog reports the error", re.compile(r"failure detected by watchdog")),
            ("watchdog gives up", re.compile(r"watchdog thread terminated with exception")),
            ("process aborts itself", re.compile(r"terminate called|Fatal Python error: Aborted")))
NCCL_LOG = (("NCCL warns", re.compile(r"NCCL WARN")),)
KNOWS = ("NCCL warns", "watchdog reports the error", "error raised in Python", ENDED)

# programs that show native stacks, whichever is there; the process id goes behind
STACK_PROGRAMS = (("py-spy", "dump", "--native", "--pid"), ("eu-stack", "-p"),
                  ("gdb", "-batch", "-ex", "thread apply all bt", "-p"))


class Tail:
    """The text that a log gets from now on; finds the first line for each of its patterns."""

    def __init__(self, path, patterns):
        self.path, self.patterns, self.text = path, list(patterns), ""
        self.position = path.stat().st_size if path.exists() else 0

    def found(self):
        """The (label, line) pairs that are new."""
        try:
            with open(self.path, "rb") as log:
                log.seek(self.position)
                data = log.read()
        except OSError:
            return []
        self.position += len(data)
        self.text += data.decode(errors="replace")
        whole, _, self.text = self.text.rpartition("\n")
        found = []
        for label, pattern in list(self.patterns):
            line = next((line for line in whole.splitlines() if pattern.search(line)), None)
            if line is not None:
                found.append((label, line.strip()))
                self.patterns.remove((label, pattern))
        return found


class Timeline:
    """The marks of one launch's survivors: {rank: {label: (seconds after the kill, what was said)}}."""

    def __init__(self, name, ranks):
        self.name = name
        self.marks = {rank: {} for rank in ranks}
        self.stacks = []

    def mark(self, rank, label, seconds, said=""):
        self.marks[rank].setdefault(label, (seconds, said))

    def seconds(self, rank, label):
        """When, or None."""
        return self.marks[rank].get(label, (None, ""))[0]

    def knows(self, rank):
        """When the first sign of the error came, or None."""
        times = [self.seconds(rank, label) for label in KNOWS if self.seconds(rank, label) is not None]
        return min(times, default=None)

    def all_ended(self):
        """When the last one ended, or None."""
        times = [self.seconds(rank, ENDED) for rank in self.marks]
        return None if None in times else max(times)

    def alive(self):
        return [rank for rank in self.marks if self.seconds(rank, ENDED) is None]

    def text(self):
        lines = []
        for rank, marks in self.marks.items():
            ordered = sorted(marks.items(), key=lambda entry: entry[1][0])
            said = "; ".join(f"{seconds:.1f} s {label}{f' ({said[:120]})' if said else ''}"
                             for label, (seconds, said) in ordered)
            lines.append(f"\n           {self.name}, rank {rank}: {said or 'nothing'}"
                         + ("" if self.seconds(rank, ENDED) is not None else "; lives on"))
        return "".join(lines) + "".join(f"\n           stacks: {path}" for path in self.stacks)

    def write(self, path):
        """Adds it to the file with all timelines."""
        known = json.loads(path.read_text()) if path.exists() else {}
        known[self.name] = {rank: {label: {"seconds": round(seconds, 2), "said": said}
                                   for label, (seconds, said) in marks.items()} for rank, marks in self.marks.items()}
        path.write_text(json.dumps(known, indent=1) + "\n")


def watch(launch, ranks, start, limit, stacks_at):
    """Notes what the ranks do from the moment `start` (monotonic) until all have ended or `limit` seconds have passed.

    A rank whose program saw the error and gave up is told to exit. The stacks of those that live `stacks_at` seconds
    after the start go to files, and once more at the limit.
    """
    timeline = Timeline(launch.name, ranks)
    tails = {rank: (Tail(launch.log(rank), RANK_LOG), Tail(launch.nccl_log(rank), NCCL_LOG)) for rank in ranks}
    open_pipes = {launch.pipes[rank]: rank for rank in ranks}
    due = [stacks_at, limit] if stacks_at < limit else [limit]
    while timeline.alive():
        for pipe in select.select(list(open_pipes), [], [], POLL_SECONDS)[0] if open_pipes else pause():
            rank = open_pipes[pipe]
            data = os.read(pipe, 1 << 16)
            if not data:
                del open_pipes[pipe]
            for answer in launch.received(rank, data):
                hear(launch, timeline, rank, answer, time.monotonic() - start)
        elapsed = time.monotonic() - start
        for rank in timeline.alive():
            code = launch.processes[rank].poll()  # before its logs: then nothing of them is missed
            for tail in tails[rank]:
                for label, line in tail.found():
                    timeline.mark(rank, label, elapsed, line)
            if code is not None:
                timeline.mark(rank, ENDED, elapsed, how_ended(code))
        if elapsed >= due[0]:
            at = due.pop(0)
            timeline.stacks += [write_stacks(launch, rank, at) for rank in timeline.alive()]
            if not due:
                break
    return timeline


def pause():
    time.sleep(POLL_SECONDS)
    return []


def hear(launch, timeline, rank, answer, seconds):
    if "seen" in answer:
        timeline.mark(rank, "error raised in Python", seconds, first_line(answer["seen"]))
    if "abort_s" in answer:
        timeline.mark(rank, "communicator aborted", seconds)
        launch.tell("exit", 20, [rank])
    elif not answer.get("ok", True):
        timeline.mark(rank, "command failed", seconds, first_line(answer["error"]))


def how_ended(code):
    return f"by {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"


def first_line(text, length=160):
    lines = [line for line in text.splitlines() if line.strip()]
    last = next((line for line in lines if "rror" in line), lines[0] if lines else "")
    return last[:length]


def write_stacks(launch, rank, seconds):
    """Everything that can be had about where a process is: Python, native, kernel. Returns the file."""
    process = launch.processes[rank]
    before = launch.log(rank).stat().st_size
    process.send_signal(signal.SIGUSR1)  # its Python stacks go to its log
    time.sleep(0.5)
    with open(launch.log(rank), "rb") as log:
        log.seek(before)
        python = log.read().decode(errors="replace")
    path = launch.directory / f"stacks-rank-{rank}-after-{seconds:.0f}-s.txt"
    path.write_text(f"rank {rank}, process {process.pid}, {seconds:.0f} s after the kill\n\n== Python\n{python}\n"
                    f"== native\n{native_stacks(process.pid)}\n== threads: name, state, where in the kernel\n"
                    f"{threads(process.pid)}\n== kernel stacks\n{kernel_stacks(process.pid)}")
    return path


def native_stacks(pid):
    for program in STACK_PROGRAMS:
        if shutil.which(program[0]):
            try:
                done = subprocess.run([*program, str(pid)], capture_output=True, text=True, timeout=STACK_SECONDS,
                                      check=False)
            except (subprocess.SubprocessError, OSError) as e:
                return f"{program[0]}: {e}\n"
            return f"{program[0]}:\n{done.stdout}{done.stderr}\n"
    return f"none: {', '.join(program[0] for program in STACK_PROGRAMS)} are not here\n"


def kernel_stacks(pid):
    text = ""
    for task in sorted(Path(f"/proc/{pid}/task").glob("*")):
        for name in ("syscall", "stack"):
            try:
                text += f"{task.name} {name}: {(task / name).read_text().strip()}\n"
            except OSError as e:
                text += f"{task.name} {name}: {e.strerror}\n"
    return text


def judge_contract(timeline, limit):
    """Whether each survivor's program saw the error, aborted and ended within the limit: problem or None."""
    problems = []
    for rank in timeline.marks:
        ended = timeline.seconds(rank, ENDED)
        if timeline.seconds(rank, "error raised in Python") is None:
            problems.append(f"rank {rank}: its program saw no error")
        elif timeline.seconds(rank, "communicator aborted") is None:
            problems.append(f"rank {rank}: the abort did not end")
        elif ended is None or ended > limit:
            problems.append(f"rank {rank}: did not end within {limit} s")
        elif timeline.marks[rank][ENDED][1] != how_ended(0):
            problems.append(f"rank {rank}: ended {timeline.marks[rank][ENDED][1]}")
    return "; ".join(problems) or None


def judge_ended(timeline, limit):
    """Whether all survivors ended within the limit, in whatever way: problem or None."""
    late = [f"rank {rank}: {'lives on' if ended is None else f'ended after {ended:.1f} s'}, limit {limit} s"
            for rank in timeline.marks if (ended := timeline.seconds(rank, ENDED)) is None or ended > limit]
    return "; ".join(late) or None


def judge_beside(trigon, sockets, limit, tolerance):
    """PyTorch decides when the processes end. Over Trigon they must know as soon as the contract says, and end no later
    than over NCCL's own sockets, or within the limit.

    Returns (problem or None, verdict). The verdict is None where sockets do not end either: there is nothing to
    compare.
    """
    late = [rank for rank in trigon.marks if (knows := trigon.knows(rank)) is None or knows > limit]
    if late:
        return f"no sign of the error within {limit} s on rank {', '.join(map(str, late))}", None
    ended, theirs = trigon.all_ended(), sockets.all_ended()
    if ended is not None and ended <= limit:
        return None, f"all ended after {ended:.1f} s, within {limit} s"
    if theirs is None:
        if ended is None:
            return None, None
        return None, f"all ended after {ended:.1f} s; over sockets they do not end"
    if ended is None or ended > theirs + tolerance:
        ours = "they live on" if ended is None else f"they ended after {ended:.1f} s"
        return f"the delay is Trigon's: {ours}, over sockets after {theirs:.1f} s", None
    return None, f"the delay is PyTorch's own: all ended after {ended:.1f} s, over sockets after {theirs:.1f} s"
