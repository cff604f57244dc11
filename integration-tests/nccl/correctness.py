"""The smoke part and the correctness part."""

import evidence
from cluster import LaunchFailed, sockets
from session import Session

ALL = ("all_reduce", "reduce", "broadcast", "all_gather", "reduce_scatter", "all_to_all", "all_to_all_uneven",
       "send_receive", "send_alone", "gather", "scatter")
TYPES = ("float32", "bfloat16", "int64")
SMALL = (1, 2, 3, 7, 127, 1000, 4097)
MEDIUM = (65_537, 262_144, 1_048_573)
GIB = 1 << 30
FIXED = {"NCCL_ALGO": "Ring", "NCCL_PROTO": "Simple", "NCCL_MIN_NCHANNELS": "2", "NCCL_MAX_NCHANNELS": "2",
         "TRIGON_TUNING": "off"}


def smoke(setting, report, ranks, _):
    with Session(setting, report, f"smoke, {ranks} ranks", ranks) as session:
        answers = session.connect()
        report.passes("communicator", "made in " + ", ".join(f"{a['init_s']:.1f} s" for a in answers.values()))
        session.check([{"op": "all_reduce", "dtype": dtype, "count": count}
                       for count in (1, 1000, 262_144, 16_777_259) for dtype in TYPES], 90)
    if setting.network.kind == "namespaces":
        with Session(setting, report, UNCONFIGURED, ranks, configured=False) as session:
            unconfigured(session)
    else:
        report.skips(UNCONFIGURED, NOTHING_TO_FIND)


UNCONFIGURED = "without any settings of Trigon"
NOTHING_TO_FIND = "on one loopback interface there is nothing to find"


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
            "NCCL_MIN_NCHANNELS": str(channels), "NCCL_MAX_NCHANNELS": str(channels), "TRIGON_TUNING": "off"}


class Step:
    """One launch of the part: how its processes start, and what they do then."""

    def __init__(self, name, ranks, body, environment=None, **options):
        self.name, self.ranks, self.body, self.environment, self.options = name, ranks, body, environment, options

    def start(self, setting, report):
        return Session(setting, report, self.name, self.ranks, self.environment, **self.options)


def operations(session):
    session.connect()
    session.check(every_operation(SMALL), 60)
    session.check(every_operation(MEDIUM), 60)
    session.check([{"op": "many", "dtype": "float32", "count": 2_000_003, "times": 64}], 40)
    session.check(big(session.setting.dry_run), 120)


def fewer_ranks(session):
    session.connect()
    session.check(every_operation((1, 1001, 262_147)), 60)


def protocol(session, algorithm, protocol):
    """The checks, and whether NCCL did as it was told: it may refuse a protocol on a platform."""
    session.connect()
    session.check(protocol_checks(), 60)
    if session.setting.dry_run:
        return
    name = f"{session.name}: chosen by NCCL"
    chosen = evidence.choices(session.log(0))
    said = ", ".join(f"{f} {a} {p} up to {c}" for (f, a, p), c in sorted(chosen.items()))
    if not chosen:
        session.report.skips(name, "NCCL's log does not tell its choices")
    elif ("AllReduce", algorithm.upper(), protocol.upper()) in chosen:
        session.report.passes(name, said)
    else:
        session.report.skips(name, f"NCCL ran something else here: {said}")


def communicators(session):
    groups = {"op": "groups", "dtype": "float32", "count": 300_007}
    split = [] if session.setting.dry_run else [{"op": "split", "dtype": "float32", "count": 100_003}] * 3
    session.connect()
    session.check([groups, *split], 60)
    session.reconnect(eager=False)  # destroyed and made again in the same process, lazily
    session.check([groups, {"op": "all_reduce", "count": 1_048_573}], 60)
    session.reconnect()
    session.check([{"op": "all_reduce", "count": 1_048_573}], 60)


def graph_capture(session):
    session.connect()
    session.check([{"op": "graph", "dtype": dtype, "count": count, "times": 10}
                   for dtype, count in (("float32", 1), ("bfloat16", 1001), ("float32", 1_048_573))], 90)


def training(session, bits):
    """bits collects every run's exact losses and parameters; the second run is compared with the first."""
    session.connect()
    answers = session.launch.ask("train", 90, steps=30)
    session.add_payload(answers)
    bits.append([(answer["losses"], answer["parameters"]) for _, answer in sorted(answers.items())])
    if len(bits) == 2:
        same = bits[0] == bits[1] and all(one[1] == bits[0][0][1] for one in bits[0])
        session.report.judge("training gives the same bits over Trigon and over sockets",
                             None if same else f"they differ: {bits}",
                             f"30 losses and all parameters, last loss {answers[0]['last_loss']:.6f}")


def unconfigured(session):
    session.connect()
    session.check(every_operation((1001, 262_147), ("float32",)), 60)
    if not session.setting.dry_run:
        logs = [session.log(rank) for rank in range(session.ranks)]
        session.report.judge(f"{session.name}: none was there", evidence.judge_unconfigured(logs))


def plan(setting, report, ranks):
    steps = [Step(f"all operations, {ranks} ranks", ranks, operations)]
    for algorithm, proto, channels in MATRIX:
        steps.append(Step(f"{algorithm} {proto} {channels} channels", ranks,
                          lambda session, a=algorithm, p=proto: protocol(session, a, p),
                          fixed(algorithm, proto, channels)))
    steps += [Step("communicators", ranks, communicators),
              Step("communicators that share resources", ranks, communicators,
                   {"NCCL_COMM_SPLIT_SHARE_RESOURCES": "1"})]
    if setting.dry_run:
        report.skips("CUDA graph", "needs a GPU")
    else:
        steps.append(Step("CUDA graph", ranks, graph_capture))
    bits = []
    steps += [Step("training over Trigon", ranks, lambda session: training(session, bits), FIXED),
              Step("training over sockets", ranks, lambda session: training(session, bits),
                   {**FIXED, **sockets(1, 1)}, over_trigon=False)]
    if setting.network.kind == "namespaces":
        steps.append(Step(UNCONFIGURED, ranks, unconfigured, configured=False))
    else:
        report.skips(UNCONFIGURED, NOTHING_TO_FIND)
    return steps + [Step(f"all operations, {n} ranks", n, fewer_ranks) for n in range(2, ranks)]


def correctness(setting, report, ranks, out_of_time):
    steps = plan(setting, report, ranks)
    following = steps[0].start(setting, report)
    for index, step in enumerate(steps):
        session = following
        # the next step's processes load PyTorch meanwhile, and touch neither GPU nor network before their turn
        following = steps[index + 1].start(setting, report) if index + 1 < len(steps) else None
        try:
            with session:
                step.body(session)
        except LaunchFailed as e:
            report.fails(step.name, str(e))
        except BaseException:
            if following:
                following.launch.kill()
            raise
        if following and out_of_time():
            following.launch.kill()
            report.fails("correctness", f"{len(steps) - index - 1} of {len(steps)} steps not run: no time left")
            return
