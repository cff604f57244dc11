#!/usr/bin/env bash
# The line a-b-c, each node a network namespace, with cables (veth) that tc limits to a rate, and a relay on b: what
# goes from a to c through the relay, beside each hop alone, and what b's own traffic keeps of its cable while a and c
# flood the relay. Needs root, for the namespaces and for tc.
# usage: relay.sh RESULTS [ROUNDS] [MBIT-OF-A-B:MBIT-OF-B-C...]
set -euo pipefail
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
home=$here/../../dist/target/trigon
plugin=$home/lib/libnccl-net-trigon.so
results=$1
rounds=${2:-3}
shift $(($# < 2 ? $# : 2))
[ $# -gt 0 ] || set -- 400:200

die() {
  echo "trigon benchmarks relay: $*" >&2
  exit 2
}

[[ $rounds =~ ^[1-9][0-9]*$ ]] || die "$rounds is not a number of rounds"
for pair in "$@"; do
  [[ $pair =~ ^[1-9][0-9]*:[1-9][0-9]*$ ]] || die "$pair is not two rates in Mbit/s, such as 400:200"
done
for tool in ip tc python3; do
  command -v "$tool" >/dev/null || die "no $tool; install iproute2 and python3"
done

scratch=$(mktemp -d "${TMPDIR:-/tmp}/trigon-relay.XXXXXX")
prefix=trigon-relay-$$-
running=()
cleanup() {
  [ ${#running[@]} -eq 0 ] || kill "${running[@]}" 2>/dev/null || true
  wait || true
  for node in a b c; do ip netns del "$prefix$node" 2>/dev/null || true; done
  rm -rf "$scratch"
}
trap cleanup EXIT
for node in a b c; do
  ip netns add "$prefix$node" || die "no network namespaces here: needs root, and a kernel that has them"
  ip -n "$prefix$node" link set lo up
done
cable() { # INTERFACE ONE ITS-ADDRESS OTHER ITS-ADDRESS
  ip -n "$prefix$2" link add "$1" type veth peer name "$1" netns "$prefix$4"
  ip -n "$prefix$2" addr add "$3" dev "$1"
  ip -n "$prefix$4" addr add "$5" dev "$1"
  for node in "$2" "$4"; do ip -n "$prefix$node" link set "$1" up; done
}
cable one a 10.79.1.1/24 b 10.79.1.2/24
cable two b 10.79.2.2/24 c 10.79.2.3/24

# QUEUE: what holds the packets that wait. "fifo" takes them as they come; "bands", the queue that a NIC has unless
# somebody gave it another one, takes a relay's last.
limit() { # CABLE MBIT QUEUE NODE...
  local cable=$1 mbit=$2 queue=$3
  shift 3
  for node in "$@"; do
    tc -n "$prefix$node" qdisc replace dev "$cable" root handle 1: tbf rate "${mbit}mbit" burst 256kb latency 20ms ||
      die "no token bucket filter here: needs root, and the kernel's module sch_tbf"
    [ "$queue" = fifo ] || tc -n "$prefix$node" qdisc replace dev "$cable" parent 1:1 handle 10: pfifo_fast
  done
}

cat >"$scratch/trigon.yaml" <<END
version: 1
links: software
handshake: {timeout: 60s, peerTimeout: 60s}
nodes:
  a: {nics: [{address: 10.79.1.1/24}]}
  b: {nics: [{address: 10.79.1.2/24}, {address: 10.79.2.2/24}]}
  c: {nics: [{address: 10.79.2.3/24}]}
END
printf '%064x\n' "$RANDOM$RANDOM" >"$scratch/key"
chmod 600 "$scratch/key"
export TRIGON_CONFIG=$scratch/trigon.yaml TRIGON_CLUSTER_KEY_FILE=$scratch/key NCCL_DEBUG=${NCCL_DEBUG:-WARN}

on() { # NODE COMMAND..., in a process that is to become it
  TRIGON_NODE=$1 exec ip netns exec "$prefix$1" "${@:2}"
}

on b "$home/bin/trigon" relay >"$scratch/relay.log" 2>&1 &
running+=($!)
for _ in $(seq 600); do
  ! grep -q "relays over" "$scratch/relay.log" || break
  sleep 0.1
done
grep -q "relays over" "$scratch/relay.log" || die "the relay has not begun: $(cat "$scratch/relay.log")"

measure() { # NAME FROM TO
  local answering
  rm -rf "$scratch/rendezvous"
  on "$3" timeout 300 "$here/target/native/net-ping-pong" "$plugin" 1 "$scratch/rendezvous" 1 2000 \
    >"$scratch/log-$3" 2>&1 &
  answering=$!
  (on "$2" timeout 300 "$here/target/native/net-ping-pong" "$plugin" 0 "$scratch/rendezvous" 1 2000) \
    >"$scratch/$1.json" 2>"$scratch/log-$2" && wait "$answering" || {
    tail -n 20 "$scratch/log-$2" "$scratch/log-$3" >&2
    die "$1 failed"
  }
}

flood=()
begin_flood() { # all-reduces between a and c, over four connections each way
  local node rank=0
  rm -rf "$scratch/flood" "$scratch/until" "$scratch/until.round"
  for node in a c; do
    on "$node" "$home/libexec/nccl-host" --plugin "$plugin" --rank $rank --ranks 2 --rendezvous "$scratch/flood" \
      --bytes 16777216 --iterations 1000000 --until "$scratch/until" --channels 4 --timeout 120 --print-longer 1 \
      >"$scratch/flood-$node.log" 2>&1 &
    flood+=($!)
    rank=$((rank + 1))
  done
  running+=("${flood[@]}")
  for _ in $(seq 1200); do
    ! grep -q "all-reduce 0 took" "$scratch/flood-a.log" || return 0
    sleep 0.1
  done
  die "the flood has not begun: $(tail -n 5 "$scratch/flood-a.log")"
}

end_flood() {
  touch "$scratch/until"
  for process in "${flood[@]}"; do wait "$process" || die "the flood failed: $(tail -n 5 "$scratch"/flood-*.log)"; done
  flood=()
}

for pair in "$@"; do
  for round in $(seq "$rounds"); do
    for queue in fifo bands; do
      limit one "${pair%%:*}" "$queue" a b
      limit two "${pair#*:}" "$queue" b c
      if [ $queue = fifo ]; then
        measure "$pair.first.$round" a b
        measure "$pair.relayed.$round" a c
      fi
      measure "$pair.second-$queue.$round" b c
      begin_flood
      measure "$pair.flooded-$queue.$round" b c
      end_flood
    done
    echo "trigon benchmarks relay: $pair Mbit/s, round $round of $rounds" >&2
  done
done
mkdir -p "$results"
python3 "$here/relay-results.py" "$scratch" "$@" >"$results/relay.json"
echo "$results/relay.json"
