#!/usr/bin/env bash
# Runs NCCL itself, by PyTorch, over a Trigon distribution. See README.md beside this file.
set -euo pipefail

here=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")" && pwd)

usage() {
  cat <<'END'
usage: run.sh DISTRIBUTION GPUS [--part PART] [--out DIRECTORY]
              [--network auto|namespaces|loopback] [--ip PROGRAM]
              [--links software|simulated] [--device FOLDER]
              [--model LATENCY,RATE] [--fault KIND] [--cables 1|2|3]
              [--nodes N] [--processors N] [--nccl FOLDER] [--policies FOLDER]
              [--set TRIGON_NAME=VALUE]... [--dry-run]

Plays one node per GPU, each with its own subnet to every other, and lets
PyTorch's NCCL communicate over Trigon. Exit status 0 only if everything passed;
the last line counts what passed, failed and was skipped.

  DISTRIBUTION  folder with lib/libnccl-net-trigon.so (dist/target/trigon after
                a build)
  GPUS          1 to 4
  --part        what to run: smoke, calls, correctness, faults, restarts, cuts,
                shapes, unlike, pairs, policies, gains, one-sided, traces,
                causes, speed, tune or all (default smoke, one minute; calls
                takes as long, each other part up to seven); cuts needs
                --cables 2, shapes and unlike --nodes 4, pairs an even number of
                GPUs
  --out         logs and results (default: a new folder under /tmp)
  --network     auto: namespaces if possible (root, the program ip, veth in the
                kernel), else loopback addresses
  --ip          the program ip, where it is not on the PATH; portable-ip.sh
                makes a copy of another machine's
  --links       simulated: RDMA links over the simulated device, which fails as
                NICs do in the part cuts; needs namespaces, and is not for all
                parts (default: software)
  --device      for that: the folder with its libibverbs.so.1 (default: that of
                the build)
  --model       for that: what a link takes, as 2us,100G, in bits a second
                (default: no more than the processors need)
  --fault       for the part cuts: the only kind of fault, such as "link down"
                (default: all that the links have)
  --cables      how many between every two nodes, each a NIC at both ends
                (default 1)
  --nodes       how many nodes, 2 to 4 (default: as many as GPUs); more than
                GPUS share them, by NVIDIA's Multi-Process Service where it is
                there, else in turns, which is right but slow
  --processors  how many a node has (default: its share of the machine's)
  --set         a setting of Trigon for every launch that has any, for example
                TRIGON_STRIPES=all; may be repeated. Such settings in run.sh's
                own environment are not passed on
  --nccl        for the part one-sided: a folder with another NCCL's include and
                lib (default: PyTorch's)
  --policies    for the part policies: a folder with more objects to be tried
  --dry-run     no GPU, no NCCL, no plugin: the same checks over PyTorch's gloo
                on the CPU
  PYTHON        environment variable: the Python that has PyTorch (default:
                python3)
END
}

case ${1:-} in -h | --help | help) usage; exit 0 ;; esac
[ $# -ge 2 ] || { usage >&2; exit 2; }
python=${PYTHON:-python3}
command -v "$python" >/dev/null || { echo "run.sh: no $python; set PYTHON to a Python 3 that has PyTorch" >&2; exit 2; }
"$python" - <<'END' || { echo "run.sh: $python must be Python 3.10 or later with PyTorch; set PYTHON" >&2; exit 2; }
import sys, importlib.util
sys.exit(sys.version_info < (3, 10) or importlib.util.find_spec("torch") is None)
END
exec "$python" -u "$here/main.py" "$@"
