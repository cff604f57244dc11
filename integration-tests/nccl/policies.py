"""Policies: NCCL asks, takes the decision, and says so; what they gain over NCCL's own choice."""

import json
import statistics
import subprocess

import evidence
import speed
from cluster import Launch, LaunchFailed, trigon
from session import Session

COUNTS = (2, 256, 8192, 16_384, 131_072, 1_048_576, 8_388_608)  # of float32
SIZES = (8, 8192, 32_768, 65_536, 131_072, 262_144, 1 << 20, 4 << 20, 64 << 20)
CHOICES = [(algorithm, protocol) for algorithm in ("Ring", "Tree") for protocol in ("LL", "LL128", "Simple")]


def examples(setting):
    return setting.distribution / "policy" / "examples"


def asked(setting, policy):
    return {"NCCL_TUNER_PLUGIN": setting.plugin(), "TRIGON_POLICY": str(policy)}


def policies(setting, report, ranks, out_of_time):
    """NCCL's log has to name, for each size, what the policy decides without NCCL."""
    if setting.dry_run:
        report.skips("policies", "gloo asks no tuner")
        return
    for example in ("hierarchy", "size_aware", "few_neighbours", "noop"):
        policy = examples(setting) / f"{example}.o"
        name = f"policy {example}"
        with Session(setting, report, name, ranks, asked(setting, policy)) as session:
            session.connect()
            session.check([{"op": "all_reduce", "count": count} for count in COUNTS], 90)
            taken = evidence.choices_by_size(session.log(0))
            session.reconnect()  # the first communicator's counts are in the log now
            report.judge(f"{name}: taken", *compare(decisions(setting, policy, ranks), taken,
                                                    evidence.impossible_decisions(session.log(0))))
    mine = {"NCCL": {}, "few_neighbours": asked(setting, examples(setting) / "few_neighbours.o")}
    gained(setting, report, ranks, out_of_time, mine, passes=4)
    gained(setting, report, ranks, out_of_time,
           {f"{a} {p}": {"NCCL_ALGO": a, "NCCL_PROTO": p} for a, p in CHOICES}, passes=1)


def decisions(setting, policy, ranks):
    """What the command says that the policy decides: {bytes: (algorithm, protocol) or None}."""
    sizes = ",".join(str(4 * count) for count in COUNTS)
    done = subprocess.run(
        [setting.distribution / "bin" / "trigon", "policy", "test", policy, "--json", "--ranks", str(ranks), "--nodes",
         str(ranks), "--collective", "all-reduce", "--sizes", sizes],
        capture_output=True, text=True, timeout=60, check=True)
    return {each["bytes"]: None if each["leftToNccl"] else (each["algorithm"].upper(), each["protocol"].upper())
            for each in json.loads(done.stdout)["decisions"]}


def compare(decided, taken, impossible):
    """Each decision is taken, but for those that Trigon counted as beyond NCCL: its table of costs has them not."""
    missing = [size for size in decided if size not in taken]
    passed_over = [f"{size} B: decided {decision}, NCCL took {taken[size]}" for size, decision in decided.items()
                   if size in taken and decision and taken[size] != decision]
    said = ", ".join(f"{size} B {'-'.join(taken.get(size, ('none',)))}{'' if decided[size] else ' (by NCCL)'}"
                     for size in decided) + f"; {impossible} that NCCL cannot do"
    if missing:
        return f"NCCL's log has no all-reduce of {missing} B", said
    return "; ".join(passed_over) if len(passed_over) > impossible else None, said


def gained(setting, report, ranks, out_of_time, variants, passes):
    """All-reduces by each variant, in turns; variants: environments by name."""
    launches = {name: Launch(setting, f"policies {name}", ranks, {**trigon(setting), **speed.LOG, **extra})
                for name, extra in variants.items()}
    samples = {size: {name: [] for name in launches} for size in SIZES}
    try:
        for launch in launches.values():
            launch.ask("warm", 120)
        for launch in launches.values():
            speed.connected(launch)
        for part in range(passes):
            for size in SIZES:
                if not out_of_time():
                    speed.take(launches, size, part, samples[size])
        for launch in launches.values():
            launch.ask("disconnect", 60)
            report.judge(launch.name, launch.stop(), "every rank ended")
    except LaunchFailed as e:
        report.fails("policies", str(e))
    finally:
        for launch in launches.values():
            launch.kill()
    say(report, samples, setting.out / f"policies-{'-'.join(variants).replace(' ', '-')}.json")


def say(report, samples, path):
    """The medians; and of each variant the median of its ratios to the first one, pair by pair."""
    medians = {size: {name: statistics.median(each["seconds"] for each in taken) for name, taken in of.items()}
               for size, of in samples.items() if all(of.values())}
    path.write_text(json.dumps(medians, indent=1) + "\n")
    for size, of in medians.items():
        first, *others = of
        ratios = {name: statistics.median(o["seconds"] / f["seconds"]
                                          for o, f in zip(samples[size][name], samples[size][first]))
                  for name in others}
        report.say(f"all-reduce of {size} B, us: " + ", ".join(
            f"{name} {s * 1e6:.1f}" + (f" (x {ratios[name]:.2f})" if name in ratios else "") for name, s in of.items()))
