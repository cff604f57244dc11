"""Makes the Markdown report out of speed.json: table.py speed.json"""

import json
import sys

UNITS = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


def size(count):
    for unit, name in UNITS:
        if count >= unit and count % unit == 0:
            return f"{count // unit} {name}"
    return f"{count} B"


def row(cells):
    return "| " + " | ".join(cells) + " |\n"


def header(cells):
    return row(cells) + row(["---:"] * len(cells))


def is_own(name):
    return name.startswith("Trigon")


def machine(results):
    facts = results["machine"]
    parts = [f"{facts.get('processor', '?')}, {facts.get('processors', '?')} processors, "
             f"{results['processors_a_node']} a node, Linux {facts.get('kernel', '?')}"]
    if "driver" in facts:
        parts.append(f"driver: {facts['driver']}")
    parts.append(f"network: {results['network']}; {results['gpus']}")
    return "".join(f"- {part}\n" for part in parts)


def against_best(own, others):
    """A time in us and, in brackets, how often it takes NCCL's best."""
    return f"{own * 1e6:.0f} ({own / min(others):.2f})"


def compared(sizes, columns):
    """Trigon's times and NCCL's best of each size; with failover also over those without, where both are there.

    columns: what is measured, and of each variant the seconds of each size.
    """
    own = [name for name in next(iter(columns.values())) if is_own(name)]
    ratio = ["on/off"] if len(own) == 2 else []
    text = header(["", *(f"{name}{what}" for what in columns for name in (*own, "NCCL's best", *ratio))])
    for index, count in enumerate(sizes):
        cells = [size(count)]
        for taken in columns.values():
            others = [each[index] for name, each in taken.items() if not is_own(name)]
            mine = [taken[name][index] for name in own]
            cells += [against_best(each, others) for each in mine]
            cells.append(f"{min(others) * 1e6:.0f}")
            cells += [f"{mine[0] / mine[1]:.2f}" for _ in ratio]
        text += row(cells)
    return text


def all_reduces(results):
    variants = results["variants"]
    last = len(next(iter(variants.values()))["passes"]) - 1
    return compared(results["sizes"], {f", {when}": {name: found["passes"][number] for name, found in variants.items()}
                                       for when, number in (("pass 1", 0), ("pass 3", last))})


def decode(results):
    return compared(results["decode_sizes"], {"": {name: found["decode"]
                                                   for name, found in results["variants"].items()}})


def each(results):
    """What is one number for a variant."""
    text = header(["", "training step", "communicator", "first all-reduce", "memory", "threads", "channels"])
    for name, found in results["variants"].items():
        channels = "-" if found["channels"] is None else str(found["channels"])
        text += row([name, f"{found['step'] * 1e3:.2f} ms", f"{found['init_s']:.2f} s", f"{found['first_s']:.2f} s",
                     f"{found['rss_mib']:.0f} MiB", f"{found['threads']:.0f}", channels])
    return text


def render(results):
    text = f"## All-reduces of {results['ranks']} ranks\n\n" + machine(results)
    if results.get("dry_run"):
        text += "\n**A dry run over gloo on the CPU: all columns are the same, and none is Trigon or NCCL.**\n"
    text += ("\nIn us, as nccl-tests measures: 5 unmeasured and 20 measured ones of each size in a pass, float32; "
             "medians of fresh processes. In brackets the time over that of NCCL's best transport: below 1, Trigon is "
             "faster.\n\n")
    return (text + all_reduces(results) + "\nThe same for all-reduces of bfloat16 in CUDA graphs, as in decode:\n\n"
            + decode(results) + "\n" + each(results))


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        print(render(json.load(file)))
