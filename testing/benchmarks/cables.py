"""Messages between nodes in network namespaces, over cables that are limited to a rate. Needs root."""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "integration-tests/walk"))
from nodes import Nodes  # noqa: E402

HOME = HERE.parents[1] / "dist/target/trigon"
PLUGIN = HOME / "lib/libnccl-net-trigon.so"
PING_PONG = HERE / "target/native/net-ping-pong"
LONG = 1 << 20
MESSAGE_SECONDS = 300
CARRIER_SECONDS = 5


def rates(text):
    """What tc limits two cables to, in Mbit/s."""
    if not re.fullmatch("[1-9][0-9]*:[1-9][0-9]*", text):
        raise argparse.ArgumentTypeError(f"{text} is not two rates in Mbit/s, such as 400:200")
    return text


def rounds(text):
    if not re.fullmatch("[1-9][0-9]*", text):
        raise argparse.ArgumentTypeError(f"{text} is not a number of rounds")
    return int(text)


def arguments(benchmark, usual, *flags):
    """Of the command line: RESULTS [ROUNDS] [MBIT:MBIT...], and flags."""
    parser = argparse.ArgumentParser(prog=f"trigon benchmarks {benchmark}")
    for flag, values in flags:
        parser.add_argument(flag, choices=values, default=values[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("rounds", type=rounds, nargs="?", default=3)
    parser.add_argument("pairs", type=rates, nargs="*", default=usual, metavar="MBIT:MBIT")
    options = parser.parse_args()
    for tool in "ip", "tc":
        shutil.which(tool) or parser.error(f"no {tool}; install iproute2")
    if os.geteuid() != 0:
        parser.error("needs root, for network namespaces and tc")
    return options


@contextmanager
def cabled(names, *cables):
    """Nodes with these cables, as Nodes.cable takes them, and a folder; both go at the end."""
    with tempfile.TemporaryDirectory(prefix="trigon-cables-") as folder:
        nodes = Nodes(folder, names)
        try:
            for cable in cables:
                nodes.cable(*cable)
                for end in cable[:2]:
                    await_carrier(nodes, *end.split(":"))
            yield nodes, Path(folder)
        finally:
            nodes.close()


def await_carrier(nodes, node, interface):
    """The kernel says a little later that there is one."""
    end = time.monotonic() + CARRIER_SECONDS
    while "state UP" not in subprocess.check_output(nodes.on(node, "ip", "link", "show", interface), text=True):
        if time.monotonic() > end:
            sys.exit(f"{interface} of {node} does not come up")
        time.sleep(0.1)


def limit(nodes, node, interface, mbit):
    tc(nodes, node, interface, "root", "handle", "1:", "tbf", "rate", f"{mbit}mbit", "burst", "256kb", "latency",
       "20ms")


def tc(nodes, node, interface, *queue):
    """Replaces a queue of an interface."""
    subprocess.run(nodes.on(node, "tc", "qdisc", "replace", "dev", interface, *queue), check=True)


def start(nodes, node, environment, *command, **streams):
    """A process on a node, which is called so in the settings."""
    return subprocess.Popen(nodes.on(node, *command), stdin=subprocess.DEVNULL, text=True,
                            env={"NCCL_DEBUG": "WARN", **os.environ, **environment, "TRIGON_NODE": node}, **streams)


def ping_pong(nodes, folder, ends, messages, environment):
    """What net-ping-pong measures between two nodes, of which the second one answers."""
    meeting = folder / "rendezvous"
    shutil.rmtree(meeting, ignore_errors=True)
    processes = [start(nodes, node, environment, PING_PONG, PLUGIN, rank, meeting, 1, messages,
                       stdout=subprocess.DEVNULL if rank else subprocess.PIPE)
                 for rank, node in enumerate(ends)]
    try:
        said, _ = processes[0].communicate(timeout=MESSAGE_SECONDS)
        if any([process.wait(timeout=MESSAGE_SECONDS) for process in processes]):
            sys.exit(f"net-ping-pong between {' and '.join(ends)} failed")
        return json.loads(said)["rounds"][0]
    finally:
        for process in processes:
            process.kill()
            process.wait()


def processor_seconds(pid):
    """Of a process and its descendants that live, so far."""
    seconds = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        if int(stat.parent.name) == pid:
            seconds += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        elif int(fields[1]) == pid:
            seconds += processor_seconds(int(stat.parent.name))
    return seconds


def mbit_per_second(run):
    """Payload in messages of 1 MiB, of a receiver that spins, and of one that sleeps."""
    return [each["mb_per_second"] * LONG * 8 / 1e6 for each in run["bandwidth"] if each["bytes"] == LONG]


def write(options, benchmark, results):
    options.results.mkdir(parents=True, exist_ok=True)
    file = options.results / f"{benchmark}.json"
    file.write_text(json.dumps({"benchmark": benchmark, "load": round(os.getloadavg()[0], 2), "results": results},
                               indent=1) + "\n")
    print(file)
