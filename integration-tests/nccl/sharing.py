"""Several nodes on one GPU: NVIDIA's Multi-Process Service lets their kernels run side by side, where it is there.

Without it the GPU's processes take turns of milliseconds. NCCL's kernels wait for each other over the network, so every
step of a collective then waits for a turn: right, but slow, and no measure of any transport.
"""

import os
import shutil
import subprocess
import tempfile

CONTROL = "nvidia-cuda-mps-control"
COMMAND_SECONDS = 30


class Turns:
    """One node per GPU, or nodes that take turns."""

    environment = {}

    def __init__(self, nodes, gpus, why=""):
        self.nodes, self.gpus, self.why = nodes, gpus, why

    def describe(self):
        if self.nodes <= self.gpus:
            return "a GPU for each"
        return f"{self.nodes} nodes take turns on {self.gpus} GPUs ({self.why}): times mean nothing"

    def close(self):
        pass


class Together:
    """A service of our own, with a folder of its own: another one on this machine is left alone."""

    def __init__(self, nodes, gpus):
        self.nodes, self.gpus = nodes, gpus
        self.directory = tempfile.mkdtemp(prefix="trigon-mps.")
        self.environment = {"CUDA_MPS_PIPE_DIRECTORY": self.directory, "CUDA_MPS_LOG_DIRECTORY": self.directory}
        try:
            self._control(["-d"])
        except BaseException:
            shutil.rmtree(self.directory, ignore_errors=True)
            raise

    def _control(self, arguments, text=None):
        subprocess.run([CONTROL, *arguments], input=text or "", env={**os.environ, **self.environment}, text=True,
                       timeout=COMMAND_SECONDS, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def describe(self):
        return f"{self.nodes} nodes share {self.gpus} GPUs by {CONTROL}"

    def close(self):
        try:
            self._control([], "quit -t 5\n")
        except (OSError, subprocess.SubprocessError) as e:
            print(f"{CONTROL} did not end: {e}", flush=True)
        shutil.rmtree(self.directory, ignore_errors=True)


def open_sharing(nodes, gpus, part):
    """What lets so many nodes run on so many GPUs in this part.

    Not where ranks are killed: the service's clients share a context, and one that dies may take others along.
    """
    if nodes <= gpus:
        return Turns(nodes, gpus)
    if part in ("faults", "restarts"):
        return Turns(nodes, gpus, "a rank is killed, which the service would not confine")
    if not shutil.which(CONTROL):
        return Turns(nodes, gpus, f"no {CONTROL}")
    try:
        return Together(nodes, gpus)
    except (OSError, subprocess.SubprocessError) as e:
        return Turns(nodes, gpus, f"{CONTROL} failed: {getattr(e, 'stderr', None) or e}")
