"""Puts the outputs of stripes.sh into one JSON object, and the medians of all rounds into a table on stderr."""

import json
import os
import pathlib
import statistics
import sys

folder = pathlib.Path(sys.argv[1])
NAMES = {
    "first": "the first alone",
    "second": "the second alone",
    "both-stated": "both, their speeds stated",
    "both": "both, their speeds not known",
}
LONG = 1 << 20


def runs(pair: str, name: str) -> list[float]:
    """Mbit/s of payload in messages of 1 MiB, of each round."""
    values = []
    for file in sorted(folder.glob(f"{pair}.{name}.*.json")):
        bandwidth = json.loads(file.read_text())["rounds"][0]["bandwidth"]
        values.append(next(each["mb_per_second"] for each in bandwidth if each["bytes"] == LONG) * LONG * 8 / 1e6)
    if not values:
        raise SystemExit(f"{folder} has no output for {pair}, {name}")
    return values


results = []
for pair in sys.argv[2:]:
    print(f"cables of {pair} Mbit/s, messages of 1 MiB:", file=sys.stderr)
    best = max(statistics.median(runs(pair, name)) for name in ("first", "second"))
    for name, text in NAMES.items():
        values = runs(pair, name)
        median = statistics.median(values)
        results.append({"cables_mbit": pair, "over": name, "mbit_per_second": median, "runs": values})
        print(f"  {text:30} {median:7.0f} Mbit/s, {median / best:.2f} of the best alone", file=sys.stderr)
print(json.dumps({"benchmark": "stripes", "load": round(os.getloadavg()[0], 2), "results": results}, indent=1))
