#!/usr/bin/env bash
# Nodes in network namespaces, with cables between them. Cables are cut under a running all-reduce that checks every
# element: a random one, at a random moment, for a random time. Root is needed.
set -euo pipefail

usage() { cat "$(dirname -- "${BASH_SOURCE[0]}")/../../dist/help/developers/cuts.txt"; }

case ${1:-} in -h | --help | help) usage; exit 0 ;; esac
shape=pair cuts=20 seed=$(date +%s) silent=0 return=0 failed=0 logs=
home=${1:?"the distribution's folder"}
shift
while [ $# -gt 0 ]; do
  case $1 in
    --shape) shape=$2; shift ;;
    --cuts) cuts=$2; shift ;;
    --seed) seed=$2; shift ;;
    --silent) silent=1 ;;
    --return) return=1 ;;
    --logs) logs=$2; shift ;;
    *) usage >&2; exit 2 ;;
  esac
  shift
done
# which nodes each cable joins; NCCL's ring is the nodes in this order
case $shape in
  pair) nodes=(a b) cables=(ab ab) ;;
  triangle) nodes=(a b c) cables=(ab ac bc) ;;
  ring4) nodes=(a b c d) cables=(ab bc cd ad) ;;
  *) echo "cuts: --shape $shape: must be pair, triangle or ring4" >&2; exit 2 ;;
esac
[ "$(id -u)" = 0 ] || { echo "cuts: needs root, for network namespaces" >&2; exit 2; }
RANDOM=$((seed % 32768))
prefix=trigon-cuts-$$-
work=$(mktemp -d)
ranks=()

