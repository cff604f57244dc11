"""Nodes whose interfaces are devices of the simulated libibverbs, too."""

import os
from pathlib import Path

FAKE_SYSFS = Path(__file__).resolve().parents[2] / "testing/simulated-device/fake-sysfs.sh"


class Simulated:
    """Those of cables, for programs that run by this. Closing removes what they share."""

    def __init__(self, nodes, cables, home, rules=()):
        """cables: two ends each, NODE:INTERFACE, and what else. home: the distribution. rules: of the device."""
        self.nodes = nodes
        self.interfaces = [end.split(":") for cable in cables for end in cable[:2]]
        self.fabric = f"/dev/shm/trigon-fabric-{os.getpid()}"
        self.environment = {"LD_LIBRARY_PATH": f"{home}/libexec/simulated", "SIMVERBS_FABRIC": self.fabric,
                            "SIMVERBS_RULES": "; ".join(rules)}

    def on(self, node, *command):
        """What runs a command on a node, and becomes it."""
        devices = ",".join(f"{interface}={interface}" for owner, interface in self.interfaces if owner == node)
        return self.nodes.on(node, "env", f"SIMVERBS_NODE={node}", f"SIMVERBS_DEVICES={devices}", FAKE_SYSFS,
                             "simulated", *command)

    def close(self):
        for path in self.fabric, f"{self.fabric}.locks":
            Path(path).unlink(missing_ok=True)
