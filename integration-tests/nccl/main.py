"""The command line: checks the arguments, makes the network, runs the parts. run.sh starts it."""

import argparse
import os
import re
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

import calls
import causes
import correctness
import cuts
import faults
import gains
import network
import one_sided
import policies
import restarts
import shapes
import sharing
import simulated
import speed
import traces
import tune
import unlike
from cluster import LaunchFailed, Setting
from report import Report

PART_SECONDS = 390  # after this, what has not begun is not begun any more
PARTS = {"smoke": correctness.smoke, "calls": calls.calls, "correctness": correctness.correctness,
         "faults": faults.faults, "restarts": restarts.restarts, "cuts": cuts.cuts, "shapes": shapes.shapes,
         "unlike": unlike.unlike, "pairs": unlike.pairs, "policies": policies.policies, "gains": gains.gains,
         "one-sided": one_sided.one_sided, "traces": traces.traces, "causes": causes.causes, "speed": speed.speed,
         "tune": tune.tune}


def arguments(given):
    parser = argparse.ArgumentParser(prog="run.sh")
    parser.add_argument("distribution", type=Path)
    parser.add_argument("gpus", type=int)
    parser.add_argument("--part", choices=[*PARTS, "all"], default="smoke")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--network", choices=["auto", "namespaces", "loopback"], default="auto")
    parser.add_argument("--ip", default="ip")
    parser.add_argument("--links", choices=["software", "simulated"], default="software")
    parser.add_argument("--device", type=Path, default=simulated.BUILT)
    parser.add_argument("--nodes", type=int)
    parser.add_argument("--model", type=model_of_time, metavar="LATENCY,RATE")
    parser.add_argument("--fault", metavar="KIND")
    parser.add_argument("--cables", type=int, choices=[1, 2, 3], default=1)
    parser.add_argument("--set", dest="settings", action="append", default=[], type=trigon_setting,
                        metavar="NAME=VALUE")
    parser.add_argument("--nccl", type=Path)
    parser.add_argument("--processors", type=int)
    parser.add_argument("--policies", type=Path)
    parser.add_argument("--dry-run", action="store_true")
    args = parser.parse_args(given)
    if not 1 <= args.gpus <= len(network.NODES):
        parser.error(f"GPUS is {args.gpus}: must be 1 to {len(network.NODES)}")
    args.nodes = args.gpus if args.nodes is None else args.nodes
    if not max(2, args.gpus) <= args.nodes <= len(network.NODES):
        parser.error(f"{args.nodes} nodes for {args.gpus} GPUs: "
                     f"--nodes must be {max(2, args.gpus)} to {len(network.NODES)}")
    if args.processors is not None and args.processors * args.nodes > len(os.sched_getaffinity(0)):
        parser.error(f"--processors {args.processors}: {args.nodes} nodes would need {args.processors * args.nodes}, "
                     f"and there are {len(os.sched_getaffinity(0))}")
    if args.links == "simulated" and (args.part not in simulated.PARTS or args.network == "loopback"):
        parser.error(f"--links simulated is for the parts {', '.join(simulated.PARTS)}, and for namespaces")
    if args.model and args.links != "simulated":
        parser.error("--model is of --links simulated")
    args.distribution = args.distribution.resolve()
    plugin = args.distribution / "lib" / "libnccl-net-trigon.so"
    if not args.dry_run and not plugin.is_file():
        parser.error(f"no {plugin}: {args.distribution} is not a Trigon distribution")
    if not args.dry_run:
        require_gpus(parser, args.gpus)
    return args


def model_of_time(text):
    if not re.fullmatch(r"[\d.]+(ns|us|ms),[\d.]+[GM]", text):
        raise argparse.ArgumentTypeError(f"'{text}' is no latency and rate: must be as 2us,100G, in bits a second")
    return text.replace(",", " ")


def trigon_setting(text):
    name, equals, value = text.partition("=")
    if not name.startswith("TRIGON_") or not equals:
        raise argparse.ArgumentTypeError(f"'{text}' is no setting of Trigon: must be TRIGON_NAME=VALUE")
    if name in ("TRIGON_CONFIG", "TRIGON_NODE"):
        raise argparse.ArgumentTypeError(f"{name} is the harness's own: each launch has its file, each rank its node")
    return name, value


def require_gpus(parser, wanted):
    import torch  # slow, and not needed for mistakes in the other arguments

    if not torch.distributed.is_nccl_available():
        parser.error(f"this PyTorch ({torch.__version__}) has no NCCL; --dry-run needs none")
    if torch.cuda.device_count() < wanted:
        parser.error(f"GPUS is {wanted}, but PyTorch sees {torch.cuda.device_count()}")


def run(part, args, net, out, report):
    report.say(f"== {part}")
    processes = args.nodes * unlike.PER_NODE if part == "pairs" else args.nodes
    shared = sharing.open_sharing(processes, processes if args.dry_run else args.gpus, part)
    report.say(shared.describe())
    end = time.monotonic() + PART_SECONDS
    try:
        setting = Setting(args.distribution, net, out, args.dry_run, shared, dict(args.settings), args.nccl,
                          policies=args.policies, fault=args.fault)
        if args.processors:
            setting.processors = setting.processors[:args.processors * args.nodes]
        PARTS[part](setting, report, args.nodes, lambda: time.monotonic() > end)
    except LaunchFailed as e:
        report.fails(part, str(e))
    except Exception:  # a mistake in here must not hide what was found before it
        report.fails(part, traceback.format_exc())
    finally:
        shared.close()


def open_network(args):
    if args.links == "simulated":
        return simulated.Simulated(args.nodes, args.device, args.ip, args.cables, args.model)
    return network.open_network(args.nodes, args.network, args.ip, args.cables)


def main():
    args = arguments(sys.argv[1:])
    for name in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, lambda *_: sys.exit(143))  # so that the network is removed on the way out
    out = (args.out or Path(tempfile.mkdtemp(prefix="trigon-nccl."))).resolve()
    out.mkdir(parents=True, exist_ok=True)
    report = Report()
    try:
        net = open_network(args)
    except network.NetworkUnavailable as e:
        sys.exit(f"run.sh: {e}")
    try:
        report.say(f"{args.nodes} nodes, {net.describe()}")
        report.say(f"logs in {out}")
        for part in PARTS if args.part == "all" else [args.part]:
            run(part, args, net, out, report)
    finally:
        net.close()
    sys.exit(report.finish())


if __name__ == "__main__":
    main()
