#!/usr/bin/env bash
# Two nodes, each a network namespace, with two cables between them (veth) that tc limits to a rate: what one message in
# parts over both brings, beside each cable alone. Needs root, for the namespaces and for tc.
# usage: stripes.sh RESULTS [ROUNDS] [MBIT-OF-THE-FIRST:MBIT-OF-THE-SECOND...]
set -euo pipefail
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
plugin=$here/../../dist/target/trigon/lib/libnccl-net-trigon.so
results=$1
rounds=${2:-3}
shift $(($# < 2 ? $# : 2))
[ $# -gt 0 ] || set -- 200:200 80:320

die() {
  echo "trigon benchmarks stripes: $*" >&2
  exit 2
}

[[ $rounds =~ ^[1-9][0-9]*$ ]] || die "$rounds is not a number of rounds"
for pair in "$@"; do
  [[ $pair =~ ^[1-9][0-9]*:[1-9][0-9]*$ ]] || die "$pair is not two rates in Mbit/s, such as 200:800"
done
for tool in ip tc python3; do
  command -v "$tool" >/dev/null || die "no $tool; install iproute2 and python3"
done

scratch=$(mktemp -d "${TMPDIR:-/tmp}/trigon-stripes.XXXXXX")
a=trigon-$$-a
b=trigon-$$-b
answering=
cleanup() {
  [ -z "$answering" ] || kill "$answering" 2>/dev/null || true
  ip netns del "$a" 2>/dev/null || true
  ip netns del "$b" 2>/dev/null || true
  rm -rf "$scratch"
}
trap cleanup EXIT
ip netns add "$a" && ip netns add "$b" || die "no network namespaces here: needs root, and a kernel that has them"

for cable in 1 2; do
  ip -n "$a" link add "cable$cable" type veth peer name "cable$cable" netns "$b"
  ip -n "$a" addr add "10.77.$cable.1/24" dev "cable$cable"
  ip -n "$b" addr add "10.77.$cable.2/24" dev "cable$cable"
  ip -n "$a" link set "cable$cable" up
  ip -n "$b" link set "cable$cable" up
done
ip -n "$a" link set lo up
ip -n "$b" link set lo up
for node in "$a" "$b"; do # the kernel says a little later that there is a carrier
  for cable in 1 2; do
    for _ in $(seq 50); do
      [[ $(ip -n "$node" link show "cable$cable") == *"state UP"* ]] && continue 2
      sleep 0.1
    done
    die "cable $cable does not come up"
  done
done

limit() { # CABLE MBIT
  for node in "$a" "$b"; do
    tc -n "$node" qdisc replace dev "cable$1" root tbf rate "$2mbit" burst 256kb latency 20ms ||
      die "no token bucket filter here: needs root, and the kernel's module sch_tbf"
  done
}

nics() { # NODE-NUMBER CABLE[=MBIT]...
  local node=$1 cable list=
  shift
  for cable in "$@"; do
    list="$list${list:+, }{address: 10.77.${cable%%=*}.$node/24"
    [ "$cable" = "${cable%%=*}" ] || list="$list, speedMbps: ${cable#*=}"
    list="$list}"
  done
  echo "{nics: [$list]}"
}

measure() { # NAME CABLE[=MBIT]...
  local name=$1 log=$scratch/log
  shift
  cat >"$scratch/trigon.yaml" <<END
version: 1
links: software
nodes:
  a: $(nics 1 "$@")
  b: $(nics 2 "$@")
END
  rm -rf "$scratch/rendezvous"
  export TRIGON_CONFIG=$scratch/trigon.yaml NCCL_DEBUG=${NCCL_DEBUG:-WARN}
  TRIGON_NODE=b timeout 300 ip netns exec "$b" \
    "$here/target/native/net-ping-pong" "$plugin" 1 "$scratch/rendezvous" 1 200 \
    >"$log-b" 2>&1 &
  answering=$!
  TRIGON_NODE=a timeout 300 ip netns exec "$a" \
    "$here/target/native/net-ping-pong" "$plugin" 0 "$scratch/rendezvous" 1 200 \
    >"$scratch/$name.json" 2>"$log-a" && wait "$answering" || {
    tail -n 20 "$log-a" "$log-b" >&2
    die "$name failed"
  }
  answering=
  [ "$NCCL_DEBUG" = WARN ] || cat "$log-a" >&2
}

for pair in "$@"; do
  first=${pair%%:*}
  second=${pair#*:}
  limit 1 "$first"
  limit 2 "$second"
  for round in $(seq "$rounds"); do
    TRIGON_STRIPES=one measure "$pair.first.$round" 1
    TRIGON_STRIPES=one measure "$pair.second.$round" 2
    TRIGON_STRIPES=all measure "$pair.both-stated.$round" "1=$first" "2=$second"
    TRIGON_STRIPES=all measure "$pair.both.$round" 1 2
    echo "trigon benchmarks stripes: $pair Mbit/s, round $round of $rounds" >&2
  done
done
mkdir -p "$results"
python3 "$here/stripes-results.py" "$scratch" "$@" >"$results/stripes.json"
echo "$results/stripes.json"
