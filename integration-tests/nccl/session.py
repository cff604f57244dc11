"""One launch from its start to its proof: connect, exercise, disconnect, end, and look at the evidence."""

import evidence
from cluster import Launch, LaunchFailed, free_port, trigon


class Session:
    """A launch over Trigon whose end is judged: every rank's log, Trigon's counters, the kernel's counters.

    Use as a context manager; an exception inside becomes a failure in the report.
    """

    def __init__(self, setting, report, name, ranks, environment=None, over_trigon=True, proved=True, **options):
        self.setting, self.report, self.name, self.over_trigon = setting, report, name, over_trigon
        self.proved = proved and over_trigon and not setting.dry_run
        self.payload = [0] * ranks
        own = trigon(setting) if over_trigon else {}
        self.launch = Launch(setting, name, ranks, {**own, **(environment or {})}, **options)
        self.ranks = ranks
        self.before = None

    def __enter__(self):
        try:
            self.launch.await_ready()
        except BaseException:
            self.launch.kill()
            raise
        if self.proved:
            self.before = [self.setting.network.counters(node) for node in self.launch.nodes]
        return self

    def connect(self, within=90, **arguments):
        self.launch.ask("warm", within)
        return self.launch.ask("connect", within, port=free_port(), **arguments)

    def reconnect(self, within=60, **arguments):
        self.launch.ask("disconnect", within)
        return self.launch.ask("connect", within, port=free_port(), **arguments)

    def check(self, checks, within):
        """Runs checks on all ranks; each one passes if it is right everywhere."""
        answers = self.launch.ask("check", within, checks=checks)
        self.add_payload(answers)
        passed = 0
        for index, spec in enumerate(checks):
            wrong = {rank: a["results"][index]["wrong"] for rank, a in answers.items() if a["results"][index]["wrong"]}
            if wrong:
                self.report.fails(f"{self.name}: {describe(spec)}",
                                  "; ".join(f"rank {r}: {w}" for r, w in wrong.items()))
            else:
                passed += 1
        slowest = max(range(len(checks)), key=lambda i: answers[0]["results"][i]["seconds"])
        total = sum(result["seconds"] for result in answers[0]["results"])
        if passed:
            self.report.passes(
                self.name, f"{passed} checks, every element right on every rank, {total:.1f} s "
                f"(slowest: {describe(checks[slowest])}, {answers[0]['results'][slowest]['seconds']:.1f} s)", passed)

    def add_payload(self, answers):
        for rank, answer in answers.items():
            self.payload[rank] += answer["payload"]

    def __exit__(self, kind, error, trace):
        if isinstance(error, LaunchFailed):
            self.report.fails(self.name, str(error))
        elif error is None:
            try:
                self.launch.ask("disconnect", 60)
                self.report.judge(f"{self.name}: ends", self.launch.stop(), "every rank, with exit status 0")
                if self.proved:
                    self.prove()
            except LaunchFailed as e:
                self.report.fails(f"{self.name}: ends", str(e))
        self.launch.kill()
        return isinstance(error, LaunchFailed)

    def log(self, rank):
        try:
            return self.launch.nccl_log(rank).read_text(errors="replace")
        except OSError:
            return ""

    def prove(self):
        problems, said = [], ""
        for rank, node in enumerate(self.launch.nodes):
            problem, words = evidence.judge_log(self.log(rank), self.payload[rank])
            if problem is None and self.before[rank] is not None:
                after = self.setting.network.counters(node)
                problem, counted = evidence.judge_counters(self.before[rank], after, self.payload[rank])
                words += f"; kernel: {counted}"
            if problem:
                problems.append(f"rank {rank}: {problem}")
            said += f"\n           rank {rank} (at least {self.payload[rank]} bytes): {words}"
        self.report.judge(f"{self.name}: Trigon carried it", "; ".join(problems) or None, said)


def describe(spec):
    rest = " ".join(f"{k} {v}" for k, v in spec.items() if k not in ("op", "dtype", "count"))
    return f"{spec['op']} {spec.get('dtype', 'float32')} x {spec['count']}{' ' + rest if rest else ''}"
