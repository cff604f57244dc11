"""Tests of what judges NCCL, on any machine: python3 -m unittest -v

Those of the patterns need PyTorch.
"""

import contextlib
import importlib.util
import io
import itertools
import json
import os
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path
from types import SimpleNamespace

import calls
import evidence
import main
import network
import policies
import restarts
import sharing
import speed
import table
import tune
import turns
from cluster import Launch, Setting

HAVE_TORCH = importlib.util.find_spec("torch") is not None
PREFIX = "host:12:34 [0] NCCL INFO "
GOOD_LOG = "\n".join(PREFIX + line for line in (
    "NET/Plugin: Loaded net plugin Trigon (v11)",
    "Using network Trigon",
    "NET/Trigon : Trigon 0.1.0 in /opt/trigon, Java 25.0.1 on a",
    "NET/Trigon : sends to b 10.0.12.2 via to_b 10.0.12.1/24 (TCP), same subnet /24: TCP, 10 Gb/s",
    "Channel 00/0 : 2[0] -> 0[0] [receive] via NET/Trigon/0",
    "Channel 00/0 : 0[0] -> 1[0] [send] via NET/Trigon/0",
    "2 coll channels, 2 collnet channels, 0 nvls channels, 2 p2p channels, 2 p2p channels per peer",
    "AllReduce: 4 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..0}",
    "AllReduce: 4194304 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..1}",
    "NET/Trigon : to_b 10.0.12.1/24 (TCP): 3 messages, 100 bytes sent and received so far",
    "NET/Trigon : to_b 10.0.12.1/24 (TCP): 8 messages, 1234 bytes sent and received so far",
    "NET/Trigon : to_c 10.0.13.1/24 (TCP): 1 messages, 66 bytes sent and received so far"))


class Evidence(unittest.TestCase):
    def test_accepts_a_log_that_proves_the_payload(self):
        problem, said = evidence.judge_log(GOOD_LOG, 1300)
        self.assertIsNone(problem)
        self.assertIn("Loaded net plugin Trigon (v11)", said)

    def test_the_last_counter_of_a_link_counts(self):
        self.assertIn("1300 bytes, at least 1301", evidence.judge_log(GOOD_LOG, 1301)[0])

    def test_rejects_a_log_of_another_network(self):
        self.assertIn("does not name Trigon", evidence.judge_log(PREFIX + "Using network Socket", 0)[0])

    def test_rejects_channels_that_go_elsewhere(self):
        log = GOOD_LOG + "\n" + PREFIX + "Channel 01/0 : 0[0] -> 1[0] via P2P/CUMEM"
        self.assertIn("P2P/CUMEM", evidence.judge_log(log, 0)[0])

    def test_rejects_a_log_without_counters(self):
        self.assertIn("no counters", evidence.judge_log(PREFIX + "Using network Trigon", 0)[0])

    def test_a_rank_with_a_file_does_not_pass_as_one_without_settings(self):
        without = PREFIX + "NET/Trigon : file: none (TRIGON_CONFIG is not set)"
        self.assertIsNone(evidence.judge_unconfigured([without, without]))
        self.assertIn("rank 1", evidence.judge_unconfigured([without, PREFIX + "NET/Trigon : file: /x.yaml"]))

    def test_reads_what_nccl_chose(self):
        self.assertEqual(evidence.choices(GOOD_LOG), {("AllReduce", "RING", "LL"): 2})
        self.assertEqual((evidence.channels(GOOD_LOG), evidence.api_version(GOOD_LOG)), (2, "v11"))

    def test_ranks_that_made_unlike_channels_are_noticed(self):
        line = PREFIX + "4 coll channels, 4 collnet channels, 0 nvls channels, 4 p2p channels, {} p2p channels per peer"
        self.assertEqual(evidence.judge_agreed([line.format(1)] * 2)[0], None)
        self.assertIn("differ", evidence.judge_agreed([line.format(1), line.format(2)])[0])
        self.assertIn("does not tell", evidence.judge_agreed([line.format(1), ""])[0])

    def test_the_kernel_must_have_seen_the_payload_on_the_cables(self):
        before, after = {"to_b": 100, "mgmt0": 0}, {"to_b": 5100, "mgmt0": 10, "lo": 7}
        self.assertIsNone(evidence.judge_counters(before, after, 5000)[0])
        self.assertIn("5000 bytes on the cables", evidence.judge_counters(before, after, 5001)[0])
        after["mgmt0"] = 10**9
        self.assertIn("management", evidence.judge_counters(before, after, 5000)[0])


