#!/bin/sh
# The kernel as a second witness: a ring all-reduce of three ranks over SoftRoCE, seen by Trigon's trace and by kernel
# probes at once. Compares the two, and prints how long the parts of a step take. First as it is, then with packets
# lost.
# usage: trace.sh DISTRIBUTION [LOSS]; LOSS in percent, 5 by default
# What was recorded is kept in integration-tests/target/lab-trace (LAB_SHARE).
# Exit status: 0 if both say the same, 1 if not; 125 if the lab itself failed.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
project=$(CDPATH='' cd -- "$here/../.." && pwd)
distribution=$1
loss=${2:-5}
: "${LAB_SHARE:=$project/integration-tests/target/lab-trace}"
export LAB_SHARE
command -v python3 >/dev/null || { echo "trace.sh: there is no python3: install python3-minimal" >&2; exit 125; }

lab() { "$here/lab.py" "$@"; }

rm -rf "$LAB_SHARE"
mkdir -p "$LAB_SHARE/btf"
lab up one
trap 'lab down' EXIT
trap 'exit 130' INT TERM
lab exec a cp /sys/kernel/btf/vmlinux /sys/kernel/btf/rdma_rxe "$LAB_SHARE/btf"
python3 "$here/kernel-probes.py" "$LAB_SHARE/btf/vmlinux" "$LAB_SHARE/btf/rdma_rxe" >"$LAB_SHARE/probes"

status=0
witness() { # NAME BYTES LOSS
  out=$LAB_SHARE/$1
  mkdir -p "$out"
  # under emulation the C1 compiler alone, without a warm-up, starts the fastest
  lab exec -t 400 a env "TRIGON_JAVA_OPTS=${TRIGON_JAVA_OPTS:--XX:TieredStopAtLevel=1 -Dtrigon.warmup=false}" \
    sh "$here/trace-guest.sh" "$distribution" "$LAB_SHARE/probes" "$out" "$2" "$3"
  "$distribution/bin/trigon" report --json "$out/report.jsonl" "$out/trace" >"$out/report.txt"
  python3 "$here/kernel-witness.py" "$out" || status=1
}

echo "== 12 numbers over three ranks, without loss"
witness plain 48 0
echo
echo "== 192 KiB over three ranks, $loss % of the packets lost"
witness loss 196608 "$loss"
exit $status
