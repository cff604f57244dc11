"""What a trace costs, and what it tells: all-reduces with and without one, in turns."""

import shutil
import statistics
import tarfile

import turns
from cluster import Launch, LaunchFailed, trigon

SIZES = (8, 65_536, 1 << 20, 16 << 20)
PASSES = 3


def traces(setting, report, ranks, out_of_time):
    if setting.dry_run:
        report.skips("traces", "gloo has no trace")
        return
    folder = setting.out / "traces"
    shutil.rmtree(folder, ignore_errors=True)
    # the environment is each rank's; the folder is made by whoever comes first
    traced = {"TRIGON_TRACE": str(folder), "NCCL_PROFILER_PLUGIN": setting.plugin()}
    launches = {"without": Launch(setting, "traces without", ranks, {**trigon(setting), **turns.LOG}),
                "with": Launch(setting, "traces with", ranks, {**trigon(setting), **turns.LOG, **traced})}
    try:
        for launch in launches.values():
            launch.ask("warm", 90)
            turns.connected(launch)
        samples = {size: {name: [] for name in launches} for size in SIZES}
        for part in range(PASSES):
            for size in SIZES:
                if out_of_time():
                    report.fails("traces", f"pass {part + 1} from {size} B on not run: the part's time was over")
                    break
                turns.take(launches, size, part, samples[size])
        for launch in launches.values():
            launch.ask("disconnect", 60)
            report.judge(launch.name, launch.stop(), "every rank ended")
    except LaunchFailed as e:
        report.fails("traces", str(e))
        return
    finally:
        for launch in launches.values():
            launch.kill()
    say(report, samples)
    files = sorted(folder.glob("*.trace"))
    report.judge("traces", None if len(files) == ranks else f"{len(files)} files in {folder} of {ranks} ranks",
                 f"{len(files)} files, {sum(f.stat().st_size for f in files) >> 20} MiB")
    with tarfile.open(setting.out / "traces.tar.xz", "w:xz", preset=1) as archive:
        archive.add(folder, "traces")


def say(report, samples):
    for size, taken in samples.items():
        if not all(taken.values()):
            continue
        ratios = [w / o for w, o in zip(taken["with"], taken["without"])]
        plain = statistics.median(taken["without"])
        report.say(f"all-reduce of {size} B: {plain * 1e6:.1f} us without a trace; with one "
                   f"{statistics.median(ratios):.3f} times that (median of {len(ratios)} pairs, "
                   f"{min(ratios):.3f} to {max(ratios):.3f})")