class Policies(unittest.TestCase):
    DECIDED = {8: policies.Decided(), 4096: policies.Decided(("TREE", "SIMPLE")),
               65_536: policies.Decided(("RING", "LL128"), 2)}

    def taken(self, *lines):
        return evidence.all_reduces("\n".join(
            f"{PREFIX}{function}: {size} Bytes -> Algo {algorithm} proto {protocol} channel{{Lo..Hi}}={{0..{last}}}"
            for function, size, algorithm, protocol, last in lines))

    def good(self):
        return [("AllReduce", 8, "RING", "LL", 0), ("Broadcast", 4096, "RING", "LL", 0),
                ("AllReduce", 4096, "TREE", "SIMPLE", 3), ("AllReduce", 65_536, "RING", "LL128", 1)]

    def test_what_nccl_took_is_what_was_decided(self):
        problem, said = policies.compare(self.DECIDED, self.taken(*self.good()), 0)
        self.assertIsNone(problem)
        self.assertEqual(said, "8 B RING-LL 1 (by NCCL), 4096 B TREE-SIMPLE 4, 65536 B RING-LL128 2; "
                         "0 that NCCL cannot do")

    def test_another_choice_or_more_channels_or_no_all_reduce_is_noticed(self):
        other, more = self.good(), self.good()
        other[3] = ("AllReduce", 65_536, "RING", "LL", 1)
        more[3] = ("AllReduce", 65_536, "RING", "LL128", 2)
        self.assertIn("decided ('RING', 'LL128'), NCCL took ('RING', 'LL')",
                      policies.compare(self.DECIDED, self.taken(*other), 0)[0])
        self.assertIsNone(policies.compare(self.DECIDED, self.taken(*other), 1)[0], "its table of costs has it not")
        self.assertIn("decided 2 channels, NCCL took 3", policies.compare(self.DECIDED, self.taken(*more), 1)[0])
        self.assertIn("no all-reduce of [65536]", policies.compare(self.DECIDED, self.taken(*self.good()[:3]), 0)[0])

    def test_steady_all_reduces_have_one_choice(self):
        one = ("AllReduce", policies.STEADY_BYTES, "TREE", "SIMPLE", 0)
        other = ("AllReduce", policies.STEADY_BYTES, "RING", "SIMPLE", 0)
        decided = policies.Decided(("TREE", "SIMPLE"))
        self.assertIsNone(policies.judge_choice(decided, self.taken(one, ("AllReduce", 4, "RING", "LL", 0), one))[0])
        self.assertIn("RING-SIMPLE, TREE-SIMPLE", policies.judge_choice(decided, self.taken(one, other))[0])
        self.assertIn("none", policies.judge_choice(decided, [])[0])

    def test_the_commands_words_are_nccls(self):
        said = {"algorithm": "nvls tree", "protocol": "Simple", "channels": None, "inJob": "nvls tree, Simple (with)"}
        self.assertEqual(policies.Decided.of(said).pair, ("NVLS_TREE", "SIMPLE"))
        self.assertFalse(policies.Decided.of({**said, "inJob": "left to NCCL; NCCL has no such"}))
        channels = policies.Decided.of({**said, "algorithm": None, "protocol": None, "channels": 4})
        self.assertEqual((channels.pair, channels.channels, bool(channels)), (None, 4, True))
        self.assertFalse(policies.Decided.of({"inJob": "left to NCCL"}))

    @staticmethod
    def process(sha256="ab" * 32, decided=3, left=1, impossible=0, stopped=0, communicators=1):
        return {"stopped": stopped, "communicators": communicators * [
            {"sha256": sha256, "decided": decided, "leftToNccl": left, "impossible": impossible}]}

    def test_all_ranks_decide_by_one_version_as_often(self):
        same, sha256 = self.process(), "ab" * 32
        problem, said = evidence.judge_alike({1: same, 2: same}, 2, sha256, True)
        self.assertIsNone(problem)
        self.assertIn("abababababab: 3 decided, 1 left to NCCL", said)
        for other in (self.process(decided=4), self.process(sha256="cd" * 32), self.process(communicators=0)):
            self.assertIn("ranks differ", evidence.judge_alike({1: same, 2: other}, 2, sha256)[0])
        self.assertIn("1 of 2 ranks", evidence.judge_alike({1: same}, 2, sha256)[0])
        self.assertIn("instead of cdcd", evidence.judge_alike({1: same}, 1, "cd" * 32)[0])
        self.assertIn("instead of NCCL", evidence.judge_alike({1: same}, 1, None)[0])
        self.assertIn("has decided", evidence.judge_alike({1: same}, 1, sha256, False)[0])
        self.assertIn("has not decided", evidence.judge_alike({1: self.process(decided=0)}, 1, sha256, True)[0])
        self.assertIn("stopped", evidence.judge_alike({1: self.process(stopped=1)}, 1, sha256)[0])
        self.assertIsNone(evidence.judge_alike({1: self.process(communicators=0)}, 1, None)[0])

    def test_ranks_that_did_not_do_as_many_or_got_it_wrong_are_noticed(self):
        good = {"rounds": 7, "wrong": None, "slowest_s": 0.002}
        self.assertEqual(policies.judge_steady({0: good, 1: good})[0], None)
        self.assertIn("[7, 8]", policies.judge_steady({0: good, 1: {**good, "rounds": 8}})[0])
        self.assertIn("rank 1: no", policies.judge_steady({0: good, 1: {**good, "wrong": "no"}})[0])


