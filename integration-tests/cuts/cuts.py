#!/usr/bin/env python3
"""Cuts cables under a running all-reduce: a random one, at a random moment, for a random time.

Nodes are network namespaces. Every element is checked. Needs root. The help of "./trigon cuts" has the options.
"""

import argparse
import math
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "walk"))
from nodes import Nodes  # noqa: E402
from simulated import Simulated  # noqa: E402

# which nodes each cable joins; NCCL's ring is the nodes in alphabetical order
SHAPES = {"pair": ("ab", "ab"), "triangle": ("ab", "ac", "bc"), "ring4": ("ab", "bc", "cd", "ad")}
BEGIN_SECONDS = 120  # and one more for each channel: ranks connect them one after the other
RETURN_SECONDS = 120
LOOK_SECONDS = 0.1
# a warning is there twice: NCCL's logger prints those of a thread without a rank itself
DOWN = r"^NET/Trigon : .*: path to .* down: "
UP = r"^NET/Trigon : .*: path to .* up again after "


class Failed(Exception):
    """What did not happen."""


def percentiles(what, numbers):
    """A line for numbers of milliseconds; none without some."""
    values = sorted(numbers)
    if values:
        p50, p99 = (values[max(1, math.ceil(len(values) * part)) - 1] for part in (0.5, 0.99))
        print(f"{what}: {len(values)}; ms p50 {p50:.0f}, p99 {p99:.0f}, max {values[-1]:.0f}")


def begin_seconds(options):
    return BEGIN_SECONDS + options.channels


class Job:
    """An all-reduce over the cables of a shape, one rank on each node, in a folder for its settings and logs."""

    def __init__(self, options, folder):
        home = options.home
        self.folder = Path(folder)
        self.cables = SHAPES[options.shape]
        self.devices = None
        self.ranks = []
        self.loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(options.busy)]
        self.nodes = Nodes(folder, " ".join(sorted(set("".join(self.cables)))))
        nics, ends = {node: [] for node in self.nodes.names}, []
        for number, (one, other) in enumerate(self.cables, start=1):
            self.nodes.cable(f"{one}:c{number}", f"{other}:c{number}",
                             f"10.77.{number}.1/24", f"10.77.{number}.2/24")
            ends.append((f"{one}:c{number}", f"{other}:c{number}"))
            nics[one].append(f"{{address: 10.77.{number}.1/24}}")
            nics[other].append(f"{{address: 10.77.{number}.2/24}}")
        if options.links == "simulated":
            self.devices = Simulated(self.nodes, ends, home)
        settings = self.folder / "trigon.yaml"
        settings.write_text(f"version: 1\nlinks: {'auto' if self.devices else 'software'}\nnodes:\n" + "".join(
            f"  {node}: {{nics: [{', '.join(own)}]}}\n" for node, own in nics.items()))
        key = self.folder / "key"
        key.touch(0o600)
        key.write_text(os.urandom(32).hex())
        (self.folder / "meet").mkdir()
        for rank, node in enumerate(self.nodes.names):
            with (self.folder / f"{node}.log").open("w") as log:
                self.ranks.append(subprocess.Popen(
                    (self.devices or self.nodes).on(
                        node, f"{home}/libexec/nccl-host", "--plugin", f"{home}/lib/libnccl-net-trigon.so",
                        "--rank", rank, "--ranks", len(self.nodes.names), "--rendezvous", self.folder / "meet",
                        "--bytes", 1048576, "--iterations", 100000000, "--until", self.folder / "until",
                        "--channels", options.channels, "--timeout", begin_seconds(options), "--print-longer", 1),
                    env=dict(os.environ, TRIGON_CONFIG=str(settings), TRIGON_NODE=node, TRIGON_LOG="info",
                             TRIGON_CLUSTER_KEY_FILE=str(key),
                             **(self.devices.environment if self.devices else {})),
                    stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT))

    def is_alive(self):
        return all(rank.poll() is None for rank in self.ranks)

    def said(self, pattern, node="*"):
        """What matches in the logs."""
        return [found for log in sorted(self.folder.glob(f"{node}.log"))
                for found in re.findall(pattern, log.read_text(errors="replace"), re.MULTILINE)]

    def has_returned(self):
        """Whether as many paths are back as were lost."""
        return 0 < len(self.said(DOWN)) == len(self.said(UP))

    def moved(self):
        """How many connections went on over another cable than the one before."""
        return sum(one != other for one, other in self.said(r"goes on over (\S+) .* instead of (\S+) "))

    def wait(self, seconds, arrived):
        """Until it has arrived, the job has ended, or so much time has passed. Returns whether it has arrived."""
        end = time.monotonic() + seconds
        while not arrived() and self.is_alive() and time.monotonic() < end:
            time.sleep(LOOK_SECONDS)
        return arrived()

    def set(self, number, state, silent):
        """Takes a cable, counted from 1, up or down."""
        ends = self.cables[number - 1]
        if not silent:
            self.nodes.ip(ends[0], f"link set c{number} {state}")
            return
        for node, other in zip(ends, (2, 1)):
            if state == "down":  # frames go to nobody, which needs no module of the kernel
                self.nodes.ip(node, f"neigh replace 10.77.{number}.{other} lladdr 02:00:00:00:00:01 dev c{number} "
                                    "nud permanent")
            else:
                self.nodes.ip(node, f"neigh del 10.77.{number}.{other} dev c{number}")

    def end(self):
        """Lets the ranks come to their end; returns whether every element was right on every rank."""
        (self.folder / "until").touch()
        return all([rank.wait() == 0 for rank in self.ranks])

    def close(self):
        for process in self.ranks + self.loops:
            process.kill()
            process.wait()
        if self.devices:
            self.devices.close()
        self.nodes.close()


