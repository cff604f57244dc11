#!/usr/bin/env python3
"""A newcomer's walk, from a clone to an uninstalled package, with a verdict for each step.

Nodes are network namespaces with cables that nobody has given addresses, and a management network. The package is
installed in a mount namespace, so that this machine stays as it is. Needs root, Debian's tools, and what a build needs.
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from nodes import MANAGEMENT, Nodes

PROJECT = Path(__file__).resolve().parents[2]
INSIDE = "WALK_IN_OWN_MOUNTS"
CHANGED_BY_PACKAGES = ("/usr", "/opt", "/etc", "/var")
BUILD_SECONDS = 1800
COMMAND_SECONDS = 240
LOG_SECONDS = 60
TAIL = 15


class StepFailed(Exception):
    """A step did not do what it should; the message says what it did instead."""


def run(*command, allowed=(0,), seconds=COMMAND_SECONDS, cwd=None):
    """What the command has printed, both streams together."""
    words = [str(word) for word in command]
    try:
        done = subprocess.run(words, cwd=cwd, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=seconds, check=False)
    except subprocess.TimeoutExpired as late:
        raise StepFailed(f"{shlex.join(words)}: no end within {seconds} s") from late
    if done.returncode not in allowed:
        end = "\n".join(done.stdout.splitlines()[-TAIL:])
        raise StepFailed(f"{shlex.join(words)} ended with {done.returncode}:\n{end}")
    return done.stdout


def expect(text, *patterns):
    """Fails with the text unless it has all of these regular expressions; returns the first group of the last one."""
    found = None
    for pattern in patterns:
        found = re.search(pattern, text)
        if not found:
            end = "\n".join(text.splitlines()[-TAIL:])
            raise StepFailed(f"expected {pattern!r} in:\n{end}")
    return found.group(found.lastindex or 0) if found else ""


class Walk:
    """The steps, in their order. Each returns a sentence for its verdict."""

    def __init__(self, folder, checkout):
        self.folder = Path(folder)
        self.checkout = Path(checkout) if checkout else self.folder / "trigon"
        self.cloned = checkout is None
        self.package = None
        self.nodes = None
        self.plan = self.folder / "plan"

    def steps(self):
        return [(step.__name__, step) for step in (
            self.clone, self.demo, self.package_deb, self.install, self.three_nodes, self.doctor_before,
            self.plan_addresses, self.doctor_after, self.bench, self.enable, self.cut, self.support, self.uninstall)]

    def clone(self):
        if not self.cloned:
            return f"left out: {self.checkout} is used as it is"
        run("git", "clone", "--quiet", "--depth", "1", f"file://{PROJECT}", self.checkout)
        return f"{PROJECT} as it is committed"

    def demo(self):
        text = run("./trigon", "demo", seconds=BUILD_SECONDS, cwd=self.checkout)
        expect(text, "sends to b 127", "Every element was right on every rank")
        return "three ranks, every element right"

    def package_deb(self):
        text = run("./trigon", "package", "deb", seconds=BUILD_SECONDS, cwd=self.checkout)
        packages = sorted((self.checkout / "dist/target/packages").glob("trigon_*.deb"), key=os.path.getmtime)
        if not packages:
            raise StepFailed(f"no package was made:\n{text}")
        self.package = packages[-1]
        return f"{self.package.name}, {self.package.stat().st_size >> 20} MB"

    def install(self):
        run("dpkg", "--install", self.package)
        return expect(run("trigon", "--version"), r"(Trigon \S+ for [^\s,]+)")

    def three_nodes(self):
        self.nodes = Nodes(self.folder, "a b c")
        for one, other in (("a:eth1", "b:eth1"), ("a:eth2", "c:eth1"), ("b:eth2", "c:eth2")):
            self.nodes.cable(one, other)
        return "three cables without addresses, and a management network"

    def on(self, node, *command, **options):
        return run(self.nodes.via, node, *command, **options)

    def doctor(self, *options, nodes="a,b,c", allowed=(0,)):
        return self.on("a", "trigon", "doctor", "--nodes", nodes, "--via", self.nodes.via, *options, allowed=allowed)

    def doctor_before(self):
        text = self.doctor("--cables", self.folder / "cables.yaml", allowed=(0, 1))
        expect(text, r"a eth1 +b eth1", r"a eth2 +c eth1", r"b eth2 +c eth2")
        listed = (self.folder / "cables.yaml").read_text()
        expect(listed, "a:eth1 b:eth1", "a:eth2 c:eth1", "b:eth2 c:eth2")
        return "finds the three cables, and writes them to a file"

    def plan_addresses(self):
        self.on("a", "trigon", "plan", self.folder / "cables.yaml", "--write", self.plan)
        refused = self.on("a", self.plan / "b/apply.sh", allowed=(1,))
        expect(refused, "this is for the node b, and this machine is called a; nothing was done")
        for node in self.nodes.names:
            self.on(node, self.plan / node / "apply.sh")
        return "applied on each node by its own script; another node's is refused"

    def doctor_after(self):
        expect(self.doctor(), r"a +- +2/2 +2/2", "No problems found")
        by_address = self.doctor(nodes=f"a,{MANAGEMENT}.2,c")
        expect(by_address, r"\n +a +b +c\n", "No problems found")
        return "nothing is wrong, both networks work in all directions; nodes have their host names"

    def bench(self):
        text = self.on("a", "trigon", "bench", "--nodes", "a,b,c", "--via", self.nodes.via, "--sizes", "64K,1M",
                       allowed=(0, 1))  # 1 where the processors keep a cable from its promise
        expect(text, r"sends to b 10\.77\.", r"all-reduce +all 3 +1 MiB")
        return "all-reduce of 1 MiB: " + expect(text, r"all-reduce +all 3 +1 MiB +\d+ +[\d.]+ +([\d.]+)") + " GB/s"

    def enable(self):
        """The nodes share /etc."""
        expect(self.on("a", "trigon", "enable"), "/etc/nccl.conf: written")
        expect(self.on("b", "trigon", "enable"), "/etc/nccl.conf: has these lines")
        return "NCCL's file says what jobs need; again changes nothing"

    def cut(self):
        home = Path(run("readlink", "-f", shutil.which("trigon")).strip()).parents[1]
        (self.folder / "meet").mkdir()
        until = self.folder / "until"
        ranks = []
        try:
            for rank, node in enumerate(self.nodes.names):
                log = open(self.folder / f"{node}.log", "w")
                ranks.append(subprocess.Popen(
                    [self.nodes.via, node, "env", "NCCL_DEBUG=INFO", str(home / "libexec/nccl-host"),
                     "--rank", str(rank), "--ranks", "3", "--rendezvous",
                     str(self.folder / "meet"), "--bytes", "1048576", "--iterations", "100000000", "--until",
                     str(until), "--timeout", "120"], stdin=subprocess.DEVNULL, stdout=log, stderr=log))
                log.close()
            self.await_log(ranks, "sends to .* via eth1")
            self.nodes.ip("a", "link set eth1 down")
            self.await_log(ranks, "the connection to .* goes on over")
            expect(run("trigon", "jobs"), "TCP, down", "link left")
            self.nodes.ip("a", "link set eth1 up")
            self.await_log(ranks, "the connection to .* returns to")
            until.touch()
            for rank in ranks:
                if rank.wait(COMMAND_SECONDS):
                    raise StepFailed("a rank failed; its log is in " + str(self.folder))
        finally:
            for rank in ranks:
                rank.kill()
        pause = expect(self.log(), r"goes on over .* after (\d+ ms)")
        expect(self.log(), r"rank 0: .* 0 wrong")
        return f"the job paused for {pause}, went on and came back; 0 wrong"

    def log(self):
        return (self.folder / "a.log").read_text(errors="replace")

    def await_log(self, ranks, pattern):
        """Until node a's log has a line."""
        end = time.monotonic() + LOG_SECONDS
        while not re.search(pattern, self.log()):
            if time.monotonic() > end or any(rank.poll() is not None for rank in ranks):
                raise StepFailed(f"no {pattern!r} in the log of a within {LOG_SECONDS} s:\n{self.log()[-2000:]}")
            time.sleep(0.1)

    def support(self):
        archive = self.folder / "support.zip"
        self.on("a", "trigon", "support", "--output", archive, "--log", self.folder / "a.log", allowed=(0, 1))
        names = run(sys.executable, "-m", "zipfile", "--list", archive)
        expect(names, "a.log", "doctor", "links")
        return f"{archive.stat().st_size >> 10} KB, with logs and what doctor says"

    def uninstall(self):
        run("trigon", "disable")
        run("dpkg", "--purge", "trigon")
        written = ("/opt/trigon", "/usr/bin/trigon", "/etc/nccl.conf", "/etc/rccl.conf")
        left = [path for path in (*written, *Path("/dev/shm").glob("trigon*")) if Path(path).exists()]
        if left:
            raise StepFailed("left behind: " + ", ".join(str(path) for path in left))
        return "nothing is left"