class Calls(unittest.TestCase):
    def setUp(self):
        self.expected = (calls.EXPECTED / "v11.txt").read_text()

    def test_number_and_length_of_messages_are_each_programs_own(self):
        made = (self.expected.replace("(messages 0 to 15)", "(messages 0 to 16)").replace("size=524288", "size=4")
                .replace("524288 bytes\n", "4 bytes\n").replace("*request=stale", "*request=null"))
        self.assertNotEqual(made, self.expected)
        self.assertIsNone(calls.differences(self.expected, made))

    def test_another_argument_order_or_thread_is_noticed(self):
        for old, new in (("tag=own rank", "tag=neither rank"), ("bytes=4915200", "bytes=4096"),
                         ("mr 2 step", "mr 2+64"), ("service   closeRecv", "init      closeRecv"),
                         ("init      devices -> 1\n", "")):
            self.assertIn(old, self.expected)
            self.assertIsNotNone(calls.differences(self.expected, self.expected.replace(old, new)), old)



class Turns(unittest.TestCase):
    class Launch:
        def __init__(self):
            self.asked = []

        def ask(self, _, __, **what):
            self.asked.append(what)
            return {rank: {"seconds": len(self.asked) + rank} for rank in (0, 1)}

    def test_the_slowest_rank_counts_and_only_the_first_sample_is_warmed_up(self):
        launch, samples = self.Launch(), {"Trigon": []}
        how = turns.sampling(8)
        turns.take({"Trigon": launch}, 8, 0, samples)
        turns.take({"Trigon": launch}, 8, 1, samples)
        self.assertEqual(samples["Trigon"], [each + 2 for each in range(2 * how.rounds)])
        self.assertEqual([a["warmup"] for a in launch.asked], [how.first] + [how.between] * (2 * how.rounds - 1))


class Speed(unittest.TestCase):
    def launch(self, step, factor):
        return {"passes": [[factor * (number + 1.0) for _ in speed.SIZES] for number in range(speed.PASSES)],
                "decode": [factor * 1.0 for _ in speed.DECODE_SIZES], "step": step, "init_s": 1.0, "first_s": 0.1,
                "rss_mib": 300, "threads": 30, "channels": 4}

    def test_is_the_median_of_the_launches(self):
        found = speed.summary([self.launch(3, 1), self.launch(1, 9), self.launch(2, 5)])
        self.assertEqual((found["step"], found["channels"]), (2, 4))
        self.assertEqual([each[0] for each in found["passes"]], [5, 10, 15])
        self.assertEqual(found["decode"], [5] * len(speed.DECODE_SIZES))

    def test_trigon_must_have_carried_it_and_the_others_not(self):
        self.assertIn("this was meant to go without Trigon",
                      speed.wrong_transport("Socket 1x1", "NCCL INFO NET/Plugin: Loaded net plugin Trigon (v11)"))
        self.assertIsNone(speed.wrong_transport("Socket 1x1", ""))
        self.assertIsNotNone(speed.wrong_transport("Trigon, no failover", ""))


