"""One rank: a process that does what it is told, one JSON line per command, one JSON line per answer.

Commands come in on the standard input, answers go out on the file descriptor REPLIES_FD; the standard output is for
whoever likes to print. When a command takes too long, the stacks of all threads go to the standard error.
"""

import ctypes
import faulthandler
import json
import os
import signal
import sys
import threading
import time
import traceback
from datetime import timedelta

PR_SET_PDEATHSIG = 1
# the kernel ends this process when the driver ends, however that happens; PyTorch takes seconds to load, so first of
# all
ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
faulthandler.register(signal.SIGUSR1, all_threads=True)

import torch
import torch.distributed as dist

import exercises


class Rank:
    """What the commands act on: this process's place, its device, its communicator."""

    def __init__(self):
        self.rank = int(os.environ["RANK"])
        self.ranks = int(os.environ["WORLD_SIZE"])
        self.cpu = os.environ["CHECK_BACKEND"] == "gloo"
        self.device = torch.device("cpu") if self.cpu else torch.device("cuda", 0)

    def warm(self):
        """Makes the CUDA context, so that connect's time is the communicator's alone."""
        if not self.cpu:
            torch.cuda.set_device(self.device)
            torch.ones(1, device=self.device)
            torch.cuda.synchronize()
        return {}

    def connect(self, port, eager=True, limit=60):
        """Makes the default communicator and uses it once."""
        start = time.perf_counter()
        host = os.environ["MASTER_ADDR"]
        dist.init_process_group(
            os.environ["CHECK_BACKEND"],
            init_method=f"tcp://{host}:{port}",
            rank=self.rank,
            world_size=self.ranks,
            timeout=timedelta(seconds=limit),
            device_id=self.device if eager and not self.cpu else None,
        )
        made = time.perf_counter()
        one = torch.ones(1, device=self.device)
        dist.all_reduce(one)
        if one.item() != self.ranks:
            raise AssertionError(f"the first all-reduce gave {one.item()} instead of {self.ranks}")
        return {"init_s": made - start, "first_s": time.perf_counter() - made}

    def disconnect(self):
        if dist.is_initialized():
            self.synchronize()
            dist.destroy_process_group()
        return {}

    def synchronize(self):
        if not self.cpu:
            torch.cuda.synchronize()

    def facts(self):
        """The machine as this process sees it."""
        facts = {"torch": torch.__version__, "python": sys.version.split()[0]}
        if not self.cpu:
            facts["gpu"] = torch.cuda.get_device_name(self.device)
            facts["nccl"] = ".".join(map(str, torch.cuda.nccl.version()))
            facts["cuda"] = torch.version.cuda
        return facts

    def resources(self):
        """Memory and threads of this process, from /proc."""
        fields = {}
        with open("/proc/self/status", encoding="ascii", errors="replace") as status:
            for line in status:
                key, _, value = line.partition(":")
                if key in ("VmRSS", "VmHWM", "Threads"):
                    fields[key] = int(value.split()[0])
        return {"rss_mib": fields["VmRSS"] / 1024, "peak_rss_mib": fields["VmHWM"] / 1024,
                "threads": fields["Threads"]}


def actions(rank):
    found = {name: getattr(rank, name) for name in ("warm", "connect", "disconnect", "facts", "resources")}
    for name, function in vars(exercises).items():
        if getattr(function, "is_exercise", False):
            found[name] = lambda function=function, **arguments: function(rank, **arguments)
    return found


def error_text(error):
    return f"{type(error).__name__}: {error}"


def main():
    replies = os.fdopen(int(os.environ["REPLIES_FD"]), "w", buffering=1)
    lock = threading.Lock()

    def reply(answer):
        with lock:
            replies.write(json.dumps(answer) + "\n")

    rank = Rank()
    rank.notify = lambda **said: reply({"notice": True, **said})
    known = actions(rank)
    reply({"pid": os.getpid()})
    for line in sys.stdin:
        command = json.loads(line)
        name, within = command.pop("do"), command.pop("within")
        if name == "exit":
            reply({"ok": True})
            return
        faulthandler.dump_traceback_later(max(1, within - 2), exit=False)
        try:
            answer = {"ok": True, **known[name](**command)}
        except BaseException as error:  # whatever it is, the driver must hear of it
            traceback.print_exc()
            answer = {"ok": False, "error": error_text(error)}
        faulthandler.cancel_dump_traceback_later()
        reply(answer)


if __name__ == "__main__":
    main()
