#!/usr/bin/env python3
"""Runs the benchmarks; "./trigon benchmarks help" says what there is. Results are JSON files below
testing/benchmarks/target/results.

What is run has to be built: "./trigon benchmarks" sees to that, and "bench.py pack" makes an archive of it for other
machines.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import tables

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[1]
NATIVE = HERE / "target/native"
FAKE_SYSFS = PROJECT / "testing/simulated-device/fake-sysfs.sh"
DEVICE = NATIVE / "simulated/libibverbs.so.1"
DISTRIBUTION = PROJECT / "dist/target/trigon"
RESULTS = Path(os.path.abspath(os.environ.get("TRIGON_BENCH_RESULTS") or HERE / "target/results"))
PLUGIN = DISTRIBUTION / "lib/libnccl-net-trigon.so"
# Trigon's work requests as a plugin of their own, so the instant device alone
ALONE = NATIVE / "libfloor.so"
EVERYTHING = ("instant", "growth", "links", "steady", "tables")
HELP = PROJECT / "dist/help/developers/benchmarks.txt"
QUICK = ("--samples", "3", "--sample-seconds", "0.001", "--warmup-seconds", "0.01", "--setup-seconds", "0.05",
         "--test-seconds", "0.01")
TAIL = 20


class BenchFailed(Exception):
    """A benchmark cannot be run, or has failed; the message says why."""


def built(file):
    """What Maven and CMake make; returns it."""
    if not file.exists():
        raise BenchFailed(f"no {file}; ./trigon benchmarks builds it, unless <infiniband/verbs.h> is missing: install"
                          " libibverbs-dev")
    return file


def note(text):
    print(f"trigon benchmarks: {text}", file=sys.stderr, flush=True)


def run(*command, output=None, errors=None, **more):
    """Runs a program to its end, which has to be a success; more are variables of its own."""
    words = [str(word) for word in command]
    done = subprocess.run(words, stdout=output, stderr=errors, env=os.environ | more, check=False)
    if done.returncode:
        raise BenchFailed(f"{words[0]} ended with {done.returncode}")


def become(*command):
    words = [str(word) for word in command]
    sys.stdout.flush()
    os.execvp(words[0], words)


def possible(*command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          check=False).returncode == 0


def net_bench(name, before, options, **variables):
    """Runs net-bench. The JVM's stops are read from its log, which comes with everything else on stderr."""
    program = built(NATIVE / "net-bench")
    RESULTS.mkdir(parents=True, exist_ok=True)
    log = RESULTS / f"{name}.log"
    java = os.environ.get("TRIGON_JAVA_OPTS", "") + " -Xlog:safepoint=info,gc=info:stderr:tn"
    try:
        with open(log, "wb") as errors:
            run(*before, program, "--plugin", "harness", "--plugin", PLUGIN, "--json", RESULTS / f"{name}.json",
                "--jvm-log", log, *options, errors=errors, TRIGON_JAVA_OPTS=java,
                NCCL_DEBUG=os.environ.get("NCCL_DEBUG") or "WARN", **variables)
    except BenchFailed as failure:
        print(*log.read_text(errors="replace").splitlines()[-TAIL:], sep="\n", file=sys.stderr)
        raise BenchFailed(f"net-bench failed; its log is {log}") from failure
    print(RESULTS / f"{name}.json", flush=True)


def in_own_network():
    """Many connections in a minute leave their ports in TIME_WAIT, and the kernel looks long for one that is free. In a
    network of the program's own few are left so."""
    own = str(HERE / "native/own-network.sh")
    for kind in ("-n", "-Urn"):
        if possible("unshare", kind, own, "true"):
            return ["unshare", kind, own]
    note("no network namespace here, so later connections may wait for a port")
    return []


def as_nic():
    """Sees the instant device as a NIC that is driven from user space, if this machine allows a mount namespace."""
    if possible("unshare", "-m", "true") or possible("unshare", "-Urm", "true"):
        return [FAKE_SYSFS, "simulated"]
    note("no mount namespace here, so the device's driver has no name; Trigon calls it as it calls SoftRoCE")
    return []


def with_device():
    """The variables that put the instant device in the way."""
    built(DEVICE)
    others = os.environ.get("LD_LIBRARY_PATH")
    return {"LD_LIBRARY_PATH": str(DEVICE.parent) + (f":{others}" if others else ""), "SIMVERBS_INSTANT": "1",
            "TRIGON_LINKS": "rdma"}