class Table(unittest.TestCase):
    def results(self):
        variants = {name: {"passes": [[first], [9.0], [last]], "decode": [last / 2], "step": 0.0125,
                           "init_s": 1, "first_s": 0.1, "rss_mib": 300, "threads": 30, "channels": channels}
                    for name, first, last, channels in (
                        ("Trigon", 2e-3, 1e-3, 4), ("Trigon, no failover", 1e-3, 5e-4, 4),
                        ("Socket 1x1", 1e-3, 2e-3, 2), ("Socket 4x4", 4e-3, 5e-4, None))}
        return {"machine": {"processor": "P", "processors": 64, "kernel": "6", "driver": "580"}, "network": "veth",
                "gpus": "a GPU for each", "ranks": 2, "processors_a_node": 8, "sizes": [1 << 20],
                "decode_sizes": [48 << 10], "variants": variants}

    def test_compares_with_the_best_of_nccls_own_in_the_same_pass(self):
        text = table.render(self.results())
        self.assertIn("| 1 MiB | 2000 (2.00) | 1000 (1.00) | 1000 | 2.00 | 1000 (2.00) | 500 (1.00) | 500 | 2.00 |",
                      text)
        self.assertIn("| 48 KiB | 500 (2.00) | 250 (1.00) | 250 | 2.00 |", text)
        self.assertIn("| Socket 4x4 | 12.50 ms | 1.00 s | 0.10 s | 300 MiB | 30 | - |", text)
        self.assertIn("P, 64 processors, 8 a node, Linux 6", text)

    def test_a_dry_run_says_so(self):
        self.assertNotIn("dry run", table.render(self.results()))
        self.assertIn("dry run", table.render({**self.results(), "dry_run": True}))

    def test_names_sizes(self):
        self.assertEqual([table.size(n) for n in (8, 2048, 1 << 20, 3 << 19)], ["8 B", "2 KiB", "1 MiB", "1536 KiB"])


class Tune(unittest.TestCase):
    RANK = """
import json, os, sys
replies = os.fdopen(int(os.environ["REPLIES_FD"]), "w")
print(os.environ["TRIGON_POLICY"], os.environ["TRIGON_TRACE"], flush=True)
for line in sys.stdin:
    do = json.loads(line)["do"]
    print(do, flush=True)
    replies.write(json.dumps({"ok": do != os.environ["BAD"], "error": do + " was bad"}) + "\\n")
"""

    def run_job(self, bad):
        with tempfile.TemporaryDirectory() as folder:
            ranks = [{"command": [sys.executable, "-c", self.RANK], "environment": {"BAD": bad if rank else ""},
                      "log": f"{folder}/{rank}", "processors": sorted(os.sched_getaffinity(0))} for rank in (0, 1)]
            job = Path(folder, "job.json")
            job.write_text(json.dumps({"ranks": ranks, "times": [[8, 20]]}))
            with unittest.mock.patch.dict(os.environ, {"TRIGON_POLICY": "p.o", "TRIGON_TRACE": "traces"}):
                problem = tune.launch_job(job)
            return problem, [Path(rank["log"]).read_text().split() for rank in ranks]

    def test_each_rank_of_the_job_gets_policy_trace_and_commands(self):
        problem, logs = self.run_job("nothing")
        self.assertIsNone(problem)
        self.assertEqual(logs, [["p.o", "traces", "warm", "connect", "measure", "disconnect", "exit"]] * 2)

    def test_a_rank_that_fails_fails_the_job(self):
        self.assertEqual(self.run_job("measure")[0], "measure was bad")

    def test_its_end_is_a_policy_or_a_word_that_nothing_was_faster(self):
        self.assertIsNone(tune.judge(0, "export TRIGON_POLICY=/t.o", True))
        nothing = "Nothing was written: no choice was faster by enough, in 9 collectives."
        self.assertIsNone(tune.judge(0, nothing, False))
        self.assertIn("was not loaded", tune.judge(0, nothing + " Each was run in one\nway only, as", False))
        self.assertIn("exit status 1", tune.judge(1, "it crashed", False))
        self.assertIn("no word why", tune.judge(0, "", False))


