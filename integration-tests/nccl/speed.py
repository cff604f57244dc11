"""The speed part: all-reduces over Trigon and over NCCL's own socket transport, in turns, on the same links.

All variants' processes live at the same time and only one variant works at a time, so what the machine does meanwhile
hits all variants alike.
"""

import json
import statistics
from dataclasses import dataclass
from pathlib import Path

import evidence
import table
from cluster import Launch, LaunchFailed, contenders, free_port

SIZES = (8, 32, 128, 512, 2048, 8192, 32_768, 65_536, 131_072, 524_288, 2 << 20, 8 << 20, 32 << 20, 128 << 20,
         256 << 20)
# of those that come after a pause, as a training's do
RESTED_SIZES = (8, 65_536, 8 << 20)
RESTED_ROUNDS = 4
RESTED_TIMES = 15
PAUSE_SECONDS = 0.01
LOG = {"NCCL_DEBUG_SUBSYS": "INIT,NET,ENV"}


def start(setting, count):
    """One launch per variant, by name."""
    return {name: Launch(setting, f"speed {count} ranks {name}", count, {**environment, **LOG}, per_rank)
            for name, (environment, per_rank) in contenders(setting, count).items()}


@dataclass(frozen=True)
class Sampling:
    """How sizes up to so many bytes are measured.

    A thread stays for seconds on a processor that has another busy one beside it, or not; so all sizes are gone through
    several times, and those most often that take the least time.
    """

    up_to: int
    passes: int
    rounds: int
    """Samples of each variant, in turns, in a pass."""
    iterations: int
    """All-reduces in a sample."""
    first: int
    """Unmeasured ones before the first sample: for sockets to find their buffer sizes, and for the JVM to compile."""
    between: int
    """Unmeasured ones before each other sample."""


SAMPLINGS = (
    Sampling(8192, passes=7, rounds=7, iterations=60, first=5000, between=10),
    Sampling(131_072, passes=5, rounds=9, iterations=40, first=1000, between=5),
    Sampling(2 << 20, passes=3, rounds=7, iterations=20, first=300, between=3),
    Sampling(32 << 20, passes=3, rounds=5, iterations=8, first=50, between=2),
    Sampling(SIZES[-1], passes=1, rounds=7, iterations=2, first=3, between=2),
)


def sampling(size):
    return next(each for each in SAMPLINGS if size <= each.up_to)


def speed(setting, report, ranks, out_of_time):
    setting.network.route_to_all_addresses()
    sizes = (8, 2048, 524_288) if setting.dry_run else SIZES
    results = {"machine": machine(), "network": setting.network.describe(),
               "gpus": setting.sharing.describe(), "runs": [],
               "dry_run": setting.dry_run}
    for count in range(2, ranks + 1):
        if out_of_time():
            report.fails(f"speed, {count} ranks", "not run: the part's time was over")
            continue
        try:
            results["runs"].append(measure(setting, report, count, sizes, results["machine"], out_of_time))
        except LaunchFailed as e:
            report.fails(f"speed, {count} ranks", str(e))
    write(setting, report, results)


def write(setting, report, results):
    path = setting.out / "speed.json"
    path.write_text(json.dumps(results, indent=1) + "\n")
    if results["runs"]:
        text = table.render(results)
        (setting.out / "speed.md").write_text(text)
        print(text, flush=True)
    report.say(f"results: {path} and speed.md beside it")


def measure(setting, report, count, sizes, facts, out_of_time):
    launches, run = start(setting, count), {"ranks": count, "variants": {}, "sizes": []}
    try:
        for launch in launches.values():
            launch.ask("warm", 90)
        for name, launch in list(launches.items()):
            try:
                run["variants"][name] = connected(launch)
            except LaunchFailed as e:
                report.fails(f"speed, {count} ranks, {name}", str(e))
                launches.pop(name).kill()
        if not launches:
            return run
        facts.update(next(iter(launches.values())).ask("facts", 30)[0])
        run["sizes"] = all_sizes(report, launches, count, sizes, out_of_time)
        try:
            run["rested"] = {"pause_s": PAUSE_SECONDS, "sizes": [rested(launches, size) for size in RESTED_SIZES]}
        except LaunchFailed as e:  # what was measured before is kept
            report.fails(f"speed, {count} ranks, after a pause", str(e))
            return run
        for name, launch in launches.items():
            run["variants"][name].update(used(launch))
        finish(report, count, launches, run)
    finally:
        for launch in launches.values():
            launch.kill()
    return run


