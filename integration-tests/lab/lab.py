#!/usr/bin/env python3
"""A throw-away SoftRoCE (rdma_rxe) lab in QEMU.

The guest boots Debian's own kernel with a small initramfs, mounts the host's root directory read-only over 9p (with a
tmpfs overlay on top), loads rdma_rxe and builds one of these topologies:

  one   1 VM.  Three "nodes" a, b, c in one kernel: six rxe devices on three veth pairs; policy routing forces every
        packet over its veth.
  tri   3 VMs. Nodes a, b, c, two virtio NICs each, joined by QEMU sockets.
  none  1 VM.  No links; build your own.

In "one", NODE is only a label ($LAB_NODE in the command's environment): a node is the set of devices it opens. rxe (6.1
and 6.12) does not work inside a network namespace, so the devices have to stay together in the initial one.

Either way the addresses and the device names are the same:

  a-b  10.0.12.0/24   a: 10.0.12.1 rxe_ab    b: 10.0.12.2 rxe_ba
  a-c  10.0.13.0/24   a: 10.0.13.1 rxe_ac    c: 10.0.13.3 rxe_ca
  b-c  10.0.23.0/24   b: 10.0.23.2 rxe_bc    c: 10.0.23.3 rxe_cb

The guest has this machine's processor, or LAB_ARCH's: then its root is one that dist/cross/fetch.sh has brought, with
this project in it at its own place.

GID index 1 of each device is its RoCE v2 IPv4 GID (index 0: IPv6 link-local).
"""

import getopt
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from guest_image import HERE, PROJECT, STATE, LabFailed, Processor, home_of_guest, make_image, note, setting

NODES = "abc"
POLL_SECONDS = 0.05
SHUTDOWN_SECONDS = 5
OUTPUT_BYTES = 1 << 16
INTERRUPTED = 130
LAB_FAILED = 125

RUN = STATE / "run"
HELP = PROJECT / "dist/help/developers/lab.txt"
MAC = "52:54:00:00:"


class WrongUsage(Exception):
    """The command line is none."""


class Interrupted(Exception):
    """By a signal."""


class Machine:
    """A virtual machine, which runs or does not."""

    def __init__(self, name):
        self.name = name
        self.folder = RUN / name
        self.box = self.folder / "box"

    def pid(self):
        """Of its QEMU: ours, and not a recycled number; None if there is none."""
        try:
            pid = int((self.folder / "pid").read_text())
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
        except (OSError, ValueError):
            return None
        return pid if f"{self.folder}/".encode() in command else None

    def console(self, lines):
        try:
            return (self.folder / "console").read_text(errors="replace").splitlines()[-lines:]
        except OSError:
            return []

    def boot(self, topology, processors, nics):
        """Starts it; it is ready later."""
        self.box.mkdir(parents=True)
        for file in ("net", "link"):
            (self.box / file).write_bytes((HERE / f"guest-{file}").read_bytes())
        share = Path(setting("SHARE") or self.folder / "share")
        share.mkdir(parents=True, exist_ok=True)
        share = share.resolve()
        root = home_of_guest()
        (self.box / "conf").write_text(
            f"node={self.name}\ntopo={topology}\nmtu={setting('MTU')}\nmodules='{STATE}/kernel/lib/modules'\n"
            f"share='{share}'\nproject='{'' if root == '/' else PROJECT}'\n")
        processor = Processor.of_guest()
        readonly = "security_model=none,readonly=on,multidevs=remap"
        folders = [f"local,path={root},mount_tag=root,{readonly}",
                   f"local,path={self.box},mount_tag=box,security_model=none",
                   f"local,path={PROJECT},mount_tag=project,{readonly}",
                   f"local,path={share},mount_tag=share,security_model=none"]
        command = [setting("QEMU"), "-accel", setting("ACCEL"), "-cpu", setting("CPU"), "-M", processor.machine,
                   "-smp", processors, "-m", setting("MEM"), "-nodefaults", "-no-user-config", "-display", "none",
                   "-no-reboot", "-kernel", STATE / "vmlinux", "-initrd", STATE / "initramfs.cpio",
                   "-append", f"console={processor.console} quiet panic=-1 oops=panic random.trust_cpu=1 "
                   f"{processor.append} {setting('APPEND')}",
                   "-chardev", f"file,id=con,path={self.folder}/console", "-serial", "chardev:con"]
        for folder in folders:
            command += ["-virtfs", folder]
        command += ["-device", "virtio-rng-pci", *nics, *setting("QEMU_ARGS").split(),
                    "-pidfile", self.folder / "pid", "-daemonize"]
        log = self.folder / "qemu.log"
        with open(log, "wb") as errors:
            started = run_quietly(command, errors)
        if not started:
            raise LabFailed(log.read_text(errors="replace") + "cannot start QEMU")

    def await_ready(self):
        end = time.monotonic() + float(setting("TIMEOUT"))
        while not (self.box / "ready").exists():
            if self.pid() is None or time.monotonic() > end:
                print(*self.console(20), sep="\n", file=sys.stderr)
                raise LabFailed(f"node {self.name} did not come up")
            time.sleep(2 * POLL_SECONDS)


