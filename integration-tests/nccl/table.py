"""Makes the Markdown report out of speed.json: table.py speed.json"""

import json
import sys

UNITS = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


def size(count):
    for unit, name in UNITS:
        if count >= unit and count % unit == 0:
            return f"{count // unit} {name}"
    return f"{count} B"


def bus_bandwidth(count, seconds, ranks):
    """As nccl-tests defines it for the all-reduce: what each rank's link carries, in GB/s."""
    return count / seconds * 2 * (ranks - 1) / ranks / 1e9


def row(cells):
    return "| " + " | ".join(cells) + " |\n"


def header(cells):
    return row(cells) + row(["---"] + ["---:"] * (len(cells) - 1))


def others_of(results):
    return {name: value for name, value in results.items() if name != "Trigon"}


def ratio(results):
    """Trigon's speed over the best of NCCL's own: above 1, Trigon is faster."""
    others = others_of(results)
    if "Trigon" not in results or not others:
        return None
    return min(other["seconds"] for other in others.values()) / results["Trigon"]["seconds"]


def machine(results):
    facts = results["machine"]
    parts = [f"{facts.get('processor', '?')}, {facts.get('processors', '?')} processors, "
             f"Linux {facts.get('kernel', '?')}"]
    if "gpu" in facts:
        parts.append(f"GPU {facts['gpu']}, NCCL {facts['nccl']}, CUDA {facts['cuda']}, PyTorch {facts['torch']}")
    if "driver" in facts:
        parts.append(f"driver: {facts['driver']}")
    parts.append(f"network: {results['network']}; {results['gpus']}")
    return "".join(f"- {part}\n" for part in parts)


def bandwidth(run):
    names = list(run["variants"])
    text = f"\n### {run['ranks']} ranks\n\nTime of an all-reduce (bus bandwidth in GB/s)\n\n"
    text += times(run, run["sizes"], names)
    if "rested" in run:
        rested = run["rested"]
        text += (f"\nBy itself, after a pause of {rested['pause_s'] * 1000:.0f} ms, from the call to its end, "
                 f"by the rank that comes last; median of {rested['sizes'][0]['rounds']}\n\n")
        text += times(run, rested["sizes"], names)
    return text


def times(run, entries, names):
    text = header(["bytes", *names, "Trigon / NCCL's best"])
    for entry in entries:
        cells = [size(entry["bytes"])]
        for name in names:
            result = entry["results"].get(name)
            cells.append("-" if result is None else f"{result['seconds'] * 1e6:.1f} µs "
                         f"({bus_bandwidth(entry['bytes'], result['seconds'], run['ranks']):.3f})")
        value = ratio(entry["results"])
        text += row([*cells, "-" if value is None else f"{value:.2f}"])
    return text


def cost(run):
    text = "\nPer rank (median of the ranks); start: making the communicator, first: the first all-reduce\n\n"
    text += header(["", "start", "first", "memory", "peak memory", "threads", "channels", "processor time per GB"])
    for name, facts in run["variants"].items():
        text += row([name, f"{facts['init_s']:.2f} s", f"{facts['first_s']:.2f} s", mib(facts, "rss_mib"),
                     mib(facts, "peak_rss_mib"), number(facts, "threads"), number(facts, "channels"),
                     processor(run, name)])
    return text


def mib(facts, key):
    return f"{facts[key]:.0f} MiB" if facts.get(key) is not None else "-"


def number(facts, key):
    return f"{facts[key]:.0f}" if facts.get(key) is not None else "-"


def processor(run, name):
    """Of the largest size that was measured: what all threads of a rank used."""
    for entry in reversed(run["sizes"]):
        if name in entry["results"]:
            return f"{entry['results'][name]['processor_s'] / entry['bytes'] * 1e9:.2f} s"
    return "-"


def rounds(results):
    """The most there were, up to which size, and so on."""
    last = {}
    for run in results["runs"]:
        for entry in run["sizes"]:
            last[entry["rounds"]] = max(entry["bytes"], last.get(entry["rounds"], 0))
    return ", ".join(f"{count} (up to {size(last[count])})" for count in sorted(last, reverse=True))


def render(results):
    text = "## All-reduce: Trigon and NCCL's own transports on the same links\n\n" + machine(results)
    if results.get("dry_run"):
        text += "\n**A dry run over gloo on the CPU: all columns are the same, and none is Trigon or NCCL.**\n"
    text += (f"\nMedian of {rounds(results)} rounds, all variants in turns; float32, the slowest rank counts. "
             "\"Socket TxS\" is NCCL_NSOCKS_PERTHREAD S and NCCL_SOCKET_NTHREADS T, \"IB\" NCCL's RDMA. "
             "Above 1 in the last column, Trigon is faster.\n")
    for run in results["runs"]:
        text += bandwidth(run) + cost(run)
    return text


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        print(render(json.load(file)))
