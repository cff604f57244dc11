"""What a policy gains over NCCL's own choice, and what each fixed choice takes."""

import json
import statistics

import turns
from cluster import Launch, LaunchFailed, trigon
from policies import asked, examples

SIZES = (8, 8192, 32_768, 65_536, 131_072, 262_144, 1 << 20, 4 << 20, 64 << 20)
CHOICES = [(algorithm, protocol) for algorithm in ("Ring", "Tree") for protocol in ("LL", "LL128", "Simple")]


def gains(setting, report, ranks, out_of_time):
    if setting.dry_run:
        report.skips("gains", "gloo asks no tuner")
        return
    mine = {"NCCL": {}, "few_neighbours": asked(setting, examples(setting) / "few_neighbours.o")}
    gained(setting, report, ranks, out_of_time, mine, passes=4)
    gained(setting, report, ranks, out_of_time,
           {f"{a} {p}": {"NCCL_ALGO": a, "NCCL_PROTO": p} for a, p in CHOICES}, passes=1)


def gained(setting, report, ranks, out_of_time, variants, passes):
    """All-reduces by each variant, in turns; variants: environments by name."""
    launches = {name: Launch(setting, f"gains {name}", ranks, {**trigon(setting), **turns.LOG, **extra})
                for name, extra in variants.items()}
    samples = {size: {name: [] for name in launches} for size in SIZES}
    try:
        for launch in launches.values():
            launch.ask("warm", 120)
        for launch in launches.values():
            turns.connected(launch)
        for part in range(passes):
            for size in SIZES:
                if not out_of_time():
                    turns.take(launches, size, part, samples[size])
        for launch in launches.values():
            launch.ask("disconnect", 60)
            report.judge(launch.name, launch.stop(), "every rank ended")
    except LaunchFailed as e:
        report.fails("gains", str(e))
    finally:
        for launch in launches.values():
            launch.kill()
    say(report, samples, setting.out / f"gains-{'-'.join(variants).replace(' ', '-')}.json")


def say(report, samples, path):
    """The medians; and of each variant the median of its ratios to the first one, pair by pair."""
    medians = {size: {name: statistics.median(taken) for name, taken in of.items()}
               for size, of in samples.items() if all(of.values())}
    path.write_text(json.dumps(medians, indent=1) + "\n")
    for size, of in medians.items():
        first, *others = of
        ratios = {name: statistics.median(o / f
                                          for o, f in zip(samples[size][name], samples[size][first]))
                  for name in others}
        report.say(f"all-reduce of {size} B, us: " + ", ".join(
            f"{name} {s * 1e6:.1f}" + (f" (x {ratios[name]:.2f})" if name in ratios else "") for name, s in of.items()))