def run_quietly(command, errors):
    try:
        return subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stderr=errors,
                              check=False).returncode == 0
    except OSError as error:
        errors.write(f"{error}\n".encode())
        return False


def machine_of(node):
    """The machine in which a node is: all are in one, or each in its own."""
    try:
        topology = (RUN / "topo").read_text().strip()
    except OSError:
        topology = ""
    return Machine("a" if topology in ("one", "none") else node)


def nic(link, mac, listens, cable):
    """QEMU's words for one end of a cable; the end that listens is started first."""
    return ["-netdev", f"stream,id={link},server={'on' if listens else 'off'},addr.type=unix,addr.path={RUN / cable}",
            "-device", f"virtio-net-pci,netdev={link},mac={MAC}{mac},host_mtu={setting('MTU')},romfile="]


def up(topology="one", *_):
    if topology not in ("one", "tri", "none"):
        raise WrongUsage
    if not (STATE / "initramfs.cpio").exists():
        make_image()
    if any(Machine(node).pid() is not None for node in NODES):
        raise LabFailed("already up (use: down)")
    subprocess.run(["rm", "-rf", RUN], check=True)
    RUN.mkdir(parents=True)
    (RUN / "topo").write_text(topology + "\n")
    try:
        boot(topology)
    except BaseException:
        down()
        raise


def boot(topology):
    """Starts the machines of a topology, and waits until they are ready."""
    if topology != "tri":
        machines = {"a": []}
    else:
        machines = {"a": nic("n12", "12:01", True, "ab") + nic("n13", "13:01", True, "ac"),
                    "b": nic("n12", "12:02", False, "ab") + nic("n23", "23:02", True, "bc"),
                    "c": nic("n13", "13:03", False, "ac") + nic("n23", "23:03", False, "bc")}
    for node, nics in machines.items():
        Machine(node).boot(topology, setting("CPUS") or ("1" if topology == "tri" else "2"), nics)
    for node in machines:
        Machine(node).await_ready()


def down(*_):
    running = [machine for machine in map(Machine, NODES) if machine.pid() is not None]
    for machine in running:
        (machine.box / "poweroff").touch()
    end = time.monotonic() + SHUTDOWN_SECONDS
    for machine in running:
        while (pid := machine.pid()) is not None:
            if time.monotonic() > end:
                note(f"node {machine.name} does not shut down, killing it")
                os.kill(pid, signal.SIGKILL)
                time.sleep(4 * POLL_SECONDS)
                break
            time.sleep(POLL_SECONDS)


def quoted(words):
    return " ".join("'" + word.replace("'", "'\\''") + "'" for word in words)