clean() {
  for rank in "${ranks[@]}"; do kill "$rank" 2>/dev/null || true; done
  wait || true
  for node in "${nodes[@]}"; do ip netns del "$prefix$node" 2>/dev/null || true; done
  if [ -n "$logs" ]; then mkdir -p "$logs" && cp "$work"/*.log "$work"/*.yaml "$work/cuts" "$logs"; fi
  rm -rf "$work"
}
trap clean EXIT

declare -A nics=()
for node in "${nodes[@]}"; do
  ip netns add "$prefix$node"
  ip -n "$prefix$node" link set lo up
done
for ((cable = 1; cable <= ${#cables[@]}; cable++)); do
  ends=${cables[cable - 1]}
  ip -n "$prefix${ends:0:1}" link add "c$cable" type veth peer name "c$cable" netns "$prefix${ends:1}"
  for host in 1 2; do
    node=${ends:host - 1:1}
    ip -n "$prefix$node" address add "10.77.$cable.$host/24" dev "c$cable"
    ip -n "$prefix$node" link set "c$cable" up
    nics[$node]+="${nics[$node]:+, }{address: 10.77.$cable.$host/24}"
  done
done
{
  printf 'version: 1\nlinks: software\nnodes:\n'
  for node in "${nodes[@]}"; do echo "  $node: {nics: [${nics[$node]}]}"; done
} >"$work/trigon.yaml"
printf '%064x\n' "$((RANDOM * 32768 + RANDOM))" >"$work/key"
chmod 600 "$work/key"
mkdir "$work/meet"
: >"$work/cuts"

for ((number = 0; number < ${#nodes[@]}; number++)); do
  node=${nodes[number]}
  ip netns exec "$prefix$node" env TRIGON_CONFIG="$work/trigon.yaml" TRIGON_NODE="$node" TRIGON_LOG=info \
    TRIGON_CLUSTER_KEY_FILE="$work/key" \
    "$home/libexec/nccl-host" --plugin "$home/lib/libnccl-net-trigon.so" --rank "$number" --ranks "${#nodes[@]}" \
    --rendezvous "$work/meet" --bytes 1048576 --iterations 100000000 --until "$work/until" --channels 2 \
    --timeout 120 --print-longer 1 >"$work/$node.log" 2>&1 &
  ranks+=($!)
done

alive() {
  for rank in "${ranks[@]}"; do kill -0 "$rank" 2>/dev/null || return 1; done
}

state() { # CABLE up|down
  local ends=${cables[$1 - 1]}
  if [ $silent = 0 ]; then
    ip -n "$prefix${ends:0:1}" link set "c$1" "$2"
    return
  fi
  for host in 1 2; do
    local at=(-n "$prefix${ends:host - 1:1}") other=10.77.$1.$((3 - host))
    if [ "$2" = down ]; then # frames go to nobody, which needs no module of the kernel
      ip "${at[@]}" neigh replace "$other" lladdr 02:00:00:00:00:01 dev "c$1" nud permanent
    else
      ip "${at[@]}" neigh del "$other" dev "c$1"
    fi
  done
}

said() { # PATTERN: how often, in all logs
  { grep -hc "$1" "$work"/*.log || true; } | awk '{ sum += $1 } END { print sum }'
}

# Whether as many paths are back as were lost.
returned() {
  # a warning is there twice: NCCL's logger prints those of a thread without a rank itself
  local down='^NET/Trigon : .*: path to .* down: ' up='^NET/Trigon : .*: path to .* up again after '
  [ "$(said "$down")" -gt 0 ] && [ "$(said "$down")" = "$(said "$up")" ]
}

pause() { # MILLISECONDS
  sleep "$(printf '%d.%03d' $(($1 / 1000)) $(($1 % 1000)))"
}

for ((i = 0; i < 1200; i++)); do # the ranks have begun
  ! grep -qs "all-reduce 0 took" "$work/a.log" || break
  alive || break
  sleep 0.1
done
sleep 3
done=0
while [ $done -lt "$cuts" ] && alive; do
  cable=$((RANDOM % ${#cables[@]} + 1)) time=$((RANDOM % 2500 + 200))
  echo "$(date +%s.%N) $cable ${cables[cable - 1]} $time" >>"$work/cuts"
  state $cable down
  pause $time
  state $cable up
  pause $((RANDOM % 2000 + 1000))
  for ((i = 0; i < 600 && return; i++)); do
    ! returned && alive || break
    sleep 0.2
  done
  if [ $return = 1 ] && alive && ! returned; then
    echo "cuts: FAILED: not all paths are back 120 s after cut $((done + 1)), seed $seed" >&2
    break
  fi
  done=$((done + 1))
done
touch "$work/until"
[ $return = 0 ] || returned || failed=1
for rank in "${ranks[@]}"; do wait "$rank" || failed=1; done
ranks=()

percentiles() { # WHAT: of the numbers on stdin, in ms
  sort -n | awk -v what="$1" '
    { value[NR] = $1 }
    function at(part) { i = int(NR * part + 0.999999); return value[i < 1 ? 1 : i] }
    END { if (NR) printf "%s: %d; ms p50 %d, p99 %d, max %d\n", what, NR, at(0.5), at(0.99), value[NR] }'
}
{ grep -ho 'goes on over .* after [0-9]* ms' "$work"/*.log || true; } | sed 's/.* after //' |
  percentiles "changes of paths"
# the longest all-reduce that ended after each cut and before the next one
awk '
  FNR == NR { at[++cuts] = $1; next }
  / all-reduce [0-9]* took / {
    split($0, words, " took | ms, until ")
    while (cut < cuts && words[3] >= at[cut + 1]) cut++
    if (cut && words[2] > longest[cut]) longest[cut] = words[2]
    if (!cut) print words[2] > before
  }
  END { for (i = 1; i <= cuts; i++) print longest[i] + 0 }' before="$work/before" "$work/cuts" "$work/a.log" |
  percentiles "the longest all-reduce of each cut"
[ ! -e "$work/before" ] || percentiles "all-reduces before the first cut" <"$work/before"
moved=$({ grep -h 'goes on over' "$work"/*.log || true; } |
  sed 's/.* over \([^ ]*\) .* instead of \([^ ]*\) .*/\1 \2/' |
  awk '$1 != $2 { moved++ } END { print moved + 0 }')
echo "$moved of them to another cable$([ "$shape" = pair ] || echo ", by relays")"
echo "$(said 'returns to') returns to the better path"
grep -h " wrong$" "$work"/*.log || true
if [ $failed != 0 ]; then
  grep -h "WARN\|error" "$work"/*.log | tail -20 >&2
  echo "cuts: FAILED after $done cuts, seed $seed" >&2
  exit 1
fi
if [ $return = 1 ] && [ "$cuts" -gt 0 ] && [ "$(said 'returns to')" = 0 ]; then
  echo "cuts: FAILED: nothing has returned to a cable after $done cuts, seed $seed" >&2
  exit 1
fi
echo "$done cuts of a $shape survived, seed $seed: every element was right on every rank."
