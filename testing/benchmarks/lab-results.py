"""Puts the lab's outputs into one JSON object: of all rounds the best latency, and of the bandwidth best and median."""

import json
import os
import pathlib
import statistics
import sys

folder = pathlib.Path(sys.argv[1])


def perftest(name: str, size: int, column: int) -> list[float]:
    """One figure of each round: perftest's result is the line that begins with the size."""
    values = []
    for file in sorted(folder.glob(f"*-{name}.txt")):
        rows = [line.split() for line in file.read_text().splitlines()]
        values.append(next(float(row[column]) for row in rows if row and row[0] == str(size)))
    if not values:
        raise SystemExit(f"{folder} has no output of perftest's for {name}")
    return values


def both(what: str, values: list[float]) -> dict[str, float]:
    """Best and median of a bandwidth."""
    return {f"{what}_mb_per_second": statistics.median(values), f"{what}_best_mb_per_second": max(values)}


def trigon(size: int, receiver_sleeps: bool) -> list[float]:
    """One figure of each round of net-ping-pong."""
    return [
        each["mb_per_second"]
        for one in rounds
        for each in one["bandwidth"]
        if each["bytes"] == size and each["receiver_sleeps"] == receiver_sleeps
    ]


rounds = json.loads((folder / "trigon.json").read_text())["rounds"]
print(
    json.dumps(
        {
            "benchmark": "lab",
            "rounds": len(rounds),
            "load": round(os.getloadavg()[0], 2),
            "latency": {
                "bytes": 8,
                "trigon_us": min(each["latency"]["min_us"] for each in rounds),
                "ib_write_lat_us": min(perftest("lat", 8, 2)),
                "trigon_median_us": statistics.median(each["latency"]["median_us"] for each in rounds),
                "ib_write_lat_typical_us": statistics.median(perftest("lat", 8, 4)),
            },
            "bandwidth": [
                {
                    "bytes": size,
                    **both("trigon", trigon(size, False)),
                    **both("trigon_asleep", trigon(size, True)),
                    **both("ib_write_bw", perftest(f"bw-{size}", size, 3)),
                }
                for size in (65536, 1 << 20)
            ],
        },
        indent=1,
    )
)
