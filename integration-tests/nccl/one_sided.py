"""Kernels that put and signal (GIN), and from NCCL 2.30.7 on the host's calls, over Trigon's one-sided tables."""

import importlib.util
import json
import os
import shutil
import subprocess
import time
from pathlib import Path

from cluster import HERE, Launch, Setting, tail, trigon
from shapes import Shaped

COMPILE_SECONDS = 120
RUN_SECONDS = 150
MAX_BYTES = 2 << 20
# the kernels go through NCCL's proxy; without GPU-driven adapters, their headers are not needed
OPTIONS = ["-std=c++17", "-O2", "-DNCCL_GIN_GDAKI_ENABLE=0"]


class Kernels(Launch):
    """The ranks' processes, one program each, which talk by their standard output alone."""

    def __init__(self, setting, name, ranks, environment, program):
        self.own, self.id_file = program, None
        super().__init__(setting, name, ranks, environment)

    def program(self, rank):
        id_file = self.directory / "id"
        if rank == 0:
            id_file.unlink(missing_ok=True)
        return [str(self.own), str(rank), str(self.ranks), str(id_file), str(MAX_BYTES)]

    def said(self, rank):
        return [json.loads(line) for line in self.log(rank).read_text(errors="replace").splitlines()
                if line.startswith("{")]


def nccl_of_pytorch():
    found = importlib.util.find_spec("nvidia.nccl")
    return Path(list(found.submodule_search_locations)[0]) if found else None


def compiled(setting, nccl):
    """The program, or why there is none."""
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    if not os.access(nvcc, os.X_OK):
        return None, "no nvcc on the PATH"
    library = next(iter(sorted((nccl / "lib").glob("libnccl.so*"))), None)
    if library is None or not (nccl / "include" / "nccl_device.h").is_file():
        return None, f"{nccl} has no libnccl.so or no nccl_device.h"
    program = setting.out / "one-sided"
    done = subprocess.run(
        [nvcc, *OPTIONS, "-arch=native", "-I", nccl / "include", HERE / "one-sided.cu", "-o", program,
         "-Xlinker", library, "-Xlinker", f"-rpath={library.parent}"],
        capture_output=True, text=True, timeout=COMPILE_SECONDS, check=False)
    return (program, None) if done.returncode == 0 else (None, done.stderr[-2000:])


def one_sided(setting, report, ranks, out_of_time):
    name = "one-sided"
    nccl = setting.nccl or nccl_of_pytorch()
    if setting.dry_run or nccl is None:
        report.skips(name, "needs NCCL")
        return
    program, problem = compiled(setting, nccl)
    if program is None:
        report.fails(f"{name}: compile", problem)
        return
    environment = {**trigon(setting), "TRIGON_ONE_SIDED": "on", "NCCL_GIN_TYPE": "2"}
    for count in range(2, ranks + 1):
        if out_of_time():
            report.fails(f"{name}, {count} ranks", "not run: the part's time was over")
            continue
        run(setting, report, f"{name}, {count} ranks", count, environment, program)
    if setting.network.kind == "namespaces" and ranks > 2 and not out_of_time():
        relayed(setting, report, f"{name}, {ranks} ranks on a line", ranks, environment, program)


def relayed(setting, report, name, ranks, environment, program):
    """The ends of a line of nodes have no cable to each other."""
    nodes = setting.network.nodes
    with Shaped(setting.network, ["".join(pair) for pair in zip(nodes, nodes[1:])]) as network:
        shaped = Setting(setting.distribution, network, setting.out, False, setting.sharing, setting.settings)
        run(shaped, report, name, ranks, environment, program)


def run(setting, report, name, count, environment, program):
    with Kernels(setting, name, count, environment, program) as launch:
        problem = launch.await_end(RUN_SECONDS)
        for rank in range(count):
            for line in launch.said(rank):
                if line["wrong"]:
                    problem = f"{problem or ''}\nrank {rank}: {json.dumps(line)}"
        for line in launch.said(0):
            report.say(f"{name}: " + json.dumps(line))
        log = launch.nccl_log(0).read_text(errors="replace") if launch.nccl_log(0).exists() else ""
        if problem is None and "is connected to all others" not in log:
            problem = "the log does not say that one-sided communication goes through Trigon\n" + tail(
                launch.nccl_log(0))
        report.judge(name, problem, f"{len(launch.said(0)) - 1} tests")