def connected(launch):
    answers = launch.ask("connect", 90, port=free_port()).values()
    launch.ask("check", 60, checks=[{"op": "all_reduce", "count": 1_048_573}])
    return {"init_s": statistics.median(a["init_s"] for a in answers),
            "first_s": statistics.median(a["first_s"] for a in answers)}


def all_sizes(report, launches, count, sizes, out_of_time):
    samples = {size: {name: [] for name in launches} for size in sizes}
    for part in range(max(each.passes for each in SAMPLINGS)):
        for size in sizes:
            if part < sampling(size).passes:
                if out_of_time():
                    report.fails(f"speed, {count} ranks",
                                 f"pass {part + 1} from {size} B on not run: the part's time was over")
                    return [summary(size, taken) for size, taken in samples.items() if all(taken.values())]
                take(launches, size, part, samples[size])
    return [summary(size, taken) for size, taken in samples.items()]


def take(launches, size, part, samples):
    """One pass: rounds over all variants, the first of all after a warm-up. A sample is the slowest rank's mean."""
    how = sampling(size)
    for turn in range(how.rounds):
        for name, launch in launches.items():
            answers = launch.ask("measure", 60, bytes=size, iterations=how.iterations,
                                 warmup=how.first if part + turn == 0 else how.between).values()
            samples[name].append({"seconds": max(a["seconds"] for a in answers),
                                  "processor_s": statistics.mean(a["processor_s"] for a in answers)})


def summary(size, samples):
    return {"bytes": size, "rounds": min(map(len, samples.values())),
            "results": {name: medians(taken) for name, taken in samples.items()}}


def medians(taken):
    return {**spread([each["seconds"] for each in taken]),
            "processor_s": statistics.median(each["processor_s"] for each in taken)}


def spread(seconds):
    return {"seconds": statistics.median(seconds), "fastest": min(seconds), "slowest": max(seconds)}


def rested(launches, size):
    """Of each all-reduce the time of the rank that came last, which waited for nobody."""
    samples = {name: [] for name in launches}
    for _ in range(RESTED_ROUNDS):
        for name, launch in launches.items():
            answers = launch.ask("rested", 60, bytes=size, times=RESTED_TIMES, pause=PAUSE_SECONDS).values()
            samples[name] += [min(each) for each in zip(*(a["seconds"] for a in answers), strict=True)]
    return {"bytes": size, "rounds": RESTED_ROUNDS * RESTED_TIMES,
            "results": {name: spread(taken) for name, taken in samples.items()}}


def used(launch):
    answers = launch.ask("resources", 30).values()
    log = launch.nccl_log(0).read_text(errors="replace") if launch.nccl_log(0).exists() else ""
    return {key: statistics.median(a[key] for a in answers) for key in ("rss_mib", "peak_rss_mib", "threads")} | {
        "channels": evidence.channels(log), "api": evidence.api_version(log)}


def finish(report, count, launches, run):
    """Ends the launches; Trigon's must have gone through Trigon, the sockets' not."""
    for name, launch in launches.items():
        launch.ask("disconnect", 60)
        problem = launch.stop()
        if problem is None and not launch.setting.dry_run:
            log = launch.nccl_log(0).read_text(errors="replace")
            expected = sum(2 * s["bytes"] for s in run["sizes"])
            problem = (evidence.judge_log(log, expected)[0] if name == "Trigon"
                       else None if not evidence.plugin_lines(log) else "this was meant to go without Trigon")
        report.judge(f"speed, {count} ranks, {name}", problem, f"{len(run['sizes'])} sizes")


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
