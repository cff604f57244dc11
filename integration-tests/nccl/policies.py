"""Policies: NCCL asks, takes the decision, and says so; a new version comes while all-reduces run."""

import json
import shutil
import subprocess
import time

import evidence
from cluster import HERE
from session import Session

COUNTS = (2, 256, 8192, 16_384, 131_072, 1_048_576, 8_388_608)  # of float32
EXAMPLES = ("few_neighbours", "hierarchy", "size_aware")
# the tests' programs: seven as people wrote them for NCCLbpf, and one that is refused
PROGRAMS = HERE.parents[1] / "policy" / "engine" / "src" / "test" / "c"
STEADY_BYTES, STEADY_SECONDS = 65_536, 6
# NCCL counts ranks that share no memory as nodes of their own. Its newer ways to share it pass descriptors by sockets,
# which do not reach another network namespace.
ONE_NODE = {"NCCL_HOSTID": "trigon-one-node", "NCCL_SHM_DISABLE": "0",
            "NCCL_CUMEM_ENABLE": "0", "NCCL_CUMEM_HOST_ENABLE": "0"}
SAID_WITHIN_SECONDS = 15  # processes say every half second what they decided


def policies(setting, report, ranks, out_of_time):
    """A job that begins with one policy, and has the others put in its place, one after the other."""
    if setting.dry_run:
        report.say("gloo asks no tuner: what the ranks do is tried, and what the commands say")
    if not (setting.distribution / "bin" / "trigon").is_file():
        report.skips("policies", f"no {setting.distribution}/bin/trigon")
        return
    known = verified(setting, report)
    job, alone = Job(setting, report, "policies", ranks, known[0], ranks), None
    try:
        if one_host(setting, report, ranks):  # its processes load PyTorch meanwhile
            alone = Job(setting, report, "policies of one node", ranks, known[0], 1)
        with job:
            for policy in known:
                if out_of_time():
                    report.fails(f"policy {policy}", "not run: the part's time was over")
                else:
                    job.go_on_with(policy)
            named = {policy.path.stem: policy for policy in known}
            reload_under_load(job, named["few_neighbours"], named["ncclbpf_safe_by_size"])
        if alone:
            with alone:
                for policy in filter(lambda each: each.advisory, known):
                    alone.go_on_with(policy)
    finally:
        job.launch.kill()
        if alone:
            alone.launch.kill()


def one_host(setting, report, ranks):
    """Whether the ranks may be one host's for NCCL: it takes a GPU that two of them name for a mistake."""
    if not setting.dry_run and setting.sharing.gpus >= ranks:
        return True
    report.skips("policies of one node", "needs NCCL, and a GPU for each rank")
    return False


def examples(setting):
    return setting.distribution / "policy" / "examples"


def asked(setting, policy):
    return {"NCCL_TUNER_PLUGIN": setting.plugin(), "TRIGON_POLICY": str(policy)}


def command(setting, *arguments):
    return subprocess.run([setting.distribution / "bin" / "trigon", "policy", *arguments],
                          capture_output=True, text=True, timeout=60)


def said_by(done):
    return f"exit status {done.returncode}: {(done.stderr or done.stdout).strip()[-2000:]}"


class Policy:
    """A file. advisory: ranks of one node agree first, and on several nodes NCCL decides."""

    def __init__(self, path, sha256, advisory):
        self.path, self.sha256, self.advisory = path, sha256, advisory

    def __str__(self):
        return self.path.stem


def verified(setting, report):
    """The policies to try, which the command has to accept."""
    files = [*sorted(PROGRAMS.glob("ncclbpf_safe_*.o")), *(examples(setting) / f"{name}.o" for name in EXAMPLES),
             *(sorted(setting.policies.glob("*.o")) if setting.policies else ())]
    done = command(setting, "verify", "--json", *files)
    found = json.loads(done.stdout)["files"]
    refused = "; ".join(f"{each['file']}: {each['reason']}" for each in found if not each["accepted"])
    report.judge("policies: accepted", refused or None, ", ".join(file.stem for file in files))
    return [Policy(file, each["sha256"], any(program["advisory"] for program in each["programs"]))
            for file, each in zip(files, found) if each["accepted"]]


