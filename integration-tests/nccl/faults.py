"""What must end well although it goes wrong: aborts, killed ranks, a plugin that one rank does not find."""

import time

import timeline
from cluster import Launch, LaunchFailed, free_port, sockets, trigon
from session import Session
from timeline import first_line

SEEN_WITHIN_SECONDS = 30  # also for the abort and the end, where the program decides about them
DEFAULT_HANDLING_SECONDS = 100  # PyTorch's watchdog sleeps 60 s between its report and the end of the process
TOLERANCE_SECONDS = 10
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


def survivors_of(launch, limit):
    """One rank dies by SIGKILL in the middle of all-reduces; what the others do then."""
    launch.ask("warm", 60)
    launch.ask("connect", 90, port=free_port())
    launch.tell("flow", limit + 30, seconds=limit + 30)
    launch.require("flow", launch.collect(60))
    time.sleep(0.5)
    survivors = list(range(launch.ranks - 1))
    launch.processes[-1].kill()
    seen = timeline.watch(launch, survivors, time.monotonic(), limit, SEEN_WITHIN_SECONDS)
    seen.write(launch.setting.out / "timelines.json")
    return seen


def killed(setting, report, ranks):
    """The contract: the others' programs get an error, and can abort and end."""
    with Launch(setting, "killed rank, errors raised", ranks, {**trigon(setting), **RAISE}) as launch:
        seen = survivors_of(launch, SEEN_WITHIN_SECONDS)
        problem = timeline.judge_contract(seen, SEEN_WITHIN_SECONDS)
        report.judge(launch.name, with_evidence(problem, launch, seen), seen.text())


def with_evidence(problem, launch, seen):
    return f"{problem}{seen.text()}\n{launch.evidence([], list(seen.marks))}" if problem else None


def killed_by_default(setting, report, ranks):
    """With PyTorch's default error handling PyTorch ends the processes, when it likes: so the same run over sockets.

    Its watchdog reports the error, sleeps four times TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC (15 s), whether there is
    anything to dump or not, and throws then, which ends the process (ProcessGroupNCCL.cpp, Watchdog::runLoop).

    In an all-reduce a survivor may wait for another survivor alone, as one that is no neighbour of the killed rank does
    in any case. Over sockets it hears of the error when that one ends, a minute later. Over Trigon it must know as soon
    as the others: a rank that NCCL was told of a failure on gives up the communicator's other connections.
    """
    name = "killed rank, PyTorch's default error handling"
    seen = []
    with (Launch(setting, f"{name}, over Trigon", ranks, trigon(setting)) as first,
          Launch(setting, f"{name}, over sockets", ranks, sockets(1, 1)) as second):  # loads PyTorch meanwhile
        for launch in (first, second):
            seen.append(survivors_of(launch, DEFAULT_HANDLING_SECONDS))
            launch.kill()
        problem, verdict = timeline.judge_beside(*seen, SEEN_WITHIN_SECONDS, TOLERANCE_SECONDS)
        both = seen[0].text() + seen[1].text()
        if problem:
            report.fails(name, f"{problem}{both}\n{first.evidence([], list(seen[0].marks))}")
        elif verdict is None:
            report.skips(name,
                         f"no verdict: nobody ends within {DEFAULT_HANDLING_SECONDS} s, over sockets neither{both}")
        else:
            report.passes(name, verdict + both)


def killed_with_short_wait(setting, report, ranks):
    """The same without PyTorch's wait for other ranks' debugging files, which it makes even where none are written."""
    name = "killed rank, PyTorch's default error handling with its wait cut to 4 s"
    short = {"TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC": "1000"}  # the watchdog sleeps four times as long
    with Launch(setting, name, ranks, {**trigon(setting), **short}) as launch:
        seen = survivors_of(launch, SEEN_WITHIN_SECONDS)
        problem = timeline.judge_ended(seen, SEEN_WITHIN_SECONDS)
        report.judge(name, with_evidence(problem, launch, seen), seen.text())


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
             ("killed rank", lambda: killed(setting, report, ranks)),
             ("killed rank, short wait", lambda: killed_with_short_wait(setting, report, ranks)),
             ("plugin missing", lambda: missing(setting, report, ranks)),
             ("killed rank, default handling", lambda: killed_by_default(setting, report, ranks)))
    for name, step in steps:
        if out_of_time():
            report.fails(name, "not run: the part's time was over")
            continue
        try:
            step()
        except LaunchFailed as e:
            report.fails(name, str(e))
