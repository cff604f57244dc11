"""All-reduces as nccl-tests measures them, in fresh processes: what one sees who tries Trigon for the first time."""

import json
import statistics

import table
from cluster import Launch, LaunchFailed, contenders, free_port
from speed import LOG

SIZES = (8, 4096, 32_768, 65_536, 262_144, 1 << 20, 8 << 20, 64 << 20)
WARMUP, ROUNDS, PASSES = 5, 20, 3  # nccl-tests' own, of all-reduces of a size in a pass, and three passes
LAUNCHES = 3


def fresh(setting, report, ranks, out_of_time):
    """Launches one after the other, the variants in turns; all have loaded PyTorch before the first one connects."""
    setting.network.route_to_all_addresses()
    named = contenders(setting, ranks)
    taken, launches = {name: [] for name in named}, []
    try:
        for number in range(LAUNCHES):
            for name, (environment, per_rank) in named.items():
                launches.append((name, Launch(setting, f"fresh {number} {name}", ranks,
                                              {**environment, **LOG}, per_rank)))
        for name, launch in launches:
            if out_of_time():
                report.fails(launch.name, "not run: the part's time was over")
                continue
            try:
                taken[name].append(measured(launch))
            except LaunchFailed as e:
                report.fails(launch.name, str(e))
            launch.kill()
    finally:
        for _, launch in launches:
            if launch.pipes:
                launch.kill()
    if all(taken.values()):
        result = {name: [[statistics.median(each[number][size] for each in passes) for size in range(len(SIZES))]
                         for number in range(PASSES)] for name, passes in taken.items()}
        (setting.out / "fresh.json").write_text(json.dumps({"sizes": SIZES, "seconds": result}, indent=1) + "\n")
        processors = len(setting.processors_of(setting.network.nodes[0]))
        report.passes(f"fresh processes, {processors} processors a node", "\n" + render(result))


def measured(launch):
    """Of each pass the seconds of each size: the slowest rank's."""
    launch.ask("warm", 90)
    launch.ask("connect", 90, port=free_port())
    answers = launch.ask("passes", 120, sizes=SIZES, warmup=WARMUP, rounds=ROUNDS, passes=PASSES).values()
    launch.ask("disconnect", 60)
    problem = launch.stop()
    if problem:
        raise LaunchFailed(problem)
    return [[max(answer["seconds"][number][size] for answer in answers) for size in range(len(SIZES))]
            for number in range(PASSES)]


def render(result):
    """A table: Trigon and the best of NCCL's own in the first and the last pass, in us."""
    lines = ["| bytes | pass 1 | NCCL's best | ratio | pass 3 | NCCL's best | ratio |",
             "|---:|---:|---:|---:|---:|---:|---:|"]
    for index, size in enumerate(SIZES):
        cells = [table.size(size)]
        for number in (0, PASSES - 1):
            own = result["Trigon"][number][index] * 1e6
            best = min(passes[number][index] for name, passes in result.items() if name != "Trigon") * 1e6
            cells += [f"{own:.0f}", f"{best:.0f}", f"{own / best:.2f}"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)