class Job(Session):
    """Ranks with a policy's file of their own, in whose place others come.

    nodes: on how many NCCL believes the ranks to be, 1 or as many as there are. Those of one share memory, and Trigon
    carries nothing for them.
    """

    def __init__(self, setting, report, name, ranks, first, nodes):
        self.file = setting.out / f"{name.replace(' ', '-')}.o"
        shutil.copyfile(first.path, self.file)
        self.file.chmod(0o644)
        self.nodes, self.connected, self.marks = nodes, False, [0] * ranks
        one = ONE_NODE if nodes == 1 else {}
        super().__init__(setting, report, name, ranks, {**asked(setting, self.file), **one}, proved=nodes > 1)

    def go_on_with(self, policy):
        """A communicator that begins with it: right, decided by it on all ranks, and as NCCL says."""
        self.load(policy)
        self.begin()
        self.check([{"op": "all_reduce", "count": count} for count in COUNTS], 60)
        decided = decisions(self.setting, policy.path, self.ranks, self.nodes, [4 * count for count in COUNTS])
        if self.setting.dry_run:
            return
        if policy.advisory and self.nodes > 1:
            self.left_to_nccl(policy)
            return
        stat = self.judge_all(policy, policy.sha256, any(decided.values()))
        self.report.judge(f"{self.name}, {policy}: taken",
                          *compare(decided, evidence.all_reduces(self.news(0)), impossible(stat)))

    def left_to_nccl(self, policy):
        silent = [str(rank) for rank in range(self.ranks) if f"policy {self.file.name} is advisory" not in
                  self.news(rank)]
        self.report.judge(f"{self.name}, {policy}: advisory, so NCCL decides",
                          f"no line of the log says so, on rank {', '.join(silent)}" if silent else None)
        self.judge_all(policy, None, None)

    def judge_all(self, policy, sha256, decides):
        """What all ranks say of their decisions, once they have caught up."""
        deadline, problem = time.monotonic() + SAID_WITHIN_SECONDS, "none"
        while problem and time.monotonic() < deadline:
            stat = self.stat()
            problem, said = evidence.judge_alike(stat, self.ranks, sha256, decides)
        self.report.judge(f"{self.name}, {policy}: on all ranks", problem, said)
        return stat

    def begin(self):
        """The next communicator; its part of the log begins here."""
        self.marks = [len(self.log(rank)) for rank in range(self.ranks)]
        if self.connected:
            self.reconnect()
        else:
            self.connect()
        self.connected = True

    def news(self, rank):
        return self.log(rank)[self.marks[rank]:]

    def load(self, policy):
        """Puts it in the place of what the ranks have; each of them has to say that it has it."""
        done = command(self.setting, "load", policy.path, self.file)
        self.report.judge(f"{self.name}, {policy}: loaded", said_by(done) if done.returncode else None)

    def stat(self):
        """What the ranks' processes say of their policies: {pid: report}."""
        done = command(self.setting, "stat", "--json")
        own = {process.pid for process in self.launch.processes}
        every = [] if done.returncode else json.loads(done.stdout)["processes"]
        return {each["pid"]: each for each in every if each["pid"] in own}


def reload_under_load(job, before, after):
    """All-reduces go on by the version that their communicator began with; the next one's go by the new version."""
    name = f"{job.name}: a new version under load"
    job.load(before)
    job.begin()
    steady(job, name, STEADY_SECONDS, lambda: replace(job, name, after))
    if job.setting.dry_run:
        return
    job.judge_all(before, before.sha256, True)
    job.report.judge(f"{name}: the communicator keeps its own", *steady_choice(job, before))
    job.begin()
    steady(job, f"{name}, the next communicator", 1, lambda: None)
    job.judge_all(after, after.sha256, True)
    job.report.judge(f"{name}: the next communicator has it", *steady_choice(job, after))


def replace(job, name, policy):
    job.load(policy)
    refused = command(job.setting, "load", PROGRAMS / "unsafe_null_check.o", job.file)
    took = not refused.returncode or "NULL_CHECK" not in refused.stdout + refused.stderr
    job.report.judge(f"{name}: a bad one is refused", said_by(refused) if took else None, "nothing was changed")


