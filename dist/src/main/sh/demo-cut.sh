#!/usr/bin/env bash
# demo-cut.sh - a triangle with two cables between each two nodes. One cable of a-b is cut under a running all-reduce,
# and comes back: the job goes on, returns, and every element is checked. Called by "trigon demo --cut".
set -euo pipefail

home=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.." && pwd)

die() {
  echo "trigon: $*" >&2
  exit 2
}

bytes=1048576 away=3 logs= scratch=
arguments=("$@")
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) exec "$home/bin/trigon" help demo ;;
    --*=*) set -- "${1%%=*}" "${1#*=}" "${@:2}" ;;
    *) ;;
  esac
  [ $# -ge 2 ] || die "$1 needs a value; see trigon help demo"
  case $1 in
    --bytes) bytes=$2 ;;
    --away) away=$2 ;;
    --logs) logs=$2 ;;
    *) die "unknown option $1; see trigon help demo" ;;
  esac
  shift 2
done
[[ $bytes =~ ^[1-9][0-9]*$ ]] || die "--bytes $bytes: must be a number, at least 1"
[[ $away =~ ^[1-9][0-9]?$ ]] || die "--away $away: must be a number of seconds, 1 to 99"

# ---- where: namespaces of root's, of a user's own root, or none

prefix=trigon-demo-$$-
spaces=no
if command -v ip >/dev/null 2>&1; then
  if ip netns add "${prefix}probe" 2>/dev/null; then
    ip netns del "${prefix}probe"
    spaces=yes
  elif [ -z "${DEMO_CUT_UNSHARED:-}" ] &&
    unshare -rnm bash -c 'mount -t tmpfs tmpfs /run && ip netns add probe' 2>/dev/null; then
    # shellcheck disable=SC2016 # for the shell in there
    exec unshare -rnm bash -c 'mount -t tmpfs tmpfs /run; DEMO_CUT_UNSHARED=1 exec "$@"' bash "$0" "${arguments[@]}"
  fi
fi

pids=()
clean() {
  local pid node
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait || true
  [ $spaces = no ] || for node in a b c; do ip netns del "$prefix$node" 2>/dev/null || true; done
  [ -n "$logs" ] || rm -rf "$scratch"
}
if [ -n "$logs" ]; then
  mkdir -p "$logs"
  scratch=$(cd -- "$logs" && pwd)
  rm -rf "$scratch"/{meet,until,until.round,cut-a,cut-b,a.log,b.log,c.log}
else
  scratch=$(mktemp -d "${TMPDIR:-/tmp}/trigon-demo.XXXXXX")
fi
trap clean EXIT

net() { if [ $spaces = yes ]; then echo "10.$1"; else echo "127.$1"; fi; }

# ---- the triangle: cables ab1, ab2, ac1, ac2, bc1, bc2, each a subnet

declare -A nics=([a]="" [b]="" [c]="")
lay() { # ONE OTHER NUMBER SUBNET
  local address node host=0
  for node in "$1" "$2"; do
    host=$((host + 1))
    address=$(net "$4").$host/24
    nics[$node]+="${nics[$node]:+, }{address: $address}"
    [ $spaces = no ] || {
      [ $host = 2 ] || ip -n "$prefix$1" link add "$1$2$3" type veth peer name "$1$2$3" netns "$prefix$2"
      ip -n "$prefix$node" address add "$address" dev "$1$2$3"
      ip -n "$prefix$node" link set "$1$2$3" up
    }
  done
}
[ $spaces = no ] || for node in a b c; do
  ip netns add "$prefix$node"
  ip -n "$prefix$node" link set lo up
done
for number in 1 2; do
  lay a b $number "78.1$number"
  lay a c $number "78.2$number"
  lay b c $number "78.3$number"
