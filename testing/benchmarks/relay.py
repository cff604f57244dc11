#!/usr/bin/env python3
"""The line a-b-c with a relay on b: what goes from a to c through it, beside each hop alone, what b's own traffic keeps
of its cable while a and c flood the relay, and how connections share it. With more relays in the line, the first two
alone. With the medians of all rounds."""

import contextlib
import os
import re
import statistics
import subprocess
import sys
import time

from cables import (HOME, MESSAGE_SECONDS, PLUGIN, arguments, cabled, limit, mbit_per_second, ping_pong,
                    processor_seconds, start, tc, write)
from simulated import Simulated

GOALS = {1: "at least 0.95", 3: "at least 0.90", 7: "at least 0.85"}
CONNECTIONS = 24
MESSAGES = 2000
BEGIN_SECONDS = 120
SETTINGS = """\
version: 1
links: LINKS
handshake: {timeout: 60s, peerTimeout: 60s}
nodes:
"""


def line_of(relays):
    """Its nodes, and the cable from each to the next."""
    names = ["a", "b", *(f"b{i}" for i in range(2, relays + 1)), "c"]
    return names, [(f"{one}:right", f"{other}:left", f"10.79.{i}.1/24", f"10.79.{i}.2/24")
                   for i, (one, other) in enumerate(zip(names, names[1:]), 1)]


class Line:
    """The nodes with their settings."""

    def __init__(self, nodes, folder, options):
        self.names, self.cables = line_of(int(options.relays))
        self.nodes = nodes
        self.folder = folder
        self.simulated = isinstance(nodes, Simulated)
        self.relay = None  # of b
        settings, key = folder / "trigon.yaml", folder / "key"
        settings.write_text(SETTINGS.replace("LINKS", "auto" if self.simulated else "software") + "".join(
            f"  {name}: {{nics: [{', '.join(f'{{address: {each}}}' for each in self.addresses(name))}]}}\n"
            for name in self.names))
        key.touch(0o600)
        key.write_text(os.urandom(32).hex())
        self.environment = {"TRIGON_CONFIG": str(settings), "TRIGON_CLUSTER_KEY_FILE": str(key),
                            "TRIGON_CIRCUITS_CARRIER": options.carrier,
                            **(nodes.environment if self.simulated else {})}

    def addresses(self, node):
        return [address for *ends, one, other in self.cables
                for end, address in zip(ends, (one, other)) if end.startswith(f"{node}:")]

    def limit(self, pair, queue):
        """The queue holds the packets that wait. "fifo" takes them as they come; "bands", the queue that a NIC has
        unless somebody gave it another one, takes a relay's last."""
        if self.simulated:
            return
        for ends, mbit in zip(self.cables, rates(pair, self.cables)):
            for node, interface in (end.split(":") for end in ends[:2]):
                limit(self.nodes, node, interface, mbit)
                if queue == "bands":
                    tc(self.nodes, node, interface, "parent", "1:1", "handle", "10:", "pfifo_fast")

    def queues(self):
        """A device has none that could be chosen."""
        return ["fifo"] if self.simulated or len(self.names) > 3 else ["fifo", "bands"]

    def measure(self, one, other):
        begin, used = time.monotonic(), processor_seconds(self.relay.pid)
        measured = ping_pong(self.nodes, self.folder, (one, other), MESSAGES, self.environment)
        measured["processors"] = (processor_seconds(self.relay.pid) - used) / (time.monotonic() - begin)
        return measured

    @contextlib.contextmanager
    def running(self, node, until, *command):
        """A process in the background, from when it has said a word until the end."""
        log = self.folder / f"{command[0].name}-{node}.log"
        with log.open("w") as output:
            process = start(self.nodes, node, self.environment, *command, stdout=output, stderr=subprocess.STDOUT)
        try:
            end = time.monotonic() + BEGIN_SECONDS
            while until not in log.read_text():
                if process.poll() is not None or time.monotonic() > end:
                    sys.exit(f"{command[0].name} on {node} has not begun: {log.read_text()[-1000:]}")
                time.sleep(0.1)
            yield process
        finally:
            process.kill()
            process.wait()

    def flooded(self):
        """The second hop, while a and c run all-reduces over four connections each way."""
        meeting, until = self.folder / f"flood-{time.monotonic_ns()}", self.folder / "until"
        until.unlink(missing_ok=True)
        (self.folder / "until.round").unlink(missing_ok=True)
        flood = (HOME / "libexec/nccl-host", "--plugin", PLUGIN, "--ranks", 2, "--rendezvous", meeting,
                 "--bytes", 16777216, "--iterations", 1000000, "--until", until, "--channels", 4, "--timeout", 120,
                 "--print-longer", 1, "--rank")
        with self.running("a", "", *flood, 0) as one, self.running("c", "all-reduce 0 took", *flood, 1) as other:
            measured = self.measure("b", "c")
            until.touch()
            if one.wait(BEGIN_SECONDS) or other.wait(BEGIN_SECONDS):
                sys.exit("the flood failed")
            return measured

    def shared(self, one, other):
        """What each of many connections has received at one end when the first is done; as many go the other way."""
        meeting = self.folder / f"shared-{time.monotonic_ns()}"
        command = (HOME / "libexec/nccl-host", "--plugin", PLUGIN, "--ranks", 2, "--rendezvous", meeting, "--test",
                   "exchange", "--channels", CONNECTIONS, "--bytes", 262144, "--iterations", 10, "--timeout", 120,
                   "--verbose", "--rank")
        with (self.running(one, "", *command, 0) as first,
              self.running(other, "received on each", *command, 1) as second):
            if first.wait(MESSAGE_SECONDS) or second.wait(MESSAGE_SECONDS):
                sys.exit(f"{CONNECTIONS} connections between {one} and {other} failed")
        seconds, counts = re.search("is done after (.*) s; bytes received on each:(.*)",
                                  (self.folder / f"nccl-host-{other}.log").read_text()).groups()
        received = [int(each) for each in counts.split()]
        return {"mbit_per_second": sum(received) * 8 / 1e6 / float(seconds),
                "jain": sum(received) ** 2 / (len(received) * sum(each ** 2 for each in received))}


