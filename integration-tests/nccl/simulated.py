"""RDMA links on the cables: every interface is a device of the simulated libibverbs, and may fail as NICs do."""

import os
import re
from pathlib import Path

import network

TESTING = Path(__file__).resolve().parents[2] / "testing"
BUILT = TESTING / "nccl-host" / "target" / "native" / "simulated"
PARTS = ("smoke", "calls", "correctness", "faults", "restarts", "cuts", "shapes", "policies", "one-sided", "traces",
         "speed", "tune")
PORT = re.compile(r"^port (\w+)/(\w+): .* (\d+) bytes came in$", re.MULTILINE)


class Simulated(network.Namespaces):
    """The same nodes and cables; TCP goes over a cable as before, and RDMA through memory that all nodes share."""

    is_rdma = True

    def __init__(self, count, folder, ip="ip", cables=1, model=None):
        """folder: with libibverbs.so.1 and simverbs-ctl. model: latency and rate, as "2us 100G"; None: no time."""
        self.folder = folder.resolve()
        self.model = f"model *>* {model}" if model else None
        self.fabric = f"/dev/shm/trigon-fabric-{os.getpid()}"
        if not (self.folder / "libibverbs.so.1").is_file():
            raise network.NetworkUnavailable(f"no simulated device in {self.folder}: build the project where "
                                             "libibverbs-dev is, or name its folder with --device")
        name = self.folder / "libibverbs.so"  # under which NCCL's own transport looks for it; copies lose links
        if not name.exists():
            name.symlink_to("libibverbs.so.1")
        super().__init__(count, ip, cables)
        path = f"{Path(self.ip).parent}:{os.environ.get('PATH', '')}"  # fake-sysfs.sh asks ip, too
        libraries = ":".join(filter(None, (str(self.folder), os.environ.get("LD_LIBRARY_PATH"))))
        self.environment = {"PATH": path, "LD_LIBRARY_PATH": libraries, "SIMVERBS_FABRIC": self.fabric}
        if self.model:
            self.environment["SIMVERBS_RULES"] = self.model

    def devices(self, node, missing=()):
        return [network.interface(peer, cable)
                for peer in self.nodes if peer != node and tuple(sorted((node, peer))) not in missing
                for cable in range(self.cables_each)]

    def prefix(self, node, missing=()):
        devices = ",".join(f"{name}={name}" for name in self.devices(node, missing))
        return [*self.within(node), "env", f"SIMVERBS_NODE={node}", f"SIMVERBS_DEVICES={devices}",
                str(TESTING / "simulated-device" / "fake-sysfs.sh"), "simulated"]

    def yaml(self, nodes, missing=()):
        return network.yaml(10, nodes, self.cables_each, missing, rdma=True)

    def control(self, *command):
        return network.run(str(self.folder / "simverbs-ctl"), self.fabric, *command)

    def counters(self, node):
        """Bytes received and sent so far: by the node's interfaces, as the kernel counts them, and by their devices."""
        came = {(owner, name): int(count) for owner, name, count in PORT.findall(self.control("show"))}
        totals = super().counters(node)
        for peer in self.nodes:
            for cable in range(self.cables_each) if peer != node else ():
                name = network.interface(peer, cable)
                totals[name] += came.get((node, name), 0) + came.get((peer, network.interface(node, cable)), 0)
        return totals

    def faults(self, end, peer, cable):
        device, other = f"{end}/{network.interface(peer, cable)}", f"{peer}/{network.interface(end, cable)}"

        def rule(kind, text):
            return network.Fault(kind, text, lambda: self.control(text), self.mend)

        def command(what, bad, good):
            return network.Fault(f"{what} {bad}", f"{what} {device} {bad}",
                                 lambda: self.control(what, device, bad), lambda: self.control(what, device, good))

        return [*super().faults(end, peer, cable), command("port", "down", "up"), command("device", "fail", "return"),
                rule("cut one way", f"cut {device}>{other}"), rule("cut", f"cut {device}-{other}"),
                rule("queue pair error", f"qp {device} * error times 1"),
                rule("queue pair fatal", f"qp {device} * fatal times 1"),
                rule("late writes", f"hold {device}>{other} 1s times 1"),
                rule("break", f"break {device}>{other} executed 40 acked 20"),
                rule("loss", f"loss {device}>{other} 5%")]

    def mend(self):
        """Takes the faults away, and leaves the model of time."""
        self.control("mend")
        if self.model:
            self.control(self.model)

    def describe(self):
        time = f", {self.model.removeprefix('model *>* ')}" if self.model else ""
        return f"{super().describe()}; simulated RDMA devices on the cables{time}"

    def close(self):
        super().close()
        for path in (self.fabric, f"{self.fabric}.locks"):
            Path(path).unlink(missing_ok=True)
