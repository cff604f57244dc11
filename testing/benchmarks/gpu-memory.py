#!/usr/bin/env python3
"""What gpuMemory costs messages of host memory: auto beside off, in pairs of runs whose samples alternated."""

import json
import pathlib
import statistics
import sys

FIGURES = {"message_of_one": "message of {} B", "test_empty_of_one": "`test()` that finds nothing, {} B awaited"}


def medians(file):
    run = json.loads(file.read_text())
    trigon = next(plugin for plugin in run["plugins"] if plugin["path"].endswith("libnccl-net-trigon.so"))
    return {figure["question"]: figure["median"] for figure in trigon["results"] if figure["question"] in FIGURES}


def main():
    results = pathlib.Path(sys.argv[1])
    print("| what | off | auto | auto/off | in single pairs |\n|---|---:|---:|---:|---:|")
    for size in sys.argv[2:]:
        pairs = [(medians(off), medians(pathlib.Path(str(off).replace("-off-", "-auto-"))))
                 for off in sorted(results.glob(f"gpu-memory-off-{size}-*.json"))]
        for name, text in FIGURES.items():
            off, auto = (statistics.median(pair[use][name] for pair in pairs) for use in (0, 1))
            ratios = sorted(auto[name] / off[name] for off, auto in pairs)
            print(f"| {text.format(size)} | {off:.1f} ns | {auto:.1f} ns | {statistics.median(ratios):.2f} |"
                  f" {ratios[0]:.2f} to {ratios[-1]:.2f} |")


if __name__ == "__main__":
    main()
