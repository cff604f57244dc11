"""What the lab's guest boots: a kernel and an initramfs. Most of it is Debian's; it is made once, in LAB_STATE."""

import os
import re
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[1]
THIS_MACHINE = os.uname().machine
GUEST = os.environ.get("LAB_ARCH") or THIS_MACHINE  # the guest's processor, as "uname -m" calls it

# What follows LAB_ in the name of a variable, with the value where there is none.
SETTINGS = {
    "SHARE": "",  # a directory the guest may write to
    "MEM": "1024",  # MiB per VM
    "CPUS": "",  # vCPUs per VM; 2 for one, 1 for tri
    "ACCEL": "tcg,thread=multi,tb-size=256",
    "KERNEL": "",  # an unpacked linux-image package, or its .deb
    "MTU": "4200",  # of the NICs; gives an RDMA path MTU of 4096
    "TIMEOUT": "600",  # seconds to wait for a boot, which takes some 10 s on a machine that does nothing else
    "QEMU": f"qemu-system-{GUEST}",
    "QEMU_ARGS": "",  # more arguments of QEMU, in words
    "APPEND": "",  # more arguments of the kernel
    "MODULES": "",  # more modules of the kernel for the initramfs
}

# Loaded at boot, in this order, with what they depend on.
MODULES = ("virtio_pci virtio_net 9pnet_virtio 9p overlay veth rdma_rxe ib_uverbs rdma_ucm crc32_generic sch_netem"
           " iptable_filter xt_tcpudp")

# How kernels are compressed: what the compressed part begins with, and what unpacks it.
COMPRESSIONS = ((b"\xfd7zXZ\0", ["xz", "-dc"]), (b"\x28\xb5\x2f\xfd", ["zstd", "-dcq"]),
                (b"\x1f\x8b\x08", ["gzip", "-dc"]), (b"\x02\x21\x4c\x18", ["lz4", "-dc"]))
MAX_PLACES = 5

# A mirror may be busy for a moment.
RETRIES = ("-o", "Acquire::Retries=5")


class LabFailed(Exception):
    """The lab itself failed, and not what runs in it."""


class Processor(namedtuple("Processor", "debian qemu_package model machine console append")):
    """A kind of processor that a guest may have.

    QEMU's model of it: without AVX, TCG moves data faster than with "max"; without pointer authentication, which "max"
    has, arm64 code runs faster. Each has the atomic instructions that libraries choose at run time.
    """

    @staticmethod
    def of_guest():
        if GUEST not in PROCESSORS:
            print(f"lab: LAB_ARCH={GUEST}: must be x86_64 or aarch64", file=sys.stderr)
            sys.exit(2)
        return PROCESSORS[GUEST]


PROCESSORS = {
    "x86_64": Processor("amd64", "qemu-system-x86", "Nehalem", "q35,usb=off,vmport=off", "ttyS0",
                        "mitigations=off tsc=reliable"),
    "aarch64": Processor("arm64", "qemu-system-arm", "neoverse-n1", "virt,gic-version=3", "ttyAMA0",
                         "mitigations=off"),
}


def setting(name):
    if name == "CPU":
        return os.environ.get("LAB_CPU") or Processor.of_guest().model
    return os.environ.get(f"LAB_{name}") or SETTINGS[name]


def home_of_guest():
    """The directory that becomes the guest's root, read-only."""
    return os.environ.get("LAB_ROOT") or ("/" if GUEST == THIS_MACHINE else f"{PROJECT}/.cross/{GUEST}/root")


def state():
    """Everything is written there."""
    usual = PROJECT / ".lab" / ("" if GUEST == THIS_MACHINE else GUEST)
    return Path(os.path.abspath(os.environ.get("LAB_STATE") or usual))


STATE = state()


def note(text):
    print(f"lab: {text}", file=sys.stderr, flush=True)


def run(*command, folder=None, quiet=False):
    """Runs a program to its end; what it prints is for the user, beside the lab's own output."""
    words = [str(word) for word in command]
    to = subprocess.DEVNULL if quiet else sys.stderr
    done = subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=to, stderr=to, check=False)
    if done.returncode:
        raise LabFailed(f"{' '.join(words)} ended with {done.returncode}")


def text_of(*command):
    """What a program prints; empty if it fails."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


def install_packages():
    """What runs the guest, and what the guest uses of the host's root."""
    needed = [Processor.of_guest().qemu_package, "xz-utils", "iproute2", "libibverbs1", "ibverbs-providers"]
    try:
        missing = [name for name in needed
                   if "ok installed" not in text_of("dpkg-query", "-W", "-f", "${Status}", name)]
    except FileNotFoundError as error:
        raise LabFailed("the lab needs Debian or Ubuntu (dpkg, apt)") from error
    if not missing:
        return
    names = " ".join(missing)
    if os.geteuid():
        raise LabFailed(f"not installed: {names}; run as root:  apt-get install {names}")
    note(f"installing {names}")
    os.environ["DEBIAN_FRONTEND"] = "noninteractive"
    run("apt-get", *RETRIES, "-qq", "update")
    run("apt-get", *RETRIES, "-qq", "-y", "--no-install-recommends", "install", *missing)


def fetch_package(name):
    """Downloads a Debian package, and returns its file."""
    folder = STATE / "deb"
    folder.mkdir(parents=True, exist_ok=True)
    try:
        run("apt-get", *RETRIES, "-qq", "download", name, folder=folder, quiet=True)
    except LabFailed as error:
        raise LabFailed(f"cannot download {name}") from error
    return max(folder.glob(f"{name}_*.deb"), key=lambda file: file.stat().st_mtime)