def steady(job, name, seconds, meanwhile):
    """All-reduces on all ranks; meanwhile: what is done once they run."""
    job.launch.ask("steady", seconds + 60, bytes=STEADY_BYTES, seconds=seconds)  # that they run
    meanwhile()
    answers = job.launch.collect(seconds + 60)
    job.launch.require("steady", answers)
    job.add_payload(answers)
    job.report.judge(name, *judge_steady(answers))


def judge_steady(answers):
    rounds = {answer["rounds"] for answer in answers.values()}
    wrong = {rank: answer["wrong"] for rank, answer in answers.items() if answer["wrong"]}
    if wrong:
        return "; ".join(f"rank {rank}: {what}" for rank, what in wrong.items()), ""
    if len(rounds) != 1:
        return f"ranks did not do as many: {sorted(rounds)}", ""
    slowest = max(answer["slowest_s"] for answer in answers.values())
    return None, f"{rounds.pop()} all-reduces of {STEADY_BYTES} B, all right, the slowest took {slowest * 1e3:.1f} ms"


def steady_choice(job, policy):
    decided = decisions(job.setting, policy.path, job.ranks, job.nodes, [STEADY_BYTES])[STEADY_BYTES]
    return judge_choice(decided, evidence.all_reduces(job.news(0)))


def judge_choice(decided, taken):
    """Whether NCCL did all steady all-reduces by one choice, the policy's: (problem or None, what they were)."""
    found = {each.pair for each in taken if each.bytes == STEADY_BYTES}
    said = ", ".join("-".join(each) for each in sorted(found)) or "none"
    if found != {decided.pair}:
        return f"decided {decided.pair}, NCCL took {said}", said
    return None, f"{said}, each time"


class Decided:
    """What a policy says of a size. pair: algorithm and protocol, or None; channels: or None."""

    def __init__(self, pair=None, channels=None):
        self.pair, self.channels = pair, channels

    def __bool__(self):
        return self.pair is not None or self.channels is not None

    @staticmethod
    def of(each):
        """Of what the command says: a pair that no NCCL has is none."""
        pair = (each.get("algorithm"), each.get("protocol"))
        has = all(pair) and each["inJob"].startswith(pair[0])
        return Decided(tuple(part.upper().replace(" ", "_") for part in pair) if has else None,
                       each.get("channels"))


def decisions(setting, policy, ranks, nodes, sizes):
    """What the command says that the policy decides: {bytes: Decided}."""
    done = command(setting, "test", policy, "--json", "--ranks", str(ranks), "--nodes", str(nodes), "--collective",
                   "all-reduce", "--sizes", ",".join(map(str, sizes)))
    done.check_returncode()
    return {each["bytes"]: Decided.of(each) for each in json.loads(done.stdout)["decisions"]}


def impossible(stat):
    """How many decisions NCCL could not follow, on the rank that has most of them."""
    return max((sum(each["impossible"] for each in process["communicators"]) for process in stat.values()), default=0)


def compare(decided, all_reduces, impossible):
    """Each decision is taken, but for those that Trigon counted as beyond NCCL: its table of costs has them not."""
    taken = {each.bytes: each for each in all_reduces}
    missing = [size for size in decided if size not in taken]
    if missing:
        return f"NCCL's log has no all-reduce of {missing} B", ""
    passed_over = [f"{size} B: decided {decision.pair}, NCCL took {taken[size].pair}"
                   for size, decision in decided.items() if decision.pair and taken[size].pair != decision.pair]
    too_many = [f"{size} B: decided {decision.channels} channels, NCCL took {taken[size].channels}"
                for size, decision in decided.items()
                if decision.channels and taken[size].channels > decision.channels]
    said = ", ".join(f"{size} B {'-'.join(taken[size].pair)} {taken[size].channels}"
                     + ("" if decision.pair else " (by NCCL)") for size, decision in decided.items())
    problems = too_many + (passed_over if len(passed_over) > impossible else [])
    return "; ".join(problems) or None, f"{said}; {impossible} that NCCL cannot do"