def instant(name, *options, **variables):
    net_bench(name, in_own_network() + as_nic(), ["--warmup-seconds", "2", *options], **with_device(), **variables)


def floor(program, name, *arguments, **variables):
    """What single operations cost with nothing on top."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    with open(RESULTS / f"{name}-floor.json", "wb") as to:
        run(built(NATIVE / program), *arguments, output=to, **variables)


def in_turns(first, of_first, second, of_second, options):
    """Two processes whose samples alternate, so that what the machine's clock does meanwhile is not in it."""
    with scratch() as folder:
        turns = folder / "turns"
        turns.mkdir()
        words = ["in-turns", first, turns, *options]
        begins = subprocess.Popen([sys.executable, __file__, *words], env=os.environ | of_first)
        try:
            instant(second, "--token", turns, *options, **of_second)
        finally:
            failed = begins.wait()
        if failed:
            raise BenchFailed(f"{first} failed")


def one_of_many(*options):
    """One connection used while others rest, with the least and with the most of them."""
    in_turns("growth-one-of-few", {}, "growth-one-of-many", {}, options)


def gpu_memory(quick, options):
    """Messages of host memory, with GPU memory off and allowed; in pairs of processes, as two differ by themselves."""
    sizes = ("8", "65536")
    for old in RESULTS.glob("gpu-memory-*.json"):
        old.unlink()
    for number in range(1, (2 if quick else 7) + 1):
        for size in sizes:
            in_turns(f"gpu-memory-off-{size}-{number}", {"TRIGON_GPU_MEMORY": "off"},
                     f"gpu-memory-auto-{size}-{number}", {"TRIGON_GPU_MEMORY": "auto"}, ["--sizes", size, *options])
    run(HERE / "gpu-memory.py", RESULTS, *sizes)


def links(name, *options):
    with scratch() as folder:
        config = folder / "trigon.yaml"
        config.write_text("version: 1\nlinks: software\nnodes:\n  a: {nics: [{address: 127.0.12.1/24}]}\n")
        net_bench(name, in_own_network(), ["--samples", "51", "--sample-seconds", "0.02", *options],
                  TRIGON_CONFIG=str(config), TRIGON_NODE="a")


def steady(*options):
    usual = ["--sizes", "8", "--window", "1", "--warmup-seconds", "5", "--test-seconds", "60"]
    links("steady-links", *usual, *options)
    instant("steady-instant", *usual, *options)