done
{
  echo "version: 1"
  echo "links: software"
  echo "topology: {port: $((20000 + RANDOM % 10000))}"
  echo "nodes:"
  for node in a b c; do echo "  $node: {nics: [${nics[$node]}]}"; done
} >"$scratch/trigon.yaml"
mkdir "$scratch/meet"

run() { # NODE COMMAND..., in a process that is to become it
  if [ $spaces = yes ]; then exec ip netns exec "$prefix$1" "${@:2}"; else exec "${@:2}"; fi
}
rank=0
for node in a b c; do
  TRIGON_NODE=$node TRIGON_CONFIG=$scratch/trigon.yaml TRIGON_LOG=info run $node \
    "$home/libexec/nccl-host" --plugin "$home/lib/libnccl-net-trigon.so" --rank $rank --ranks 3 \
    --rendezvous "$scratch/meet" --bytes "$bytes" --iterations 100000000 --until "$scratch/until" \
    --cuts "$scratch/cut-$node" --timeout 120 >"$scratch/$node.log" 2>&1 </dev/null &
  pids+=($!)
  rank=$((rank + 1))
done

fail() {
  echo "FAILED: $*. Warnings of the logs:" >&2
  grep -h "FAILED\|WARN" "$scratch"/[abc].log | tail -n 20 >&2
  exit 1
}
# Waits until the log of a or b has a line.
await() { # WHAT PATTERN
  local i
  for ((i = 0; i < 600; i++)); do
    if grep -qs "$2" "$scratch/a.log" "$scratch/b.log"; then return; fi
    kill -0 "${pids[@]}" 2>/dev/null || fail "a rank has ended before $1"
    sleep 0.1
  done
  fail "$1: not within 60 s"
}

if [ $spaces = yes ]; then where="in network namespaces"; else where="on loopback addresses"; fi
echo "== a triangle with two cables between each two nodes, $where, over TCP"
[ $spaces = yes ] || echo "   $(id -un) may make no network namespaces here, so no interface is taken down: the" \
  "connections of a cable are ended instead. With sudo a cable is cut, and comes back."
await "the connections were up" "sends to b\|receives from a"
first=$(sed -n 's/.*sends to b [^ ]* via [^ ]* \([^/]*\)\/.*/\1/p' "$scratch/a.log" | head -n 1)
[ -n "$first" ] || fail "a has not said how it sends to b"
subnet=${first%.*}
number=${subnet##*.1}
sleep 2
if [ $spaces = yes ]; then
  echo "-- cable ab$number ($subnet.0/24) is cut: a's interface is down"
  ip -n "${prefix}a" link set "ab$number" down
else
  echo "-- the TCP connections of cable ab$number ($subnet.0/24) are ended"
  echo "$subnet.1" >"$scratch/new" && mv "$scratch/new" "$scratch/cut-a"
fi
await "a went on over another path" "the connection to b goes on over"
if [ $spaces = yes ]; then
  sleep "$away"
  echo "-- it is back after $away s"
  ip -n "${prefix}a" link set "ab$number" up
  await "the return" "the connection to b returns to"
fi
sleep 1
touch "$scratch/until"
for pid in "${pids[@]}"; do wait "$pid" || fail "a rank has failed"; done
pids=()
for node in a b c; do
  changes="goes on over\|returns to\|path to . down\|up again"
  sed -n "/rank -1/d; /$changes/s/^.*NET\/Trigon : /   $node: /p" "$scratch/$node.log" |
    sed 's/\bsoft_lo\(_[0-9]*\)\? /lo /g; s/\bsoft_//g; s/ (software)//g
      s/\(path to . down\): .*\(; failing over\)/\1\2/; s/\(after [0-9]* ms\): .*\(; [0-9]* messages\)/\1\2/'
done
sed -n 's/^\(rank [0-9]*: .* wrong\)$/   \1/p' "$scratch"/[abc].log
if [ $spaces = yes ]; then
  echo "The job went on, and returned. Every element was right on every rank."
else
  echo "The job went on over new connections. Every element was right on every rank."
fi
