#!/bin/sh
# Inside the lab's guest: a ring all-reduce of the C host's by three ranks, a process each, with Trigon's trace and the
# kernel's. Called by trace.sh.
# usage: trace-guest.sh DISTRIBUTION PROBES OUT BYTES LOSS
set -eu
distribution=$1 probes=$2 out=$3 bytes=$4 loss=$5
tracing=/sys/kernel/tracing
nics="ab ac ba bc ca cb"
scratch=/tmp/trigon-lab-trace
rm -rf "$scratch"
mkdir -p "$scratch"

cat >"$scratch/trigon.yaml" <<END_OF_FILE
version: 1
links: rdma
handshake: {timeout: 60s} # an emulated machine
nodes:
  a: {nics: [{device: rxe_ab, address: 10.0.12.1/24}, {device: rxe_ac, address: 10.0.13.1/24}]}
  b: {nics: [{device: rxe_ba, address: 10.0.12.2/24}, {device: rxe_bc, address: 10.0.23.2/24}]}
  c: {nics: [{device: rxe_ca, address: 10.0.13.3/24}, {device: rxe_cb, address: 10.0.23.3/24}]}
END_OF_FILE

# CLOCK_MONOTONIC, as Trigon's traces; and no record is lost
echo 0 >$tracing/tracing_on
[ ! -d $tracing/events/trigon ] || echo 0 >$tracing/events/trigon/enable
echo >$tracing/kprobe_events
cat "$probes" >$tracing/kprobe_events
echo mono >$tracing/trace_clock
echo 16384 >$tracing/buffer_size_kb
echo >$tracing/trace
echo 1 >$tracing/events/trigon/enable
echo 1 >$tracing/tracing_on

rank=0
processes=
for node in a b c; do
  RANK=$rank TRIGON_NODE=$node TRIGON_CONFIG=$scratch/trigon.yaml TRIGON_TRACE=$scratch/trace NCCL_DEBUG=WARN \
    "$distribution/libexec/nccl-host" --plugin "$distribution/lib/libnccl-net-trigon.so" --rank $rank --ranks 3 \
    --rendezvous "$scratch/rendezvous" --bytes "$bytes" --iterations 3 --warmup 1 --pause 5 --print-json \
    --timeout 180 >"$out/rank$rank.json" 2>"$out/rank$rank.log" &
  processes="$processes $!"
  rank=$((rank + 1))
done

# Packets are lost from when the six queue pairs are ready to send, so that connecting takes no longer.
if [ "$loss" != 0 ]; then
  waited=0
  until [ "$(grep -c ' modify: .* to=3$' $tracing/trace)" -ge 6 ] || [ $waited -ge 180 ]; do
    sleep 1
    waited=$((waited + 1))
  done
  for nic in $nics; do sh /run/lab/link $nic loss "$loss"; done
fi
failed=0
for process in $processes; do wait "$process" || failed=1; done
echo 0 >$tracing/tracing_on
[ "$loss" = 0 ] || for nic in $nics; do sh /run/lab/link $nic clear; done
cat $tracing/trace >"$out/kernel.txt"
cp -r "$scratch/trace" "$out/trace"
[ $failed = 0 ] || {
  echo "trace-guest.sh: a rank failed:" >&2
  tail -n 20 "$out"/rank*.log >&2
  exit 1
}
