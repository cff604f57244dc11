#!/bin/sh
# Makes the distribution's AOT cache: classes loaded, linked and profiled by a run of the distribution itself, over
# software links on the loopback interface, and over the instant device as if it was an NIC's, if that is there.
# usage: train.sh [WORK]   WORK: where configuration and log stay
set -eu
training=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
distribution=$(CDPATH='' cd -- "$training/../.." && pwd)
if [ $# -gt 0 ]; then
  work=$1
  mkdir -p "$work"
else
  work=$(mktemp -d "${TMPDIR:-/tmp}/trigon-train.XXXXXX")
fi

[ -w "$distribution/lib" ] || {
  echo "train.sh: $distribution/lib cannot be written to by $(id -un)" >&2
  exit 1
}
less_well="over RDMA are learnt less well, and a process's first messages take longer"
set -- # with a driver's name in sysfs, by which ibv_post_send is called as on an NIC; where namespaces may be made
if [ -e "$distribution/libexec/simulated/libibverbs.so.1" ]; then
  if "$training/fake-sysfs.sh" simulated true 2>/dev/null; then
    set -- "$training/fake-sysfs.sh" simulated
  else
    echo "train.sh: no namespaces here: calls $less_well" >&2
  fi
else
  echo "train.sh: no libibverbs-dev was there when this was built: calls $less_well" >&2
fi

cat >"$work/trigon.yaml" <<END
version: 1
nodes:
  a: {nics: [{address: 127.0.12.1/24}, {address: 127.0.13.1/24}]}
END
rm -rf "$work/rendezvous" "$work/rendezvous-short" "$work/rendezvous-long"
env -u TRIGON_LINKS -u TRIGON_HOME -u TRIGON_LOG NCCL_DEBUG=INFO \
  "LD_LIBRARY_PATH=$distribution/libexec/simulated:$training${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
  SIMVERBS_INSTANT=1 SIMVERBS_DRIVER=mlx5_core "$@" \
  "$training/train" "$distribution" "$work/trigon.yaml" "$work/rendezvous" "$training/classes" \
  >"$work/train.log" 2>&1 </dev/null || {
  echo "train.sh: the training run for the AOT cache failed; the end of $work/train.log:" >&2
  tail -n 25 "$work/train.log" >&2
  exit 1
}