def cut(job, choice, options):
    """Cuts and mends; returns when each cut was."""
    moments = []
    if not job.wait(begin_seconds(options), lambda: job.said("all-reduce 0 took", "a")):
        raise Failed(f"no all-reduce within {begin_seconds(options)} s")
    time.sleep(3)
    while len(moments) < options.cuts and job.is_alive():
        number, away = choice.randint(1, len(job.cables)), choice.uniform(0.2, 2.7)
        moments.append(time.time())
        with (job.folder / "cuts").open("a") as cuts:
            print(f"{moments[-1]:.3f} {number} {job.cables[number - 1]} {away * 1000:.0f}", file=cuts)
        job.set(number, "down", options.silent)
        time.sleep(away)
        if options.back and len(moments) == 1:  # a short cut may be over before it is noticed
            job.wait(RETURN_SECONDS, job.moved)
        job.set(number, "up", options.silent)
        if options.back and not job.wait(RETURN_SECONDS, job.has_returned) and job.is_alive():
            raise Failed(f"not all paths are back {RETURN_SECONDS} s after cut {len(moments)}")
        if options.back:  # connections return a little later than their paths
            job.wait(RETURN_SECONDS, lambda: job.said("returns to"))
        time.sleep(choice.uniform(1, 3))
    return moments


def report(job, shape, moments):
    """What the cuts did to the job. Of all-reduces, the longest that ended after each cut and before the next one."""
    percentiles("changes of paths", map(int, job.said(r"goes on over .* after (\d+) ms")))
    longest, before = [0.0] * len(moments), []
    for took, until in job.said(r" all-reduce \d+ took ([\d.]+) ms, until ([\d.]+)", "a"):
        last = sum(moment <= float(until) for moment in moments)
        if last:
            longest[last - 1] = max(longest[last - 1], float(took))
        else:
            before.append(float(took))
    percentiles("the longest all-reduce of each cut", longest)
    percentiles("all-reduces before the first cut", before)
    print(f"{job.moved()} of them to another cable{'' if shape == 'pair' else ', by relays'}")
    print(f"{len(job.said('returns to'))} returns to the better path")
    print("\n".join(job.said(r"^.* wrong$")))


def check(job, options):
    """The whole of it. Raises Failed."""
    moments = cut(job, random.Random(options.seed), options)
    right = job.end()
    report(job, options.shape, moments)
    if not right:
        raise Failed(f"a rank has failed after {len(moments)} cuts")
    if options.back and not job.has_returned():
        raise Failed("not all paths are back")
    if options.back and moments and not job.said("returns to"):
        raise Failed(f"nothing has returned to a cable after {len(moments)} cuts")
    print(f"{len(moments)} cuts of a {options.shape} survived, seed {options.seed}: "
          "every element was right on every rank.")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("home", help="the distribution's folder")
    parser.add_argument("--shape", choices=SHAPES, default="pair")
    parser.add_argument("--links", choices=["tcp", "simulated"], default="tcp")
    parser.add_argument("--channels", type=int, default=2)
    parser.add_argument("--busy", type=int, default=0)
    parser.add_argument("--cuts", type=int, default=20)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--silent", action="store_true")
    parser.add_argument("--return", dest="back", action="store_true")
    parser.add_argument("--logs")
    options = parser.parse_args()
    if os.geteuid() != 0:
        parser.error("needs root, for network namespaces")
    folder = tempfile.mkdtemp(prefix="trigon-cuts-")
    job = Job(options, folder)
    try:
        check(job, options)
    except Failed as failure:
        print("\n".join(job.said("^.*(?:WARN|error).*$")[-20:]), file=sys.stderr)
        sys.exit(f"cuts: FAILED: {failure}, seed {options.seed}")
    finally:
        job.close()
        if options.logs:
            shutil.copytree(folder, options.logs, ignore=shutil.ignore_patterns("key", "via", "meet"),
                            dirs_exist_ok=True)
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
