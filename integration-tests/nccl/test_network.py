"""Tests of the networks that NCCL is tried on: python3 -m unittest -v test_network

Those of the namespaces need root and the program ip, which IP_PROGRAM may name. With TRIGON_DISTRIBUTION set, the
distribution's own host program, which plays NCCL, runs in the namespaces and its log is judged.
"""

import contextlib
import io
import itertools
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import evidence
import network
import simulated

IP = os.environ.get("IP_PROGRAM", "ip")


class Addresses(unittest.TestCase):
    def test_writes_a_subnet_per_cable(self):
        self.assertEqual(network.Loopback(3).yaml("abc"), (
            "version: 1\nlinks: software\nnodes:\n"
            "  a: {nics: [{address: 127.0.12.1/24}, {address: 127.0.13.1/24}]}\n"
            "  b: {nics: [{address: 127.0.12.2/24}, {address: 127.0.23.2/24}]}\n"
            "  c: {nics: [{address: 127.0.13.3/24}, {address: 127.0.23.3/24}]}\n"))


@unittest.skipUnless(os.geteuid() == 0, "needs root")
class NoNamespaces(unittest.TestCase):
    """What a user sees where namespaces cannot be had."""

    def program(self, text):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = Path(folder.name) / "ip"
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)
        return str(path)

    def fallback(self, ip):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            net = network.open_network(2, "auto", ip)
        self.assertEqual(net.kind, "loopback")
        return said.getvalue()

    def test_without_ip_it_says_how_to_get_one(self):
        self.assertIn("no '/nonexistent/ip'; portable-ip.sh", self.fallback("/nonexistent/ip"))

    def test_a_forbidden_namespace_is_named(self):
        ip = self.program("echo 'mount --make-shared /run/netns failed: Operation not permitted' >&2; exit 1")
        said = self.fallback(ip)
        self.assertIn("netns add", said)
        self.assertIn("Operation not permitted", said)
        self.assertIn("using loopback addresses instead", said)

    def test_a_kernel_without_veth_is_named_and_leaves_nothing(self):
        log = self.program("")
        ip = self.program(f'''echo "$@" >>{log}
case "$*" in *"type veth"*) echo "Error: Unknown device type." >&2; exit 2 ;; esac
[ "$2" != exec ] || {{ shift 3; [ "$1" = sh ] || exec "$@"; }}
''')
        self.assertIn("type veth peer name port_a", (said := self.fallback(ip)))
        self.assertIn("Unknown device type", said)
        calls = Path(log).read_text().splitlines()
        added = [call.split()[-1] for call in calls if call.startswith("netns add")]
        deleted = [call.split()[-1] for call in calls if call.startswith("netns delete")]
        self.assertEqual(len(added), 3)
        self.assertEqual(added, deleted)

    def test_wanting_namespaces_is_then_an_error(self):
        with self.assertRaisesRegex(network.NetworkUnavailable, "portable-ip.sh"):
            network.open_network(2, "namespaces", "/nonexistent/ip")


class Ring:
    """Trigon's own host program, in a network's namespaces."""

    @unittest.skipUnless(os.environ.get("TRIGON_DISTRIBUTION"), "needs TRIGON_DISTRIBUTION")
    def test_trigon_moves_data_over_the_cables(self):
        for configured in (True, False):
            with self.subTest(configured=configured), tempfile.TemporaryDirectory() as scratch:
                self.ring(Path(scratch), configured)

    def ring(self, scratch, configured):
        home = Path(os.environ["TRIGON_DISTRIBUTION"]).resolve()
        size, iterations = 4_000_000, 5
        (scratch / "rendezvous").mkdir()
        (scratch / "trigon.yaml").write_text(self.network.yaml("abc"))
        before = {node: self.network.counters(node) for node in "abc"}
        processes = []
        for rank, node in enumerate("abc"):
            environment = {**os.environ, **self.network.environment, "NCCL_DEBUG": "INFO"}
            if configured:
                environment |= {"TRIGON_CONFIG": str(scratch / "trigon.yaml"), "TRIGON_NODE": node}
            command = [*self.network.prefix(node), str(home / "libexec/nccl-host"),
                       "--plugin", str(home / "lib/libnccl-net-trigon.so"), "--rank", str(rank), "--ranks", "3",
                       "--rendezvous", str(scratch / "rendezvous"), "--bytes", str(size),
                       "--iterations", str(iterations), "--timeout", "60"]
            with open(scratch / f"{node}.log", "wb") as log:
                processes.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log))
        codes = [process.wait(120) for process in processes]
        logs = {node: (scratch / f"{node}.log").read_text() for node in "abc"}
        self.assertEqual(codes, [0, 0, 0], logs)
        for node in "abc":
            payload = 2 * size * iterations
            counted = sum(count for _, count in evidence.traffic(logs[node]).values())
            self.assertGreaterEqual(counted, payload)
            self.assertIsNone(evidence.judge_counters(before[node], self.network.counters(node), payload)[0])

    @unittest.skipUnless(os.environ.get("TRIGON_DISTRIBUTION"), "needs TRIGON_DISTRIBUTION")
    def test_all_that_may_fail_can_be_mended(self):
        with tempfile.TemporaryDirectory() as scratch:
            self.ring(Path(scratch), True)  # the fabric has its devices then
            for fault in self.network.faults("a", "b", 0):
                with self.subTest(fault.what):
                    fault.plant()
                    fault.mend()
            shutil.rmtree(Path(scratch) / "rendezvous")
            self.ring(Path(scratch), True)