class Job:
    """A command in the mailbox of a machine: files that the guest's agent reads and writes."""

    def __init__(self, machine, node, limit, command):
        self.machine = machine
        self.folder = machine.box / f"{os.getpid()}-{time.monotonic_ns()}"
        self.folder.mkdir()
        self.next = self.folder / "cmd.tmp"
        self.next.write_text(f"node={node} limit={limit}\ncd {quoted([os.getcwd()])} 2>/dev/null || cd /\n"
                             f"set -- {quoted(command)}\n")
        (self.folder / "out").touch()
        (self.folder / "err").touch()

    def feed(self):
        """Gives it this process's standard input, while it runs."""
        to = open(self.folder / "in", "wb", buffering=0)

        def copy():
            with to:
                while piece := os.read(0, OUTPUT_BYTES):
                    to.write(piece)
            self.end_input()

        threading.Thread(target=copy, daemon=True).start()

    def end_input(self):
        if (self.folder / "in").exists():
            (self.folder / "in.end").touch()

    def run(self):
        """Shows both outputs while it runs; returns its exit status."""
        self.next.rename(self.folder / "cmd")
        with open(self.folder / "out", "rb") as out, open(self.folder / "err", "rb") as err:
            while not (self.folder / "rc").exists():
                show(out, 1)
                show(err, 2)
                if self.machine.pid() is None:
                    print(*self.machine.console(5), sep="\n", file=sys.stderr)
                    raise LabFailed(f"node {self.machine.name} died")
                time.sleep(POLL_SECONDS)
            show(out, 1)
            show(err, 2)
        status = int((self.folder / "rc").read_text())
        subprocess.run(["rm", "-rf", self.folder], check=True)
        return status


def show(file, descriptor):
    while piece := file.read(OUTPUT_BYTES):
        try:
            while piece:
                piece = piece[os.write(descriptor, piece):]
        except BrokenPipeError:
            return  # nobody reads it any more; the command goes on


def options(arguments, known):
    try:
        return getopt.getopt(arguments, known)
    except getopt.GetoptError as error:
        raise WrongUsage from error


def execute(*arguments):
    chosen, words = options(arguments, "it:")
    chosen = dict(chosen)
    if len(words) < 2:
        raise WrongUsage
    node = words[0]
    machine = machine_of(node)
    if machine.pid() is None:
        raise LabFailed(f"node {node} is not up")
    job = Job(machine, node, chosen.get("-t", "600"), words[1:])
    if "-i" in chosen:
        job.feed()
    try:
        return job.run()
    except Interrupted:
        job.end_input()
        raise


def run(*arguments):
    chosen, command = options(arguments, "T:t:n:")
    chosen = dict(chosen)
    if not command:
        raise WrongUsage
    up(chosen.get("-T", "one"))
    try:
        return execute("-t", chosen.get("-t", "600"), chosen.get("-n", "a"), *command)
    finally:
        down()


def link(*arguments):
    if len(arguments) < 3:
        raise WrongUsage
    return execute(arguments[0], "sh", "/run/lab/link", *arguments[1:])


def status(*_):
    for machine in map(Machine, NODES):
        if (pid := machine.pid()) is not None:
            print(f"{machine.name} up, pid {pid}")


def console(node="a", *_):
    sys.stdout.buffer.write((RUN / node / "console").read_bytes())


def usage(*_):
    sys.stdout.write(HELP.read_text())


COMMANDS = {"setup": make_image, "up": up, "exec": execute, "run": run, "down": down, "status": status, "link": link,
            "console": console, "help": usage, "-h": usage, "--help": usage}


def interrupt(*_):
    raise Interrupted


def main():
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, interrupt)
    try:
        command = COMMANDS.get(sys.argv[1] if len(sys.argv) > 1 else "")
        if command is None:
            raise WrongUsage
        return command(*sys.argv[2:]) or 0
    except WrongUsage:
        sys.stderr.write(HELP.read_text())
        return 2
    except Interrupted:
        return INTERRUPTED
    except (LabFailed, subprocess.CalledProcessError, OSError) as error:
        note(str(error))
        return LAB_FAILED


if __name__ == "__main__":
    sys.exit(main())
