"""The smoke part and the correctness part."""

import evidence
from cluster import LaunchFailed
from session import Session

ALL = ("all_reduce", "reduce", "broadcast", "all_gather", "reduce_scatter", "all_to_all", "all_to_all_uneven",
       "send_receive", "send_alone", "gather", "scatter")
TYPES = ("float32", "bfloat16", "int64")
SMALL = (1, 2, 3, 7, 127, 1000, 4097)
MEDIUM = (65_537, 262_144, 1_048_573)
GIB = 1 << 30
FIXED = {"NCCL_ALGO": "Ring", "NCCL_PROTO": "Simple", "NCCL_MIN_NCHANNELS": "2", "NCCL_MAX_NCHANNELS": "2"}


def smoke(setting, report, ranks, _):
    with Session(setting, report, f"smoke, {ranks} ranks", ranks) as session:
        answers = session.connect()
        report.passes("communicator", "made in " + ", ".join(f"{a['init_s']:.1f} s" for a in answers.values()))
        session.check([{"op": "all_reduce", "dtype": dtype, "count": count}
                       for count in (1, 1000, 262_144, 16_777_259) for dtype in TYPES], 90)


def every_operation(counts, types=TYPES):
    return [{"op": op, "dtype": dtype, "count": count, **({"root": count} if op in ROOTED else {})}
            for op in ALL for dtype in types for count in counts]


ROOTED = ("reduce", "broadcast", "gather", "scatter")


