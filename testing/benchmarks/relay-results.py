"""Puts the outputs of relay.sh into one JSON object, and the medians of all rounds into a table on stderr."""

import json
import os
import pathlib
import statistics
import sys

folder = pathlib.Path(sys.argv[1])
LONG = 1 << 20


def runs(pair: str, name: str) -> list[dict]:
    """What each round measured."""
    files = sorted(folder.glob(f"{pair}.{name}.*.json"))
    if not files:
        raise SystemExit(f"{folder} has no output for {pair}, {name}")
    return [json.loads(file.read_text())["rounds"][0] for file in files]


def mbit_per_second(pair: str, name: str) -> list[float]:
    """Payload in messages of 1 MiB: the better of a receiver that spins, and one that sleeps."""
    return [max(each["mb_per_second"] for each in run["bandwidth"] if each["bytes"] == LONG) * LONG * 8 / 1e6
            for run in runs(pair, name)]


def microseconds(pair: str, name: str, figure: str) -> list[float]:
    """Half a round trip of 8 bytes."""
    return [run["latency"][figure] for run in runs(pair, name)]


results = []
for pair in sys.argv[2:]:
    print(f"cables of {pair} Mbit/s:", file=sys.stderr)

    def ratio(text: str, unit: str, values: list[float], reference: list[float], goal: str) -> None:
        value, other = statistics.median(values), statistics.median(reference)
        results.append({"cables_mbit": pair, "what": text, "unit": unit, "median": value, "reference": other,
                        "ratio": value / other, "goal": goal, "runs": values, "reference_runs": reference})
        print(f"  {text:58} {value:8.1f} {unit}, {other:8.1f} alone: {value / other:.2f} ({goal})", file=sys.stderr)

    first, second = mbit_per_second(pair, "first"), mbit_per_second(pair, "second-fifo")
    slower = min(first, second, key=statistics.median)
    ratio("1 MiB through the relay, to the slower hop", "Mbit/s", mbit_per_second(pair, "relayed"), slower,
          "at least 0.90")
    for figure in "min_us", "median_us":
        both = [sum(hops) for hops in zip(microseconds(pair, "first", figure),
                                          microseconds(pair, "second-fifo", figure))]
        ratio(f"8 B through the relay, to the sum of the hops, {figure[:-3]}", "us",
              microseconds(pair, "relayed", figure), both, "at most 1.20")
    for queue in "fifo", "bands":
        ratio(f"the relay node's own, under a flood, queue: {queue}", "Mbit/s",
              mbit_per_second(pair, f"flooded-{queue}"), mbit_per_second(pair, f"second-{queue}"), "at least 0.50")
print(json.dumps({"benchmark": "relay", "load": round(os.getloadavg()[0], 2), "results": results}, indent=1))
