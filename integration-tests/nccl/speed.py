"""All-reduces as nccl-tests measures them, in fresh processes: what one sees who tries Trigon, first and later.

Then CUDA graphs as of a model's decode, and a training's steps. NCCL's own transports do the same on the same links.
"""

import json
import statistics
from pathlib import Path

import evidence
import table
from cluster import Launch, LaunchFailed, contenders, free_port
from turns import LOG

SIZES = (8, 4096, 32_768, 65_536, 262_144, 1 << 20, 8 << 20, 64 << 20)
WARMUP, ROUNDS, PASSES = 5, 20, 3  # nccl-tests' own, of all-reduces of a size in a pass, and three passes
DECODE_SIZES = (4096, 16_384, 49_152, 65_536, 376_832)
REDUCES, REPLAYS = 32, 31  # all-reduces in a CUDA graph, and how often it is replayed
STEPS = 30  # of the training, after as many unmeasured ones as there are rounds
LAUNCHES = 3


def speed(setting, report, ranks, out_of_time):
    """Launches one after the other, the variants in turns; all have loaded PyTorch before the first one connects."""
    setting.network.route_to_all_addresses()
    named = contenders(setting, ranks)
    taken, launches = {name: [] for name in named}, []
    try:
        for number in range(LAUNCHES):
            for name, (environment, per_rank) in named.items():
                launches.append((name, Launch(setting, f"speed {number} {name}", ranks,
                                              {**environment, **LOG}, per_rank)))
        for name, launch in launches:
            if out_of_time():
                report.fails(launch.name, "not run: the part's time was over")
                continue
            try:
                taken[name].append(measured(launch, name))
            except LaunchFailed as e:
                report.fails(launch.name, str(e))
            launch.kill()
    finally:
        for _, launch in launches:
            if launch.pipes:
                launch.kill()
    if all(taken.values()):
        write(setting, report, ranks, {name: summary(found) for name, found in taken.items()})


def write(setting, report, ranks, variants):
    processors = len(setting.processors_of(setting.network.nodes[0]))
    results = {"machine": machine(), "network": setting.network.describe(), "gpus": setting.sharing.describe(),
               "ranks": ranks, "processors_a_node": processors, "sizes": SIZES, "decode_sizes": DECODE_SIZES,
               "variants": variants, "dry_run": setting.dry_run}
    (setting.out / "speed.json").write_text(json.dumps(results, indent=1) + "\n")
    text = table.render(results)
    (setting.out / "speed.md").write_text(text)
    report.passes(f"speed, {ranks} ranks, {processors} processors a node", "\n" + text)


def measured(launch, name):
    """Of each pass the seconds of each size, the slowest rank's; of a step likewise; and what a rank uses."""
    launch.ask("warm", 90)
    connected = launch.ask("connect", 90, port=free_port()).values()
    passes = launch.ask("passes", 120, sizes=SIZES, warmup=WARMUP, rounds=ROUNDS, passes=PASSES).values()
    decode = launch.ask("decode", 60, sizes=DECODE_SIZES, reduces=REDUCES, replays=REPLAYS).values()
    steps = launch.ask("steps", 60, warmup=ROUNDS, steps=STEPS).values()
    resources = launch.ask("resources", 30).values()
    launch.ask("disconnect", 60)
    problem = launch.stop()
    log = launch.nccl_log(0).read_text(errors="replace") if launch.nccl_log(0).exists() else ""
    if problem is None and not launch.setting.dry_run:
        problem = wrong_transport(name, log)
    if problem:
        raise LaunchFailed(problem)
    return {"passes": [[max(answer["seconds"][number][size] for answer in passes) for size in range(len(SIZES))]
                       for number in range(PASSES)],
            "decode": [max(answer["seconds"][size] for answer in decode) for size in range(len(DECODE_SIZES))],
            "step": max(answer["seconds"] for answer in steps),
            **{key: statistics.median(a[key] for a in connected) for key in ("init_s", "first_s")},
            **{key: statistics.median(a[key] for a in resources) for key in ("rss_mib", "threads")},
            "channels": evidence.channels(log)}


def wrong_transport(name, log):
    """Trigon's must have gone through Trigon, the others not: what was wrong, or None."""
    if name.startswith("Trigon"):
        return evidence.judge_log(log, PASSES * ROUNDS * sum(SIZES))[0]
    return "this was meant to go without Trigon" if evidence.plugin_lines(log) else None


def summary(launches):
    """The medians of the launches."""
    found = {key: statistics.median(each[key] for each in launches)
             for key in ("step", "init_s", "first_s", "rss_mib", "threads")}
    return {**found, "channels": launches[0]["channels"],
            "decode": [statistics.median(each["decode"][size] for each in launches)
                       for size in range(len(DECODE_SIZES))],
            "passes": [[statistics.median(each["passes"][number][size] for each in launches)
                        for size in range(len(SIZES))] for number in range(PASSES)]}


def machine():
    """What the numbers were taken on."""
    facts = {"processors": 0, "processor": "unknown", "kernel": Path("/proc/sys/kernel/osrelease").read_text().strip()}
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("processor"):
            facts["processors"] += 1
        elif line.startswith("model name"):
            facts["processor"] = line.split(":", 1)[1].strip()
    driver = Path("/proc/driver/nvidia/version")
    if driver.exists():
        facts["driver"] = driver.read_text().splitlines()[0].removeprefix("NVRM version:").strip()
    return facts
