"""All-reduces by several variants in turns: how two ways of one build compare once both are warm."""

import statistics
from dataclasses import dataclass

from cluster import free_port

LOG = {"NCCL_DEBUG_SUBSYS": "INIT,NET,ENV"}


@dataclass(frozen=True)
class Sampling:
    """How sizes up to so many bytes are measured."""

    up_to: int
    rounds: int
    """Samples of each variant, in turns, in a pass."""
    iterations: int
    """All-reduces in a sample."""
    first: int
    """Unmeasured ones before the first sample: for sockets to find their buffer sizes, and for the JVM to compile."""
    between: int
    """Unmeasured ones before each other sample."""


SAMPLINGS = (
    Sampling(8192, rounds=7, iterations=60, first=5000, between=10),
    Sampling(131_072, rounds=9, iterations=40, first=1000, between=5),
    Sampling(2 << 20, rounds=7, iterations=20, first=300, between=3),
    Sampling(32 << 20, rounds=5, iterations=8, first=50, between=2),
    Sampling(256 << 20, rounds=7, iterations=2, first=3, between=2),
)


def sampling(size):
    return next(each for each in SAMPLINGS if size <= each.up_to)


def connected(launch):
    """Makes the communicator and checks an all-reduce; what both took, the median of the ranks."""
    answers = launch.ask("connect", 90, port=free_port()).values()
    launch.ask("check", 60, checks=[{"op": "all_reduce", "count": 1_048_573}])
    return {"init_s": statistics.median(a["init_s"] for a in answers),
            "first_s": statistics.median(a["first_s"] for a in answers)}


def take(launches, size, part, samples):
    """One pass: rounds over all variants, the first of all after a warm-up. A sample is the slowest rank's mean."""
    how = sampling(size)
    for turn in range(how.rounds):
        for name, launch in launches.items():
            answers = launch.ask("measure", 60, bytes=size, iterations=how.iterations,
                                 warmup=how.first if part + turn == 0 else how.between).values()
            samples[name].append(max(a["seconds"] for a in answers))
