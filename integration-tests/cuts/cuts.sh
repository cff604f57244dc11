#!/usr/bin/env bash
# Two nodes in network namespaces, with two cables. Cables are cut under a running all-reduce that checks every element:
# a random one, at a random moment, for a random time. Root is needed.
set -euo pipefail

usage="usage: ./trigon cuts [--cuts N] [--seed N] [--silent] [--logs DIRECTORY]

Cuts one of two cables between two nodes, again and again, under a running all-reduce over software links with
failover: on. Exit status 0 only if every element was right on both ranks. As root.

  --cuts    how many (default 20)
  --seed    of the cables, the moments and the times (default: the clock)
  --silent  packets are dropped, and the interfaces stay up; needs nft
  --logs    keeps the configuration and the logs there"

cuts=20 seed=$(date +%s) silent=0 logs=
home=${1:?"the distribution's folder"}
shift
while [ $# -gt 0 ]; do
  case $1 in
    --cuts) cuts=$2; shift ;;
    --seed) seed=$2; shift ;;
    --silent) silent=1 ;;
    --logs) logs=$2; shift ;;
    *) echo "$usage" >&2; exit 2 ;;
  esac
  shift
done
[ "$(id -u)" = 0 ] || { echo "cuts: needs root, for network namespaces" >&2; exit 2; }
RANDOM=$((seed % 32768))
a=trigon-cuts-a-$$ b=trigon-cuts-b-$$
work=$(mktemp -d)
ranks=()

clean() {
  for rank in "${ranks[@]}"; do kill "$rank" 2>/dev/null || true; done
  wait || true
  ip netns del "$a" 2>/dev/null || true
  ip netns del "$b" 2>/dev/null || true
  if [ -n "$logs" ]; then mkdir -p "$logs" && cp "$work"/*.log "$work"/*.yaml "$logs"; fi
  rm -rf "$work"
}
trap clean EXIT

ip netns add "$a"
ip netns add "$b"
for cable in 1 2; do
  ip -n "$a" link add "c$cable" type veth peer name "c$cable" netns "$b"
  ip -n "$a" address add "10.77.$cable.1/24" dev "c$cable"
  ip -n "$b" address add "10.77.$cable.2/24" dev "c$cable"
  for node in "$a" "$b"; do ip -n "$node" link set "c$cable" up; done
done
for node in "$a" "$b"; do ip -n "$node" link set lo up; done
cat > "$work/trigon.yaml" <<END
version: 1
links: software
failover: on
nodes:
  a: {nics: [{address: 10.77.1.1/24}, {address: 10.77.2.1/24}]}
  b: {nics: [{address: 10.77.1.2/24}, {address: 10.77.2.2/24}]}
END
mkdir "$work/meet"

rank() { # NAMESPACE NODE NUMBER
  ip netns exec "$1" env TRIGON_CONFIG="$work/trigon.yaml" TRIGON_NODE="$2" TRIGON_LOG=info \
    "$home/libexec/nccl-host" --plugin "$home/lib/libnccl-net-trigon.so" --rank "$3" --ranks 2 \
    --rendezvous "$work/meet" --bytes 1048576 --iterations $((cuts * 150)) --channels 2 --timeout 120 \
    > "$work/$2.log" 2>&1 &
  ranks+=($!)
}
rank "$a" a 0
rank "$b" b 1

state() { # CABLE up|down
  if [ $silent = 0 ]; then
    ip -n "$a" link set "c$1" "$2"
  elif [ "$2" = down ]; then
    ip netns exec "$a" tc qdisc add dev "c$1" root netem loss 100%
  else
    ip netns exec "$a" tc qdisc del dev "c$1" root
  fi
}

sleep 5
done=0
while [ $done -lt "$cuts" ] && kill -0 "${ranks[0]}" "${ranks[1]}" 2>/dev/null; do
  cable=$((RANDOM % 2 + 1)) time=$((RANDOM % 2500 + 200))
  state $cable down
  sleep "$(printf '%d.%03d' $((time / 1000)) $((time % 1000)))"
  state $cable up
  sleep "$(printf '%d.%03d' $((RANDOM % 2 + 1)) $((RANDOM % 1000)))"
  done=$((done + 1))
done
failed=0
for rank in "${ranks[@]}"; do wait "$rank" || failed=1; done
ranks=()
{ grep -ho 'goes on over .* after [0-9]* ms' "$work"/*.log || true; } | sed 's/.* after //' | sort -n | awk '
  { pauses[NR] = $1 }
  END {
    middle = pauses[int((NR + 1) / 2)]
    if (NR) printf "%d changes of paths, after %d ms (median), %d ms at most\n", NR, middle, pauses[NR]
  }'
echo "$({ grep -h 'returns to' "$work"/*.log || true; } | wc -l) returns to the better path"
grep -h "wrong" "$work"/*.log || true
if [ $failed != 0 ]; then
  grep -h "WARN\|error" "$work"/*.log | tail -20 >&2
  echo "cuts: FAILED after $done cuts, seed $seed" >&2
  exit 1
fi
echo "$done cuts survived, seed $seed: every element was right on both ranks."
