"""Puts the lab's outputs into one JSON object: the best latency of all rounds, the median bandwidth of the rounds."""

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


trigon = [json.loads(file.read_text()) for file in sorted(folder.glob("*-trigon.json"))]
print(
    json.dumps(
        {
            "benchmark": "lab",
            "rounds": len(trigon),
            "load": round(os.getloadavg()[0], 2),
            "latency": {
                "bytes": 8,
                "trigon_us": min(each["latency"]["min_us"] for each in trigon),
                "ib_write_lat_us": min(perftest("lat", 8, 2)),
                "trigon_median_us": statistics.median(each["latency"]["median_us"] for each in trigon),
                "ib_write_lat_typical_us": statistics.median(perftest("lat", 8, 4)),
            },
            "bandwidth": [
                {
                    "bytes": size,
                    "trigon_mb_per_second": statistics.median(each["bandwidth"][i]["mb_per_second"] for each in trigon),
                    "ib_write_bw_mb_per_second": statistics.median(perftest(f"bw-{size}", size, 3)),
                }
                for i, size in enumerate((65536, 1 << 20))
            ],
        },
        indent=1,
    )
)