def jdk():
    """A JDK, or where an archive was unpacked, the distribution's own runtime."""
    if (HERE / "target/jars").is_dir():
        return DISTRIBUTION / "runtime"
    script = f'. "{PROJECT}/.mvn/find-jdk.sh" && trigon_find_jdk && echo "$JAVA_HOME"'
    done = subprocess.run(["bash", "-c", script], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise BenchFailed("there is no JDK")
    return Path(done.stdout.splitlines()[-1])


def java(main_class, *arguments):
    if (HERE / "target/jars").is_dir():
        classes = f"{HERE}/target/jars/*"
    else:
        classes = built(HERE / "target/runtime.classpath").read_text().strip()
    run(jdk() / "bin/java", "--enable-native-access=ALL-UNNAMED", "-cp", f"{HERE}/target/classes:{classes}", main_class,
        *arguments)


def announcements(nodes="10,16,100,256,1000,4096", largest_ring="256", heap="2500m", *_):
    """A test of the module, since the simulation is one. In larger rings each node knows all others, which takes a
    heap."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    run(PROJECT / "mvnw", "-q", "-B", "-ntp", "-f", PROJECT / "pom.xml", "-pl", "relay", "-am", "test",
        "-Dtest=ConvergenceTest", "-Dsurefire.failIfNoSpecifiedTests=false", f"-Dtrigon.nodes={nodes}",
        f"-Dtrigon.ring={largest_ring}", f"-Dtest.jvm.options=-Xmx{heap}",
        f"-Dtrigon.table={RESULTS}/announcements.tsv", output=sys.stderr)
    tables.announcements(RESULTS / "announcements.tsv")


def policy(command="", *options):
    objects = PROJECT / "policy/engine/src/test/c"
    if command == "reload":
        java("trigon.policy.ReloadBenchmark", objects, *options)
    else:
        os.environ["JAVA_HOME"] = str(jdk())
        become(PROJECT / "policy/engine/differential.sh", *([command] if command else []), *options)


def each_of(*names):
    """Each by itself, so that one that fails ends nothing else."""
    failed = []
    for name in names or EVERYTHING:
        note(name)
        begin = time.monotonic()
        if subprocess.run([sys.executable, __file__, name], check=False).returncode:
            failed.append(name)
        note(f"{name} took {time.monotonic() - begin:.0f} s")
    if failed:
        raise BenchFailed("failed: " + " ".join(failed))


def pack(file="", *_):
    """The folders as they are here, with nothing but what is run."""
    if not file:
        raise BenchFailed("pack needs the name of the archive")
    with scratch() as folder:
        kit = folder / "trigon-bench"

        def take(*sources):
            for source in sources:
                to = kit / built(source).relative_to(PROJECT)
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, to)

        take(*(HERE / name for name in ("bench.py", "cables.py", "gpu-memory.py", "relay.py", "tables.py",
                                        "footprint.sh", "trace.sh", "native/own-network.sh")))
        take(HELP, FAKE_SYSFS, DEVICE)
        take(*(NATIVE / name for name in (
            "net-bench", "net-ping-pong", "libfloor.so", "socket-floor", "trace-cost", "libtrace-cost-code.so")))
        shutil.copytree(HERE / "target/classes", kit / "testing/benchmarks/target/classes")
        jars = kit / "testing/benchmarks/target/jars"
        jars.mkdir()
        for jar in (HERE / "target/runtime.classpath").read_text().strip().split(":"):
            shutil.copy2(jar, jars)
        shutil.copytree(DISTRIBUTION, kit / "dist/target/trigon", symlinks=True)
        run("tar", "-C", folder, "-cJf", file, "trigon-bench", XZ_OPT=os.environ.get("XZ_OPT") or "-T0")
    run("ls", "-l", file)


@contextlib.contextmanager
def scratch():
    with tempfile.TemporaryDirectory(prefix="trigon-bench.") as folder:
        yield Path(folder)


def measure(command, quick, options):
    """Does what is asked for, with the options that make it short before those that are typed."""
    short = QUICK if quick else ()
    if command == "instant":
        all_options = ["--sizes", "8,1024,8192,65536,262144,1048576", *short, *options]
        instant("instant", "--plugin", ALONE, *all_options)
    elif command == "growth":
        all_options = ["--plugin", ALONE, "--comms", "1,16,256,1024", "--sizes", "8", *short, *options]
        one_of_many(*all_options)
        instant("growth", *all_options)
    elif command == "in-turns":
        instant(options[0], "--token", options[1], "--begins", *options[2:])
    elif command == "links":
        floor("socket-floor", "links", *(("1000", "3") if quick else ("1000000", "300")))
        links("links", "--sizes", "8,65536,1048576", *short, *options)
    elif command == "steady":
        steady(*short, *options)
    elif command == "gpu-memory":
        gpu_memory(quick, [*short, *options])
    elif command == "footprint":
        short = "--ranks 2 --connections 32 --idle 1 --rest 3".split() if quick else ()
        become(HERE / "footprint.sh", RESULTS, *short, *options)
    elif command == "trace":
        built(NATIVE / "trace-cost")
        short = "--sizes 65536 --turns 1 --rounds 20".split() if quick else ()
        become(HERE / "trace.sh", RESULTS, *short, *options)
    else:
        return False
    return True


OTHERS = {
    "policy": policy,
    "relay": lambda *options: become(HERE / "relay.py", RESULTS, *options),
    "announcements": announcements,
    "lab": lambda *options: become(HERE / "lab.sh", RESULTS, *options),
    "tables": lambda *_: tables.Page(RESULTS).print(),
    "all": each_of,
    "pack": pack,
}
HELPS = {"help": HELP, "-h": HELP, "--help": HELP}


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    command, *options = sys.argv[1:] or ["help"]
    if command in HELPS:
        sys.stdout.write(HELP.read_text())
        return 0
    quick = options[:1] == ["--quick"]
    if quick:
        options = options[1:]
    try:
        if command in OTHERS:
            OTHERS[command](*options)
        elif not measure(command, quick, options):
            sys.stderr.write(HELP.read_text())
            return 2
    except BenchFailed as failure:
        note(str(failure))
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
