"""The calls that NCCL itself makes to the plugin, beside those that the host program makes in its place.

Another plugin stands between NCCL and Trigon and writes the calls down (libexec/libnccl-net-traced.so). The file of
expected calls is the one that the host program is compared with; only how many messages there are and how long they
are is each program's own.
"""

import difflib
import re

import evidence
from cluster import HERE, Launch, free_port, trigon
from correctness import fixed

FIRST_WITH_V12 = (2, 30)
EXPECTED = HERE.parents[1] / "testing" / "nccl-host" / "expected"
COUNT = 2 << 20  # 8 MiB of float32: 16 steps of the protocol Simple, as the host program has them
OWN = re.compile(r" size=\d+| \*request=\w+| \(messages \d+ to \d+\)|, \d+ bytes")


def comparable(text):
    """The lines that must be equal: messages that differ in number and length only are one line."""
    lines = []
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        if line.startswith("progress"):
            line = OWN.sub("", line)
        if not lines or line != lines[-1]:
            lines.append(line)
    return lines


def differences(expected, made):
    """Both traces' lines that the other one lacks, or None."""
    return "\n".join(difflib.unified_diff(comparable(expected), comparable(made), "expected", "NCCL's", n=2,
                                          lineterm="")) or None


def calls(setting, report, ranks, _):
    """Two ranks, two communicators one after the other, as in the file: one connection each way."""
    name = "NCCL's calls"
    if setting.dry_run:
        report.skips(name, "gloo calls no plugin")
        return
    traced = setting.distribution / "libexec" / "libnccl-net-traced.so"
    if not traced.is_file():
        report.fails(name, f"no {traced}")
        return
    files = [setting.out / f"calls-of-rank-{rank}.txt" for rank in range(2)]
    environment = {**trigon(setting), **fixed("Tree", "Simple", 1), "NCCL_NET_PLUGIN": str(traced),
                   "TRACED_PLUGIN": setting.plugin(), "NCCL_SET_THREAD_NAME": "1"}
    per_rank = {rank: {"TRACED_FILE": str(file)} for rank, file in enumerate(files)}
    with Launch(setting, name, 2, environment, per_rank=per_rank) as launch:
        launch.ask("warm", 60)
        for _ in range(2):
            launch.ask("connect", 90, port=free_port())
            launch.ask("check", 60, checks=[{"op": "all_reduce", "count": COUNT}])
            launch.ask("disconnect", 60)
        problem = launch.stop()
        if problem:
            report.fails(name, problem)
            return
        log = launch.nccl_log(0).read_text(errors="replace")
        version = evidence.api_version(log)
    if not all(file.is_file() for file in files):
        report.fails(name, f"no calls were written; NCCL loaded the plugin as {version}")
        return
    # the traced library is loaded as v11, and NCCL calls it as it does the latest that it knows
    like = "v12" if evidence.nccl_version(log) >= FIRST_WITH_V12 else "v11"
    expected = (EXPECTED / f"{like}.txt").read_text().replace(f"ncclNetPlugin_{like}", "ncclNetPlugin_v11")
    for rank, file in enumerate(files):
        report.judge(f"{name}, rank {rank}, as by API {like}", differences(expected, file.read_text()),
                     f"equal to those of the host program, {len(comparable(expected))} lines")
