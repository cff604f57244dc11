"""The wheel's entry points, in a venv of its own, as vLLM and SGLang find and call them. Needs no network."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
import venv
import zipfile
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
SERVER = """
import importlib.metadata, json, os, sys
group = sys.argv[1]
every = importlib.metadata.entry_points()
points = every.select(group=group) if hasattr(every, "select") else every.get(group, [])
before = set(sys.modules)
for point in points:
    point.load()()
print(json.dumps({"names": [point.name for point in points], "new": sorted(set(sys.modules) - before),
                  "variables": {name: value for name, value in os.environ.items() if name.startswith("NCCL_")}}))
"""


class EntryPoints(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="trigon-entry-points-")
        cls.addClassCleanup(cls.temporary.cleanup)
        folder = Path(cls.temporary.name)
        distribution = folder / "distribution"
        (distribution / "lib").mkdir(parents=True)
        (distribution / "LICENSE").write_text("none")
        (distribution / "THIRD-PARTY.txt").write_text("none\nApache-2.0 AND MIT\n")
        (distribution / "lib/libnccl-net-trigon.so").write_text("none")
        made = subprocess.run([sys.executable, PACKAGE / "wheel.py", distribution, PACKAGE / "python", "1.2.3", "2.34",
                               "x86_64", folder, "0"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
        venv.create(folder / "venv", with_pip=False)
        cls.python = folder / "venv/bin/python"
        site = subprocess.run([cls.python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], check=True,
                              stdout=subprocess.PIPE, text=True).stdout.strip()
        zipfile.ZipFile(made).extractall(site)
        cls.plugin = os.path.join(os.path.realpath(site), "trigon_nccl/distribution/lib/libnccl-net-trigon.so")

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="trigon-entry-points-")
        self.addCleanup(self.folder.cleanup)
        self.home = Path(self.folder.name)

    def serve(self, group="vllm.general_plugins", **variables):
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), **variables}
        done = subprocess.run([self.python, "-c", SERVER, group], env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(0, done.returncode, done.stdout)
        said = json.loads(done.stdout)
        self.assertEqual(["trigon"], said["names"])
        self.assertLessEqual(set(said["new"]), {"trigon_nccl"}, "os is all that it imports")
        return said["variables"]

    def test_sets_what_nobody_has_set(self):
        expected = {"NCCL_NET_PLUGIN": self.plugin, "NCCL_NET_PLUGIN_REF_COUNT": "1"}
        self.assertEqual(expected, self.serve("vllm.general_plugins"))
        self.assertEqual(expected, self.serve("sglang.srt.plugins"))

    def test_leaves_the_environment(self):
        self.assertEqual({"NCCL_NET_PLUGIN": "none", "NCCL_NET_PLUGIN_REF_COUNT": "0"},
                         self.serve(NCCL_NET_PLUGIN="none", NCCL_NET_PLUGIN_REF_COUNT="0"))
        self.assertEqual({"NCCL_NET": "IB"}, self.serve(NCCL_NET="IB"))
        self.assertEqual(self.plugin, self.serve(NCCL_NET="trigon")["NCCL_NET_PLUGIN"])

    def test_leaves_the_files(self):
        conf = self.home / ".nccl.conf"
        conf.write_text("# NCCL_NET=IB\nNCCL_NET_PLUGIN=other\n")
        self.assertEqual({"NCCL_NET_PLUGIN_REF_COUNT": "1"}, self.serve())
        named = self.home / "named.conf"
        named.write_text("NCCL_NET=Socket")
        self.assertEqual({"NCCL_CONF_FILE": str(named)}, self.serve(NCCL_CONF_FILE=str(named)))

    def test_replaces_the_path_of_another_node(self):
        self.assertEqual(self.plugin,
                         self.serve(NCCL_NET_PLUGIN="/nowhere/lib/libnccl-net-trigon.so")["NCCL_NET_PLUGIN"])
        here = self.home / "libnccl-net-trigon.so"
        here.write_text("none")
        self.assertEqual(str(here), self.serve(NCCL_NET_PLUGIN=str(here))["NCCL_NET_PLUGIN"])
        self.assertEqual("trigon", self.serve(NCCL_NET_PLUGIN="trigon")["NCCL_NET_PLUGIN"])

    def test_raises_nothing(self):
        (self.home / ".nccl.conf").write_bytes(b"\xff\x00=\xfe\nNCCL_NET_PLUGIN")
        self.assertEqual(self.plugin, self.serve()["NCCL_NET_PLUGIN"])
        (self.home / ".nccl.conf").unlink()
        (self.home / ".nccl.conf").mkdir()
        self.assertEqual(self.plugin, self.serve()["NCCL_NET_PLUGIN"])


if __name__ == "__main__":
    unittest.main()