class Restarts(unittest.TestCase):
    def said(self, **last):
        end = {"ended_at": restarts.STEPS, "parameters": [1, 2]}
        return [[{"first": 0}, {"first": 40}, end],
                [{"first": 0}, {"killed_at": restarts.KILLED_AT}, {"first": 40}, {**end, **last}]]

    def test_accepts_a_training_that_goes_on(self):
        self.assertIsNone(restarts.judge(self.said()))

    def test_rejects_what_proves_nothing(self):
        said = self.said()
        del said[1][1]
        self.assertIn("no rank was killed", restarts.judge(said))
        said = self.said()
        said[0][1]["first"] = 0
        self.assertIn("not start twice", restarts.judge(said))
        self.assertIn("did not end", restarts.judge(self.said(ended_at=41)))
        self.assertIn("different parameters", restarts.judge(self.said(parameters=[1, 3])))


class Sharing(unittest.TestCase):
    def test_one_gpu_each_needs_nothing(self):
        shared = sharing.open_sharing(2, 2, "speed")
        self.assertEqual((shared.environment, shared.describe()), ({}, "a GPU for each"))

    def test_without_the_service_the_nodes_take_turns_and_that_is_said(self):
        with self.path_with(None):
            self.assertIn("times mean nothing", sharing.open_sharing(4, 2, "speed").describe())

    def test_the_service_runs_in_a_folder_of_its_own_and_is_ended(self):
        with self.path_with('echo "$@ $(cat)" >> "$CUDA_MPS_PIPE_DIRECTORY"/../said') as folder:
            shared = sharing.open_sharing(4, 2, "speed")
            pipes = Path(shared.environment["CUDA_MPS_PIPE_DIRECTORY"])
            self.assertTrue(pipes.is_dir())
            shared.close()
            self.assertFalse(pipes.exists())
            self.assertEqual((pipes.parent / "said").read_text().split(), ["-d", "quit", "-t", "5"])

    def test_a_service_that_does_not_start_is_said(self):
        with self.path_with("echo no device >&2; exit 1"):
            self.assertIn("no device", sharing.open_sharing(4, 2, "speed").describe())

    def test_where_ranks_are_killed_there_is_no_service(self):
        with self.path_with("exit 0"):
            self.assertIn("take turns", sharing.open_sharing(4, 2, "faults").describe())

    def test_nodes_have_their_own_processors(self):
        setting = Setting(Path("."), network.Loopback(3), Path("."), True, sharing.Turns(3, 2))
        setting.processors = list(range(4, 18))
        self.assertEqual([setting.processors_of(node) for node in "abc"],
                         [[4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]])
        self.assertEqual([setting.gpu(rank) for rank in range(3)], [setting.gpus[0], setting.gpus[1], setting.gpus[0]])
        setting.processors = [0, 1]
        self.assertEqual(setting.processors_of("c"), [0, 1])

    @contextlib.contextmanager
    def path_with(self, script):
        """A PATH where the service's control program is that script, or is not, and a folder for temporary files."""
        with tempfile.TemporaryDirectory() as folder:
            if script is not None:
                control = Path(folder) / sharing.CONTROL
                control.write_text(f"#!/bin/sh\n{script}\n")
                control.chmod(0o755)
            old, temporary = os.environ["PATH"], tempfile.tempdir
            os.environ["PATH"] = f"{folder}:/usr/bin:/bin"
            tempfile.tempdir = folder
            try:
                yield folder
            finally:
                os.environ["PATH"], tempfile.tempdir = old, temporary