def fetch_for_other():
    """Brings a kernel and a busybox for the guest's processor."""
    run(PROJECT / "dist/cross/fetch.sh", GUEST, "lab")
    return PROJECT / ".cross" / GUEST / "lab"


def find_kernel():
    """Debian's: this machine's own package where there is one (Debian), else what dist/cross/fetch.sh brings."""
    if GUEST == THIS_MACHINE:
        depends = text_of("apt-cache", "depends", f"linux-image-{Processor.of_guest().debian}")
        name = re.search(r"(?m)^ *Depends: *([^<>\s]+)$", depends)
        if name:
            note(f"kernel: {name.group(1)}")
            return fetch_package(name.group(1))
    return fetch_for_other() / "kernel"


def unpack_kernel(kernel):
    """The newest version's name."""
    if not (kernel / "lib/modules").is_dir():
        run("rm", "-rf", kernel)
        package = Path(setting("KERNEL") or find_kernel())
        if package.is_dir():
            kernel.mkdir(parents=True)
            run("cp", "-a", f"{package}/.", f"{kernel}/")
        else:
            run("dpkg-deb", "-x", package, kernel)
        if not (kernel / "lib/modules").is_dir():
            (kernel / "lib").symlink_to("usr/lib")  # usr-merged packages (Debian 13 and later)
    version = min(os.listdir(kernel / "lib/modules"))
    if not (kernel / f"boot/vmlinuz-{version}").is_file():
        raise LabFailed(f"no vmlinuz in {kernel}")
    return version


def unpack_vmlinux(kernel, to):
    """An uncompressed vmlinux boots through PVH, without firmware and without running the decompressor under emulation:
    that saves about 3 s a boot. arm64's kernel is not compressed."""
    image = kernel.read_bytes()
    if GUEST != "aarch64":
        for begin, program in COMPRESSIONS:
            places = [found.start() for found in re.finditer(re.escape(begin), image)][:MAX_PLACES]
            for place in places:
                try:
                    done = subprocess.run(program, input=image[place:], stdout=subprocess.PIPE,
                                          stderr=subprocess.DEVNULL, check=False)  # what follows it is an error
                except FileNotFoundError:
                    break
                if done.stdout.startswith(b"\x7fELF"):
                    to.write_bytes(done.stdout)
                    return
        note("cannot unpack vmlinuz, booting it as it is")
    to.write_bytes(image)


def in_load_order(modules, names):
    """Paths of these modules and of all that they depend on, each once."""
    needs = {}
    paths = {}
    for line in (modules / "modules.dep").read_text().splitlines():
        path, _, others = line.partition(":")
        needs[path] = others.split()
        paths[re.sub(r"\.ko.*", "", Path(path).name).replace("-", "_")] = path
    order = []
    seen = set()

    def add(path):
        if path not in seen:
            seen.add(path)
            for other in reversed(needs[path]):
                add(other)
            order.append(path)

    for name in names:
        path = paths.get(name.replace("-", "_"))
        if path:
            add(path)
        else:
            note(f"no module {name} (built in?)")
    return order


def make_initramfs(modules, busybox, guest_busybox):
    folder = STATE / "initramfs"
    run("rm", "-rf", folder)
    (folder / "bin").mkdir(parents=True)
    (folder / "mod").mkdir()
    run("cp", guest_busybox, folder / "bin/busybox")
    run("cp", HERE / "guest-init", folder / "init")
    (folder / "init").chmod(0o755)
    order = in_load_order(modules, (MODULES + " " + setting("MODULES")).split())
    (folder / "mod/order").write_text("".join(f"{path}\n" for path in order))
    for path in order:
        run("cp", modules / path, folder / "mod/")
    names = sorted(os.path.relpath(os.path.join(parent, name), folder)
                   for parent, folders, files in os.walk(folder) for name in folders + files)
    archive = subprocess.run([busybox, "cpio", "-o", "-H", "newc"], cwd=folder, input="\n".join([".", *names]).encode(),
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
    (STATE / "initramfs.cpio").write_bytes(archive)
    return len(archive), len(order)


def make_image(*_):
    """Makes all of it; what is there stays."""
    Processor.of_guest()
    install_packages()
    STATE.mkdir(parents=True, exist_ok=True)
    busybox = STATE / "busybox/bin/busybox"  # this machine's; the guest's may be another processor's
    if not os.access(busybox, os.X_OK):
        run("dpkg-deb", "-x", fetch_package("busybox-static"), STATE / "busybox")
    guest_busybox = busybox
    if GUEST != THIS_MACHINE:
        guest_busybox = fetch_for_other() / "busybox/usr/bin/busybox"
    kernel = STATE / "kernel"
    version = unpack_kernel(kernel)
    (STATE / "version").write_text(version + "\n")
    if GUEST == "aarch64" or not (STATE / "vmlinux").exists():
        unpack_vmlinux(kernel / f"boot/vmlinuz-{version}", STATE / "vmlinux")
    modules = kernel / "lib/modules" / version
    if not (modules / "modules.dep").exists() or not (modules / "modules.dep").stat().st_size:
        packed = list(modules.rglob("*.ko.xz"))
        if packed:
            run("xz", "-d", *packed)
        run(busybox, "depmod", "-b", kernel, version)  # busybox's, so that kmod need not be installed
    length, count = make_initramfs(modules, busybox, guest_busybox)
    note(f"kernel {version}, initramfs {length} bytes, {count} modules")