def big(dry_run):
    """Up to 1 GiB; every element is still looked at."""
    if dry_run:
        return [{"op": "all_reduce", "dtype": "float32", "count": 5_000_011}]
    return [
        {"op": "all_reduce", "dtype": "float32", "count": GIB // 4},
        {"op": "all_reduce", "dtype": "bfloat16", "count": (GIB // 4 + 6) // 2},
        {"op": "all_reduce", "dtype": "int64", "count": 10_000_019, "reduce": "max"},
        {"op": "broadcast", "dtype": "bfloat16", "count": GIB // 2, "root": 1},
        {"op": "all_gather", "dtype": "float32", "count": 33_554_467},
        {"op": "reduce_scatter", "dtype": "int64", "count": 8_388_617},
        {"op": "all_to_all", "dtype": "float32", "count": 16_777_259},
        {"op": "send_receive", "dtype": "float32", "count": GIB // 4},
    ]


def protocol_checks():
    """For runs with a fixed algorithm and protocol: what those apply to."""
    checks = [{"op": op, "dtype": dtype, "count": count}
              for op in ("all_reduce", "broadcast", "reduce", "all_gather", "reduce_scatter")
              for dtype, count in (("float32", 1), ("bfloat16", 7), ("int64", 1001), ("float32", 65_537),
                                   ("bfloat16", 1_048_573), ("int64", 262_147))]
    return checks + [{"op": "all_reduce", "dtype": "float32", "count": 4_194_319},
                     {"op": "send_receive", "dtype": "float32", "count": 1_048_573},
                     {"op": "many", "dtype": "float32", "count": 200_003, "times": 32}]


MATRIX = (("Ring", "Simple", 1), ("Ring", "Simple", 16), ("Ring", "LL", 2), ("Ring", "LL128", 4),
          ("Tree", "Simple", 4), ("Tree", "LL", 1), ("Tree", "LL128", 8))


def fixed(algorithm, protocol, channels):
    # only the all-reduce has a tree; a tree alone would leave the other operations without any algorithm
    algorithms = "ring;allreduce:tree" if algorithm == "Tree" else algorithm
    return {"NCCL_ALGO": algorithms, "NCCL_PROTO": protocol,
            "NCCL_MIN_NCHANNELS": str(channels), "NCCL_MAX_NCHANNELS": str(channels)}


def operations(setting, report, ranks):
    with Session(setting, report, f"all operations, {ranks} ranks", ranks) as session:
        session.connect()
        session.check(every_operation(SMALL), 60)
        session.check(every_operation(MEDIUM), 60)
        session.check([{"op": "many", "dtype": "float32", "count": 2_000_003, "times": 64}], 40)
        session.check(big(setting.dry_run), 120)


def fewer_ranks(setting, report, ranks):
    with Session(setting, report, f"all operations, {ranks} ranks", ranks) as session:
        session.connect()
        session.check(every_operation((1, 1001, 262_147)), 60)


def protocols(setting, report, ranks, algorithm, protocol, channels):
    name = f"{algorithm} {protocol} {channels} channels"
    with Session(setting, report, name, ranks, fixed(algorithm, protocol, channels)) as session:
        session.connect()
        session.check(protocol_checks(), 60)
        chosen = evidence.choices(session.log(0))
    if setting.dry_run:
        return
    said = ", ".join(f"{f} {a} {p} up to {c}" for (f, a, p), c in sorted(chosen.items()))
    wanted = any(f == "AllReduce" and a == algorithm.upper() and p == protocol.upper() for f, a, p in chosen)
    if chosen and not wanted:
        report.skips(f"{name}: chosen by NCCL", f"NCCL ran something else here: {said}")
    elif chosen:
        report.passes(f"{name}: chosen by NCCL", said)
    else:
        report.skips(f"{name}: chosen by NCCL", "NCCL's log does not tell its choices")


def communicators(setting, report, ranks):
    groups = {"op": "groups", "dtype": "float32", "count": 300_007}
    split = [] if setting.dry_run else [{"op": "split", "dtype": "float32", "count": 100_003}] * 3
    for name, sharing in (("communicators", "0"), ("communicators that share resources", "1")):
        with Session(setting, report, name, ranks, {"NCCL_COMM_SPLIT_SHARE_RESOURCES": sharing}) as session:
            session.connect()
            session.check([groups, *split], 60)
            session.reconnect(eager=False)  # destroyed and made again in the same process, lazily
            session.check([groups, {"op": "all_reduce", "count": 1_048_573}], 60)
            session.reconnect()
            session.check([{"op": "all_reduce", "count": 1_048_573}], 60)


def graph_capture(setting, report, ranks):
    if setting.dry_run:
        report.skips("CUDA graph", "needs a GPU")
        return
    with Session(setting, report, "CUDA graph", ranks) as session:
        session.connect()
        session.check([{"op": "graph", "dtype": dtype, "count": count, "times": 10}
                       for dtype, count in (("float32", 1), ("bfloat16", 1001), ("float32", 1_048_573))], 90)


def training(setting, report, ranks):
    bits = {}
    for name in ("Trigon", "Socket"):
        over_trigon = name == "Trigon"
        environment = FIXED if over_trigon else {**FIXED, "NCCL_NET_PLUGIN": "none", "NCCL_NET": "Socket"}
        with Session(setting, report, f"training over {name}", ranks, environment, over_trigon) as session:
            session.connect()
            answers = session.launch.ask("train", 90, steps=30)
            session.add_payload(answers)
            bits[name] = [(a["losses"], a["parameters"]) for _, a in sorted(answers.items())]
            loss = answers[0]["last_loss"]
    if len(bits) == 2:
        same = bits["Trigon"] == bits["Socket"] and all(b[1] == bits["Trigon"][0][1] for b in bits["Trigon"])
        report.judge("training gives the same bits over both", None if same else f"they differ: {bits}",
                     f"30 losses and all parameters, last loss {loss:.6f}")


def unconfigured(setting, report, ranks):
    name = "without any settings of Trigon"
    if setting.network.kind != "namespaces":
        report.skips(name, "needs network namespaces: on one loopback interface there is nothing to find")
        return
    with Session(setting, report, name, ranks, configured=False) as session:
        session.connect()
        session.check(every_operation((1001, 262_147), ("float32",)), 60)


def correctness(setting, report, ranks, out_of_time):
    steps = [lambda: operations(setting, report, ranks)]
    steps += [lambda c=case: protocols(setting, report, ranks, *c) for case in MATRIX]
    steps += [lambda: communicators(setting, report, ranks), lambda: graph_capture(setting, report, ranks),
              lambda: training(setting, report, ranks), lambda: unconfigured(setting, report, ranks)]
    steps += [lambda n=n: fewer_ranks(setting, report, n) for n in range(2, ranks)]
    for done, step in enumerate(steps):
        if out_of_time():
            report.fails("correctness", f"{len(steps) - done} of {len(steps)} steps not run: the part's time was over")
            return
        try:
            step()
        except LaunchFailed as e:
            report.fails("correctness", str(e))