class Settings(unittest.TestCase):
    def test_reach_the_launches_that_have_any(self):
        args = main.arguments([".", "2", "--dry-run", "--set", "TRIGON_STRIPES=all", "--set", "TRIGON_LINKS=software"])
        setting = Setting(Path("."), network.Loopback(2), Path("."), True, sharing.Turns(2, 2), dict(args.settings))
        with tempfile.TemporaryDirectory() as folder:
            launch = Launch.__new__(Launch)  # without its processes
            launch.setting, launch.ranks, launch.nodes, launch.key = setting, 2, "ab", None
            launch.directory, launch.config = Path(folder), Path(folder, "trigon.yaml")
            with_file = launch._environment(1, {}, True)
            without = launch._environment(1, {}, False)
        self.assertEqual((with_file["TRIGON_STRIPES"], with_file["TRIGON_LINKS"]), ("all", "software"))
        self.assertEqual([name for name in without if name.startswith("TRIGON_")], [])

    def test_are_trigons(self):
        for wrong, why in (("NCCL_ALGO=Ring", "is no setting of Trigon"), ("TRIGON_STRIPES", "is no setting of Trigon"),
                           ("TRIGON_NODE=b", "is the harness's own")):
            with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()) as said:
                main.arguments([".", "2", "--dry-run", "--set", wrong])
            self.assertIn(why, said.getvalue())


@unittest.skipUnless(HAVE_TORCH, "needs PyTorch")
class Patterns(unittest.TestCase):
    def setUp(self):
        import operations
        import patterns
        import torch
        self.patterns, self.torch, self.operations = patterns, torch, operations

    def test_all_types_add_exactly(self):
        for dtype in self.patterns.MODULUS:
            exact = self.patterns.combined(list(range(8)), 5, dtype, 1000)
            tensors = [self.patterns.numbers(r, 5, dtype, 1000).to(dtype) for r in range(8)]
            self.assertTrue(self.torch.equal(sum(tensors[1:], tensors[0]).long(), exact), dtype)

    def test_finds_one_wrong_element_wherever_it_is(self):
        pattern = self.patterns.source(1, 2, self.torch.float32, self.patterns.PERIOD, "cpu")
        tensor = self.torch.empty(2 * self.patterns.PERIOD + 5)
        pattern.fill(tensor, 3)
        self.assertIsNone(pattern.check(tensor, 3))
        self.assertIsNotNone(pattern.check(tensor, 4))
        for index in (0, self.patterns.PERIOD, tensor.numel() - 1):
            kept = tensor[index].item()
            tensor[index] = -1
            self.assertIn(f"[{index}]: got -1", pattern.check(tensor, 3))
            tensor[index] = kept

    def test_ranks_checks_and_shifts_differ(self):
        blocks = [self.patterns.numbers(r, s, self.torch.float32, 4096) for r in range(4) for s in (1, 2)]
        for one, other in itertools.combinations(blocks, 2):
            self.assertLess((one == other).float().mean().item(), 0.01)
        self.assertLess((blocks[0][512:] == blocks[0][:-512]).float().mean().item(), 0.01)

    def test_a_collective_that_does_nothing_is_noticed(self):
        """With the communication taken out, every check must fail."""
        dist = self.operations.dist
        rank = SimpleNamespace(rank=0, ranks=3, device="cpu", synchronize=lambda: None)
        done = SimpleNamespace(wait=lambda: None)
        names = ("all_reduce", "reduce", "all_gather_into_tensor", "reduce_scatter_tensor", "all_to_all_single",
                 "batch_isend_irecv", "send", "recv", "gather", "scatter", "broadcast", "P2POp")
        kept = {name: getattr(dist, name) for name in names}
        try:
            for name in names:
                setattr(dist, name, lambda *_, **__: done)
            dist.batch_isend_irecv = lambda _: []
            for operation in ("all_reduce", "reduce", "all_gather", "reduce_scatter", "all_to_all", "all_to_all_uneven",
                              "send_receive", "send_alone", "gather", "scatter", "many", "broadcast"):
                spec = {"op": operation, "count": 999, "root": 1 if operation in ("broadcast", "scatter") else 0,
                        "times": 3}
                self.assertIsNotNone(self.operations.run(rank, spec, 0)[0], operation)
        finally:
            for name, function in kept.items():
                setattr(dist, name, function)



if __name__ == "__main__":
    unittest.main()
