#!/usr/bin/env python3
"""What gpuMemory costs messages of host memory: auto beside off, in pairs of runs whose samples alternated."""

import json
import pathlib
import sys

FIGURES = {"message_of_one": "message", "test_empty_of_one": "`test()` that finds nothing"}


def medians(file):
    run = json.loads(file.read_text())
    trigon = next(plugin for plugin in run["plugins"] if plugin["path"].endswith("libnccl-net-trigon.so"))
    return {figure["question"]: figure["median"] for figure in trigon["results"] if figure["question"] in FIGURES}


def main():
    results = pathlib.Path(sys.argv[1])
    print("| figure | off | auto | ratio |\n|---|---:|---:|---:|")
    for size in sys.argv[2:]:
        off, auto = (medians(results / f"gpu-memory-{use}-{size}.json") for use in ("off", "auto"))
        for name, text in FIGURES.items():
            print(f"| {text}, {size} B | {off[name]:.1f} ns | {auto[name]:.1f} ns | {auto[name] / off[name]:.3f} |")


if __name__ == "__main__":
    main()
