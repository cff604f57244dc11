"""A training that torchrun starts on one node, and starts again after a rank was killed.

usage: elastic.py FOLDER HOST:PORT NUMBER NODES ADDRESS BACKEND

HOST:PORT is where the nodes meet, which is on node number 0; ADDRESS is this node's own. By itself this is the node's
torchrun. torchrun's child is the node's rank: it writes what it did to FOLDER/node-NUMBER.jsonl. The first rank keeps
the checkpoints there.
"""

import ctypes
import json
import os
import signal
import sys
from pathlib import Path

PR_SET_PDEATHSIG = 1
ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # none of these outlives the one that started it

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset

STEPS, KILL_AT = int(os.environ["TRAINING_STEPS"]), int(os.environ["TRAINING_KILL_AT"])
CHECKPOINT_EVERY = 10
BATCH = 32
WORKERS = 2


class Numbers(Dataset):
    """Rows that depend on their index alone, so that a training that starts again sees what it would have seen."""

    def __init__(self, rank, first):
        self.rank, self.first = rank, first

    def __len__(self):
        return (STEPS - self.first) * BATCH

    def __getitem__(self, index):
        row = torch.randn(64, generator=torch.Generator().manual_seed(
            (self.rank * STEPS + self.first) * BATCH + index))
        return row, row[:8].sum().sin().reshape(1)


def be_torchrun(folder, rendezvous, number, nodes, address, backend):
    from torch.distributed.run import main

    main(["--nnodes", nodes, "--nproc-per-node", "1", "--max-restarts", "1", "--monitor-interval", "1",
          "--rdzv-backend", "c10d", "--rdzv-endpoint", rendezvous, "--rdzv-id", "restarts",
          "--rdzv-conf", f"is_host={int(number == '0')}", "--local-addr", address,
          __file__, folder, number, backend])


def bits(values):
    return [value.detach().cpu().view(torch.int32).long().sum().item() for value in values]


def train(folder, number, backend):
    rank = int(os.environ["RANK"])  # a node may have another one after a restart
    device = torch.device("cpu") if backend == "gloo" else torch.device("cuda", 0)
    torch.manual_seed(7)
    torch.use_deterministic_algorithms(True)
    dist.init_process_group(backend, device_id=None if backend == "gloo" else device)
    model = torch.nn.Sequential(torch.nn.Linear(64, 512), torch.nn.Tanh(), torch.nn.Linear(512, 1)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    checkpoint, first = folder / "checkpoint.pt", 0
    if checkpoint.exists():
        saved = torch.load(checkpoint, map_location=device)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        first = saved["step"]
    parallel = torch.nn.parallel.DistributedDataParallel(model, bucket_cap_mb=0.05)
    with open(folder / f"node-{number}.jsonl", "a", encoding="ascii", buffering=1) as said:
        said.write(json.dumps({"first": first, "rank": rank, "pid": os.getpid()}) + "\n")
        loader = DataLoader(Numbers(rank, first), BATCH, num_workers=WORKERS,
                            multiprocessing_context=os.environ["TRAINING_WORKERS"])
        for step, (rows, wanted) in enumerate(loader, first):
            if step == KILL_AT and first == 0 and rank == dist.get_world_size() - 1:
                said.write(json.dumps({"killed_at": step}) + "\n")
                os.kill(os.getpid(), signal.SIGKILL)
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(parallel(rows.to(device)), wanted.to(device)).backward()
            optimizer.step()
            if rank == 0 and (step + 1) % CHECKPOINT_EVERY == 0:
                state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step + 1}
                torch.save(state, folder / "checkpoint.new")
                os.replace(folder / "checkpoint.new", checkpoint)
        said.write(json.dumps({"ended_at": step + 1, "parameters": bits(model.parameters())}) + "\n")
    dist.destroy_process_group()


if __name__ == "__main__":
    if "TORCHELASTIC_RUN_ID" in os.environ:
        train(Path(sys.argv[1]), *sys.argv[2:])
    else:
        be_torchrun(*sys.argv[1:])
