"""What must end well although it goes wrong: aborts, killed ranks, a plugin that one rank does not find."""

import time

from cluster import Launch, LaunchFailed, free_port, trigon
from session import Session

SEEN_WITHIN_SECONDS = 30
# errors are left to the program: PyTorch raises them, and does not end the process
RAISE = {"TORCH_NCCL_ASYNC_ERROR_HANDLING": "0", "TORCH_NCCL_BLOCKING_WAIT": "1"}


def aborts(setting, report, ranks):
    """The same processes go on with a new communicator after each abort."""
    if setting.dry_run:
        report.skips("abort", "gloo has no abort")
        return
    with Session(setting, report, "abort", ranks, {"TORCH_NCCL_ASYNC_ERROR_HANDLING": "0"}) as session:
        session.connect()
        for absent in (False, True):
            name = "abort with requests in flight" + (", one rank absent" if absent else "")
            answers = session.launch.ask("abort", 60, absent=absent)
            flying = [answer["in_flight"] for answer in answers.values()]
            report.judge(name, None if any(flying) else "nothing was in flight any more: the test proves nothing",
                         f"{flying} operations in flight, took "
                         + ", ".join(f"{a['abort_s']:.2f} s" for a in answers.values()))
            session.launch.ask("connect", 60, port=free_port())
            session.check([{"op": "all_reduce", "count": count} for count in (1, 1_048_573)], 60)


def killed(setting, report, ranks, raising):
    """One rank dies by SIGKILL in the middle of all-reduces; the others must hear of it."""
    name = "killed rank, " + ("errors raised" if raising else "PyTorch's default error handling")
    launch = Launch(setting, name, ranks, {**trigon(setting), **(RAISE if raising else {})})
    with launch:
        launch.ask("warm", 60)
        launch.ask("connect", 90, port=free_port())
        launch.tell("flow", 90, seconds=60)
        launch.require("flow", launch.collect(60))
        time.sleep(0.5)
        launch.processes[-1].kill()
        start = time.monotonic()
        survivors = list(range(ranks - 1))
        answers = launch.collect(SEEN_WITHIN_SECONDS, survivors, patient=True)
        took = time.monotonic() - start
        problems, said = [], []
        for rank, answer in answers.items():
            if answer.get("ok"):
                said.append(f"rank {rank}: '{first_line(answer['seen'])}'")
            elif answer.get("ended") and not raising:
                said.append(f"rank {rank}: {answer['error']}")
            else:
                problems.append(f"rank {rank}: {answer['error']}")
        if not problems and raising:
            problems += leaves(launch, survivors)
        silent = [rank for rank, answer in answers.items() if answer.get("silent")]
        problem = f"{'; '.join(problems)} ({took:.1f} s)\n{launch.evidence(silent, survivors)}" if problems else None
        report.judge(name, problem, f"all others knew after {took:.1f} s; " + "; ".join(said))


def leaves(launch, survivors):
    """Whether the survivors can end, as a program that gives up does."""
    launch.tell("exit", 20, survivors)
    launch.collect(20, survivors)
    deadline = time.monotonic() + 20
    problems = []
    for rank in survivors:
        while launch.processes[rank].poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        if launch.processes[rank].poll() is None:
            problems.append(f"rank {rank} does not end")
    return problems


def first_line(text, length=160):
    lines = [line for line in text.splitlines() if line.strip()]
    last = next((line for line in lines if "rror" in line), lines[0] if lines else "")
    return last[:length]


def missing(setting, report, ranks):
    """NCCL itself waits for ever for a rank that failed early; PyTorch's limit for making communicators ends that."""
    name = "plugin missing on one rank"
    if setting.dry_run:
        report.skips(name, "gloo loads no plugin")
        return
    limits = {"TORCH_NCCL_USE_COMM_NONBLOCKING": "1", "TORCH_NCCL_NONBLOCKING_TIMEOUT": "20"}
    absent = {ranks - 1: {"NCCL_NET_PLUGIN": "/nonexistent/libnccl-net-trigon.so"}}
    with Launch(setting, name, ranks, {**trigon(setting), **limits, **RAISE}, per_rank=absent) as launch:
        launch.ask("warm", 60)
        launch.tell("connect", 60, port=free_port(), limit=30)
        answers = launch.collect(60, patient=True)
        problems = [f"rank {r}: " + ("hangs" if a.get("silent") else "did not fail")
                    for r, a in answers.items() if a.get("silent") or a["ok"]]
        said = "; ".join(f"rank {r}: '{first_line(a['error'])}'" for r, a in sorted(answers.items()) if not a["ok"])
        log = launch.nccl_log(ranks - 1).read_text(errors="replace") if launch.nccl_log(ranks - 1).exists() else ""
        cause = next((line for line in log.splitlines() if "NET plugin" in line and "WARN" in line), None)
        if "Using network" in log:
            problems.append(f"rank {ranks - 1} took another network although NCCL_NET=Trigon")
        if problems:
            silent = [r for r, a in answers.items() if a.get("silent")]
            problems.append(launch.evidence(silent, range(ranks)))
        report.judge(name, "; ".join(problems) or None, said + (f"; its log: '{cause.strip()}'" if cause else ""))


def faults(setting, report, ranks, out_of_time):
    steps = (("abort", lambda: aborts(setting, report, ranks)),
             ("killed rank", lambda: killed(setting, report, ranks, True)),
             ("killed rank, default handling", lambda: killed(setting, report, ranks, False)),
             ("plugin missing", lambda: missing(setting, report, ranks)))
    for name, step in steps:
        if out_of_time():
            report.fails(name, "not run: the part's time was over")
            continue
        try:
            step()
        except LaunchFailed as e:
            report.fails(name, str(e))
