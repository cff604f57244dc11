#!/usr/bin/env python3
"""What one message in parts over two cables brings, beside each cable alone, and the medians of all rounds."""

import statistics
import sys

from cables import arguments, cabled, limit, mbit_per_second, ping_pong, write

CABLES = [(f"a:cable{i}", f"b:cable{i}", f"10.77.{i}.1/24", f"10.77.{i}.2/24") for i in (1, 2)]
MESSAGES = 200


def ways(pair):
    """What is measured: its text, and which cables with what they are said to do."""
    first, second = pair.split(":")
    return {
        "first": ("the first alone", {1: ""}),
        "second": ("the second alone", {2: ""}),
        "both-stated": ("both, their speeds stated",
                        {1: f", speedMbps: {first}", 2: f", speedMbps: {second}"}),
        "both": ("both, their speeds not known", {1: "", 2: ""}),
    }


def measure(nodes, folder, cables):
    settings = folder / "trigon.yaml"
    lines = ["version: 1", "links: software", "nodes:"]
    for host, name in enumerate(nodes.names, start=1):
        nics = [f"{{address: 10.77.{cable}.{host}/24{speed}}}" for cable, speed in cables.items()]
        lines.append(f"  {name}: {{nics: [{', '.join(nics)}]}}")
    settings.write_text("\n".join(lines) + "\n")
    return mbit_per_second(ping_pong(nodes, folder, nodes.names, MESSAGES, {
        "TRIGON_CONFIG": str(settings), "TRIGON_STRIPES": "all" if len(cables) > 1 else "one"}))[0]


def main():
    options = arguments("stripes", ["200:200", "80:320"])
    results = []
    with cabled("a b", *CABLES) as (nodes, folder):
        for pair in options.pairs:
            for number, mbit in enumerate(pair.split(":"), start=1):
                for node in nodes.names:
                    limit(nodes, node, f"cable{number}", mbit)
            runs = {name: [] for name in ways(pair)}
            for number in range(options.rounds):
                for name, (_, cables) in ways(pair).items():
                    runs[name].append(measure(nodes, folder, cables))
                print(f"trigon benchmarks stripes: {pair} Mbit/s, round {number + 1} of {options.rounds}",
                      file=sys.stderr)
            print(f"cables of {pair} Mbit/s, messages of 1 MiB:", file=sys.stderr)
            best = max(statistics.median(runs[name]) for name in ("first", "second"))
            for name, (text, _) in ways(pair).items():
                median = statistics.median(runs[name])
                results.append({"cables_mbit": pair, "over": name, "mbit_per_second": median, "runs": runs[name]})
                print(f"  {text:30} {median:7.0f} Mbit/s, {median / best:.2f} of the best alone", file=sys.stderr)
    write(options, "stripes", results)


if __name__ == "__main__":
    main()
