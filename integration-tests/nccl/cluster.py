"""Starts the ranks of one launch, talks to them with deadlines, and says what went wrong where one is silent."""

import itertools
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
START_SECONDS = 90
STOP_SECONDS = 30
GRACE_SECONDS = 15  # how long the others may still take once one rank has failed
LOG_TAIL_LINES = 25
MIN_PROCESSORS = 4  # a node with fewer of its own would be no node

NO_MULTICAST = {"NCCL_NVLS_ENABLE": "0", "TORCH_SYMM_MEM_DISABLE_MULTICAST": "1", "NVSHMEM_DISABLE_NVLS": "1"}
# one GPU per node: nothing but the network may carry data
NETWORK_ONLY = {"NCCL_P2P_DISABLE": "1", "NCCL_SHM_DISABLE": "1", "NCCL_MNNVL_ENABLE": "0"}


class LaunchFailed(Exception):
    """A rank failed, ended or was silent; the message has the evidence."""


class Setting:
    """Where launches run: the distribution and its settings, the network, the GPUs, and where the logs go.

    nccl: a folder with include and lib, for programs that are not PyTorch's; None: PyTorch's own.
    policies: a folder with more of them, for the part policies; None: there are no more.
    fault: the only kind of fault of the part cuts; None: all.
    per_node: how many ranks, each with a GPU of its own, a node has.
    """

    def __init__(self, distribution, network, out, dry_run, sharing, settings=None, nccl=None, per_node=1,
                 policies=None, fault=None):
        self.distribution = distribution
        self.network = network
        self.out = out
        self.dry_run = dry_run
        self.sharing = sharing
        self.settings = settings or {}
        self.nccl = nccl
        self.policies = policies
        self.fault = fault
        self.per_node = per_node
        visible = os.environ.get("CUDA_VISIBLE_DEVICES", "")
        self.gpus = visible.split(",") if visible else [str(i) for i in range(sharing.gpus)]
        self.processors = sorted(os.sched_getaffinity(0))

    def gpu(self, rank):
        """The GPU of a rank; where there are more nodes than GPUs, they go round."""
        return self.gpus[rank % self.sharing.gpus]

    def nodes_of(self, ranks):
        """Each rank's node."""
        return [self.network.nodes[rank // self.per_node] for rank in range(ranks)]

    def processors_of(self, node):
        """A node's own share of the processors, neighbours in number; all of them where there are too few to divide."""
        each = len(self.processors) // len(self.network.nodes)
        first = self.network.nodes.index(node) * each
        return self.processors[first:first + each] if each >= MIN_PROCESSORS else self.processors

    def plugin(self):
        return f"{self.distribution}/lib/libnccl-net-trigon.so"


def trigon(setting):
    return {"NCCL_NET_PLUGIN": setting.plugin(), "NCCL_NET": "Trigon", "NCCL_NET_PLUGIN_REF_COUNT": "1"}


def sockets(threads, sockets_per_thread):
    """NCCL's own transport; no plugin is loaded."""
    return {"NCCL_NET_PLUGIN": "none", "NCCL_NET": "Socket", "NCCL_SOCKET_NTHREADS": str(threads),
            "NCCL_NSOCKS_PERTHREAD": str(sockets_per_thread)}


def infiniband():
    """NCCL's own transport over RDMA; no plugin is loaded.

    It copies through the host, as Trigon does. Without NCCL_GIN_TYPE, NCCL 2.28 ends where no NIC is Mellanox's.
    """
    return {"NCCL_NET_PLUGIN": "none", "NCCL_NET": "IB", "NCCL_GIN_TYPE": "0", "NCCL_NET_MERGE_LEVEL": "LOC",
            "NCCL_NET_GDR_LEVEL": "LOC", "NCCL_DMABUF_ENABLE": "0", "NCCL_GDR_FLUSH_DISABLE": "1"}


def contenders(setting, ranks):
    """Trigon with and without failover, and NCCL's own for these links: by name the environment, and each rank's own.

    For TCP that is sockets with three settings.
    """
    own = {"Trigon": (trigon(setting), None),
           "Trigon, no failover": ({**trigon(setting), "TRIGON_FAILOVER": "off"}, None)}
    if setting.network.is_rdma:
        return own | {"IB": (infiniband(), None)}
    nodes = setting.nodes_of(ranks)
    cables = {rank: {"NCCL_SOCKET_IFNAME": setting.network.cables(node, nodes)} for rank, node in enumerate(nodes)}
    return own | {f"Socket {threads}x{each}": (sockets(threads, each), cables)
                  for threads, each in ((1, 1), (2, 2), (4, 4))}


# Below the range from which the kernel takes ports for outgoing connections: NCCL and Trigon open many of these, and
# one of them could take a port between here and its use.
_PORTS = itertools.count(os.getpid() % 10000)


def free_port():
    """A TCP port for PyTorch's rendezvous, each time another one."""
    for number in itertools.islice(_PORTS, 10000):
        port = 20000 + number % 10000
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise RuntimeError("no TCP port from 20000 to 29999 is free")


class Launch:
    """The processes of one launch, one per rank. Started at once; every answer is waited for with a deadline."""

    def __init__(self, setting, name, ranks, environment, per_rank=None, configured=True):
        self.setting, self.name, self.ranks = setting, name, ranks
        self.directory = setting.out / "logs" / re.sub(r"[^\w.]+", "-", name)
        self.directory.mkdir(parents=True, exist_ok=True)
        self.processes, self.pipes, self.buffers, self.ready = [], [], [b""] * ranks, False
        self.nodes = setting.nodes_of(ranks)
        self.config = self.directory / "trigon.yaml"
        self.config.write_text(setting.network.yaml(list(dict.fromkeys(self.nodes))))
        self.key = None
        if getattr(setting.network, "missing", None):  # ways over two relays take a key
            self.key = self.directory / "cluster.key"
            self.key.touch(mode=0o600)
            self.key.write_text(os.urandom(32).hex())
        for rank in range(ranks):
            extra = {**environment, **(per_rank or {}).get(rank, {})}
            self._start(rank, extra, configured)

    def _environment(self, rank, extra, configured):
        network = self.setting.network
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("NCCL_", "TRIGON_", "TORCH_NCCL_"))}
        environment = {
            **kept, **NETWORK_ONLY, **self.setting.sharing.environment, **network.environment,
            "RANK": str(rank), "WORLD_SIZE": str(self.ranks), "MASTER_ADDR": network.rendezvous_host,
            "CHECK_BACKEND": "gloo" if self.setting.dry_run else "nccl",
            "CUDA_VISIBLE_DEVICES": "" if self.setting.dry_run else self.setting.gpu(rank),
            "NCCL_HOSTID": f"trigon-node-{self.nodes[rank]}",
            "NCCL_SOCKET_IFNAME": network.bootstrap_interface,
            "GLOO_SOCKET_IFNAME": network.bootstrap_interface,
            "NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "INIT,NET,ENV,TUNING",
            "NCCL_DEBUG_FILE": str(self.nccl_log(rank)),
            "OMP_NUM_THREADS": "2", "PYTHONUNBUFFERED": "1", "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
            "TORCH_NCCL_DUMP_ON_TIMEOUT": "0",
            **extra, **NO_MULTICAST,
        }
        if configured:
            environment |= {"TRIGON_CONFIG": str(self.config), "TRIGON_NODE": self.nodes[rank], **self.setting.settings}
            if self.key:
                environment["TRIGON_CLUSTER_KEY_FILE"] = str(self.key)
        return environment

    def _start(self, rank, extra, configured):
        read_end, write_end = os.pipe()
        environment = {**self._environment(rank, extra, configured), "REPLIES_FD": str(write_end)}
        command = [*self.setting.network.prefix(self.nodes[rank]), *self.program(rank)]
        processors = self.setting.processors_of(self.nodes[rank])
        with open(self.log(rank), "wb") as log:
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=log, stderr=subprocess.STDOUT,
                                       env=environment, pass_fds=[write_end], cwd=self.directory,
                                       preexec_fn=lambda: os.sched_setaffinity(0, processors))
        os.close(write_end)
        self.processes.append(process)
        self.pipes.append(read_end)

    def program(self, rank):
        return [sys.executable, str(HERE / "worker.py")]

    def log(self, rank):
        return self.directory / f"rank-{rank}.log"

    def nccl_log(self, rank):
        return self.directory / f"nccl-rank-{rank}.log"

    def tell(self, do, within, ranks=None, **arguments):
        """Sends a command; collect gets the answers. within: seconds after which a rank prints its stacks."""
        line = json.dumps({"do": do, "within": within, **arguments}).encode() + b"\n"
        for rank in range(self.ranks) if ranks is None else ranks:
            try:
                self.processes[rank].stdin.write(line)
                self.processes[rank].stdin.flush()
            except OSError:
                pass  # it ended; collect says so

    def collect(self, within, ranks=None, patient=False):
        """One answer per rank: what it sent, or {"ok": False} with ended or silent. Never raises.

        Once one rank has failed, the others get only a little more time, unless patient.
        """
        waiting = set(range(self.ranks) if ranks is None else ranks)
        answers, deadline = {}, time.monotonic() + within
        while waiting:
            for rank in list(waiting):
                line, newline, rest = self.buffers[rank].partition(b"\n")
                if newline:
                    self.buffers[rank] = rest
                    answers[rank] = json.loads(line)
                    waiting.discard(rank)
            if any(not answer.get("ok", True) for answer in answers.values()) and not patient:
                deadline = min(deadline, time.monotonic() + GRACE_SECONDS)
                patient = True
            if not waiting:
                break
            left = deadline - time.monotonic()
            readable = select.select([self.pipes[r] for r in waiting], [], [], max(0, left))[0] if left > 0 else []
            if not readable:
                for rank in waiting:
                    answers[rank] = {"ok": False, "silent": True, "error": "gave no answer in time"}
                break
            for rank in [r for r in waiting if self.pipes[r] in readable]:
                data = os.read(self.pipes[rank], 1 << 16)
                self.buffers[rank] += data
                if not data:
                    waiting.discard(rank)
                    answers[rank] = {"ok": False, "ended": True, "error": f"ended, {self._exit(rank)}"}
        return answers

    def received(self, rank, data):
        """Takes what came from a rank's pipe and returns the whole answers, those of before included."""
        *lines, self.buffers[rank] = (self.buffers[rank] + data).split(b"\n")
        return [json.loads(line) for line in lines]

    def _exit(self, rank):
        try:
            code = self.processes[rank].wait(10)
        except subprocess.TimeoutExpired:
            return "but its process lives on"
        return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"

    def ask(self, do, within=60, ranks=None, **arguments):
        """Sends a command and returns every rank's answer; raises LaunchFailed unless all are good."""
        self.await_ready()
        self.tell(do, within, ranks, **arguments)
        answers = self.collect(within, ranks)
        self.require(do, answers)
        return answers

    def await_ready(self):
        if not self.ready:
            self.require("start", self.collect(START_SECONDS))
            self.ready = True

    def require(self, do, answers):
        if all(answer.get("ok", True) for answer in answers.values()):
            return
        bad = {rank: answer["error"] for rank, answer in answers.items() if not answer.get("ok", True)}
        silent = [rank for rank, answer in answers.items() if answer.get("silent")]
        text = f"{self.name}: '{do}' failed\n" + "".join(f"  rank {r}: {e}\n" for r, e in sorted(bad.items()))
        raise LaunchFailed(text + self.evidence(silent, sorted(bad)))

    def evidence(self, silent, ranks):
        """Threads and stacks of the silent ranks, and the ends of the logs of all the given ones."""
        for rank in silent:
            if self.processes[rank].poll() is None:
                self.processes[rank].send_signal(signal.SIGUSR1)
        if silent:
            time.sleep(1)  # for the stacks to be written
        text = "".join(f"-- rank {r}: threads\n{threads(self.processes[r].pid)}" for r in silent)
        for rank in ranks:
            for path in (self.log(rank), self.nccl_log(rank)):
                text += f"-- rank {rank}: the end of {path}\n{tail(path)}"
        return text

    def stop(self):
        """Ends all ranks; returns what was wrong with how they ended, or None."""
        problem = None
        if all(process.poll() is None for process in self.processes):
            self.tell("exit", STOP_SECONDS)
            self.collect(STOP_SECONDS)
            deadline = time.monotonic() + STOP_SECONDS
            for rank, process in enumerate(self.processes):
                try:
                    code = process.wait(max(0.1, deadline - time.monotonic()))
                    if code and not problem:
                        problem = f"rank {rank} ended with {code}\n{self.evidence([], [rank])}"
                except subprocess.TimeoutExpired:
                    problem = problem or f"rank {rank} does not end\n{self.evidence([rank], [rank])}"
        self.kill()
        return problem

    def await_end(self, seconds):
        """What is wrong with how ranks end that need not be told to, or None."""
        deadline = time.monotonic() + seconds
        for rank, process in enumerate(self.processes):
            try:
                process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                return f"rank {rank} does not end within {seconds} s\n{self.evidence([], range(self.ranks))}"
        bad = [rank for rank, process in enumerate(self.processes) if process.returncode != 0]
        return f"ranks {bad} failed\n{self.evidence([], bad)}" if bad else None

    def kill(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            if process.stdin:
                try:
                    process.stdin.close()
                except OSError:
                    pass
        for process in self.processes:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                print(f"process {process.pid} of {self.name} cannot be killed", flush=True)
        for pipe in self.pipes:
            os.close(pipe)
        self.pipes = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.pipes:
            self.kill()


def threads(pid):
    """Names, states and kernel wait places of a process's threads."""
    lines = []
    for task in sorted(Path(f"/proc/{pid}/task").glob("*")):
        try:
            state = (task / "stat").read_text().rsplit(")", 1)[1].split()[0]
            lines.append(f"  {task.name} {(task / 'comm').read_text().strip()}: {state} {read(task / 'wchan')}\n")
        except OSError:
            continue
    return "".join(lines)


def read(path):
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def tail(path, lines=LOG_TAIL_LINES):
    try:
        text = path.read_text(errors="replace").splitlines()[-lines:]
    except OSError:
        return "  (no such file)\n"
    return "".join(f"  | {line}\n" for line in text)