def walk(folder, checkout):
    """Runs all steps; returns the exit status."""
    steps = Walk(folder, checkout)
    failed = ""
    try:
        for name, step in steps.steps():
            label = name.replace("_", " ")
            if failed:
                print(f"not reached     {label}", flush=True)
                continue
            begin = time.monotonic()
            try:
                verdict = "ok", step()
            except (StepFailed, subprocess.SubprocessError) as error:
                failed = label
                verdict = "FAILED", str(error)
            print(f"{verdict[0]:<7} {time.monotonic() - begin:4.0f} s  {label}: {verdict[1]}", flush=True)
    finally:
        if steps.nodes:
            steps.nodes.close()
    return 1 if failed else 0


def in_own_mounts(program, arguments):
    """Starts this again where what packages change is a copy that goes with it."""
    script = ["set -e"]
    for number, path in enumerate(CHANGED_BY_PACKAGES):
        layer = f"/mnt/{number}"
        script.append(f"mkdir -p {layer}/upper {layer}/work && mount -t overlay overlay -o "
                      f"lowerdir={path},upperdir={layer}/upper,workdir={layer}/work {path}")
    script.append('exec "$@"')
    os.environ[INSIDE] = "yes"
    # what is left in /dev/shm is of this walk, and not of others on this machine
    empty = "mount -t tmpfs tmpfs /mnt && mount -t tmpfs tmpfs /dev/shm || exit\n"
    os.execvp("unshare", ["unshare", "--mount", "bash", "-c", empty + "\n".join(script), "bash",
                          sys.executable, program, *arguments])


def main():
    parser = argparse.ArgumentParser(prog="./trigon walk", description=__doc__.splitlines()[0])
    parser.add_argument("--checkout", metavar="FOLDER", help="use this checkout instead of a fresh clone")
    options = parser.parse_args()
    if os.geteuid():
        parser.error("needs root, for network namespaces")
    missing = [tool for tool in ("ip", "unshare", "dpkg", "git") if not shutil.which(tool)]
    if missing:
        parser.error("needs " + ", ".join(missing))
    if INSIDE not in os.environ:
        in_own_mounts(__file__, sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="trigon-walk-") as folder:
        return walk(folder, options.checkout)


if __name__ == "__main__":
    sys.exit(main())