class Namespaces(Ring, unittest.TestCase):
    def setUp(self):
        try:
            self.network = network.Namespaces(3, IP)
        except network.NetworkUnavailable as e:
            self.skipTest(str(e))
        self.addCleanup(self.network.close)

    def reach(self, node, address):
        command = [*self.network.prefix(node), "bash", "-c", f"timeout 2 bash -c 'echo </dev/tcp/{address}/9' 2>&1"]
        return "refused" in subprocess.run(command, capture_output=True, text=True, timeout=10, check=False).stdout

    def test_a_cable_reaches_exactly_its_two_nodes(self):
        self.assertTrue(self.reach("a", "10.0.12.2"))
        self.assertTrue(self.reach("a", "10.0.13.3"))
        self.assertFalse(self.reach("a", "10.0.23.2"))

    def test_a_fault_stops_the_cable_until_it_is_mended(self):
        for fault in self.network.faults("a", "b", 0):
            with self.subTest(fault.what):
                fault.plant()
                self.assertFalse(self.reach("a", "10.0.12.2"))
                self.assertTrue(self.reach("a", "10.0.13.3"))
                fault.mend()
                self.assertTrue(any(self.reach("a", "10.0.12.2") for _ in range(10)))

    def test_nodes_reach_each_other_for_the_bootstrap(self):
        for node, other in itertools.permutations("abc", 2):
            self.assertTrue(self.reach(node, f"10.99.{network.number(other)}.1"), (node, other))

    def test_routes_make_all_addresses_reachable_over_the_cable_to_their_node(self):
        self.network.route_to_all_addresses()
        self.assertTrue(self.reach("a", "10.0.23.2"))
        # not by the counters: IPv6 talks on every new interface
        self.assertIn("dev to_b", self.network.inside("a", self.network.ip, "route", "get", "10.0.23.2"))

    @unittest.skipUnless(shutil.which("ip"), "needs ip on the PATH, to copy it")
    def test_a_copy_of_ip_does_it_too(self):
        self.network.close()  # the namespaces' names would be the same
        with tempfile.TemporaryDirectory() as folder:
            script = [str(Path(__file__).with_name("portable-ip.sh")), f"{folder}/new"]
            subprocess.run(script, check=True, capture_output=True, timeout=60)
            copied = network.Namespaces(2, f"{folder}/new/ip")
            try:
                self.assertEqual(copied.inside("a", "sh", "-c", "echo $PPID $LD_LIBRARY_PATH").strip(),
                                 str(os.getpid()))
            finally:
                copied.close()
            again = subprocess.run(script, check=False, capture_output=True, text=True, timeout=60)
            self.assertEqual((again.returncode, "is not empty" in again.stderr), (1, True))

    def test_closing_removes_everything(self):
        self.network.close()
        self.assertNotIn(self.network.base, network.run(self.network.ip, "netns", "list"))


class Simulated(Ring, unittest.TestCase):
    def setUp(self):
        try:
            self.network = simulated.Simulated(3, simulated.BUILT, IP)
        except network.NetworkUnavailable as e:
            self.skipTest(str(e))
        self.addCleanup(self.network.close)

    def test_each_interface_is_a_device(self):
        self.assertIn("  b: {nics: [{device: to_a, address: 10.0.12.2/24}, {device: to_c, address: 10.0.23.2/24}]}",
                      self.network.yaml("abc"))
        found = subprocess.run([*self.network.prefix("b"), "ls", "/sys/class/infiniband"], capture_output=True,
                               text=True, timeout=20, check=True, env={**os.environ, **self.network.environment})
        self.assertEqual(found.stdout.split(), ["to_a", "to_c"])


if __name__ == "__main__":
    unittest.main()