def rates(pair, cables):
    """Of the first cable, and all others."""
    first, others = pair.split(":")
    return [first] + [others] * (len(cables) - 1)


def models(pair, cables):
    """What a simulated device does with time, for each cable."""
    return [f"model {one}-{other} 2us {mbit}M".replace(":", "/")
            for (one, other, *_), mbit in zip(cables, rates(pair, cables))]


def measure(line, pair, number):
    """All of one round, by name."""
    runs = {}
    for queue in line.queues():
        line.limit(pair, queue)
        if queue == "fifo":
            runs["first"] = line.measure("a", "b")
            runs["relayed"] = line.measure("a", "c")
        runs[f"second-{queue}"] = line.measure(line.names[-2], "c")
        if len(line.names) == 3:
            runs[f"flooded-{queue}"] = line.flooded()
            runs[f"shared-{queue}"] = line.shared("a", "c")
            runs[f"shared-hop-{queue}"] = line.shared("a", "b")
    speeds = ", ".join(f"{name} {max(mbit_per_second(run)):.1f}" for name, run in runs.items() if "bandwidth" in run)
    print(f"trigon benchmarks relay: {pair} Mbit/s, round {number}: {speeds} Mbit/s", file=sys.stderr)
    return runs


def ratios(line, pair, rounds):
    """The figures, and what they are held against."""
    results = []

    def speeds(name):
        return [max(mbit_per_second(runs[name])) for runs in rounds]

    def latencies(name, figure):
        return [runs[name]["latency"][figure] for runs in rounds]

    def ratio(text, unit, values, reference, goal):
        value, other = statistics.median(values), statistics.median(reference)
        results.append({"cables_mbit": pair, "what": text, "unit": unit, "median": value, "reference": other,
                        "ratio": value / other, "goal": goal, "runs": values, "reference_runs": reference})
        print(f"  {text:58} {value:8.1f} {unit}, {other:8.1f} alone: {value / other:.2f} ({goal})", file=sys.stderr)

    print(f"cables of {pair} Mbit/s:", file=sys.stderr)
    slower = min(speeds("first"), speeds("second-fifo"), key=statistics.median)
    relays = len(line.names) - 2
    ratio(f"1 MiB through {relays} relays, to the slower hop", "Mbit/s", speeds("relayed"), slower, GOALS[relays])
    if relays > 1:
        return results
    for figure in "min_us", "median_us":
        both = [sum(hops) for hops in zip(latencies("first", figure), latencies("second-fifo", figure))]
        ratio(f"8 B through the relay, to the sum of the hops, {figure[:-3]}", "us", latencies("relayed", figure),
              both, "at most 1.20")
    for queue in line.queues():
        ratio(f"the relay node's own, under a flood, queue: {queue}", "Mbit/s", speeds(f"flooded-{queue}"),
              speeds(f"second-{queue}"), "at least 0.50")
        ratio(f"processors of the relay under a flood, queue: {queue}", "", [runs[f"flooded-{queue}"]["processors"]
              for runs in rounds], [runs["relayed"]["processors"] for runs in rounds], "one connection")
        shares = [runs[f"shared-{queue}"] for runs in rounds]
        together = [each["mbit_per_second"] for each in shares]
        ratio(f"{CONNECTIONS} connections, all together, queue: {queue}", "Mbit/s", together, slower, "at least 0.95")
        ratio("the same, to as many over the first cable alone", "Mbit/s", together,
              [runs[f"shared-hop-{queue}"]["mbit_per_second"] for runs in rounds], "at least 0.95")
        ratio("Jain's index of them", "", [each["jain"] for each in shares], [1], "at least 0.95")
    return results


def main():
    options = arguments("relay", ["400:200"], ("--links", ["tcp", "simulated"]), ("--carrier", ["auto", "tcp"]),
                        ("--relays", [str(relays) for relays in GOALS]))
    names, cables = line_of(int(options.relays))
    results = []
    with cabled(" ".join(names), *cables) as (namespaces, folder):
        for pair in options.pairs:
            with contextlib.ExitStack() as stack:
                nodes = namespaces
                if options.links == "simulated":
                    nodes = stack.enter_context(contextlib.closing(
                        Simulated(namespaces, cables, HOME, models(pair, cables))))
                line = Line(nodes, folder, options)
                line.relay, *_ = [stack.enter_context(line.running(
                    node, "relays over", HOME / "bin/trigon", "relay")) for node in names[1:-1]]
                rounds = [measure(line, pair, number + 1) for number in range(options.rounds)]
                results += ratios(line, pair, rounds)
    write(options, "relay", results)


if __name__ == "__main__":
    main()
