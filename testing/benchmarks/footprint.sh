#!/usr/bin/env bash
# What ranks on one machine take: memory, processors, descriptors and threads, in a new process, after many connections,
# and when these have been closed for a while. Software links on the loopback interface; the C host plays NCCL's part.
# usage: footprint.sh RESULTS [OPTIONS]; see "./trigon benchmarks help"
set -euo pipefail
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
results=$1
shift
ranks=8 connections=10000 channels=8 rest=60 idle=10 distribution=$here/../../dist/target/trigon

die() {
  echo "trigon benchmarks footprint: $*" >&2
  exit 2
}

while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || die "$1 needs a value"
  case $1 in
    --ranks) ranks=$2 ;;
    --connections) connections=$2 ;;
    --channels) channels=$2 ;;
    --rest) rest=$2 ;;
    --idle) idle=$2 ;;
    --distribution) distribution=$2 ;;
    *) die "unknown option $1; see ./trigon benchmarks help" ;;
  esac
  shift 2
done
for number in "$ranks" "$connections" "$channels" "$rest" "$idle"; do
  [[ $number =~ ^[1-9][0-9]*$ ]] || die "$number: must be a number, at least 1"
done
[ "$ranks" -ge 2 ] && [ "$ranks" -le 64 ] || die "--ranks $ranks: must be 2 to 64"
[ "$rest" -gt "$idle" ] || die "--rest $rest: must be longer than --idle $idle"

scratch=$(mktemp -d "${TMPDIR:-/tmp}/trigon-footprint.XXXXXX")
hosts=()
cleanup() {
  [ ${#hosts[@]} -eq 0 ] || kill "${hosts[@]}" 2>/dev/null || true
  rm -rf "$scratch"
}
trap cleanup EXIT
mkdir -p "$results"
table=$results/footprint.md
{
  echo "version: 1"
  echo "links: software"
  echo "nodes:"
  for ((rank = 0; rank < ranks; rank++)); do
    echo "  node$rank: {nics: [{address: 127.0.78.$((rank + 1))/24}]}"
  done
} >"$scratch/trigon.yaml"

start() { # COMMUNICATORS OPTIONS...: the ranks, one process each
  local rank communicators=$1
  shift
  hosts=()
  rm -rf "$scratch/rendezvous" "$scratch"/*.log
  mkdir "$scratch/rendezvous"
  for ((rank = 0; rank < ranks; rank++)); do
    TRIGON_NODE=node$rank TRIGON_CONFIG=$scratch/trigon.yaml NCCL_DEBUG=WARN \
      "$distribution/libexec/nccl-host" --plugin "$distribution/lib/libnccl-net-trigon.so" --rank $rank \
      --ranks "$ranks" --rendezvous "$scratch/rendezvous" --channels "$channels" --bytes 65536 --iterations 1 \
      --warmup 0 --communicators "$communicators" --timeout 600 "$@" >"$scratch/$rank.log" 2>&1 &
    hosts+=($!)
  done
}

finish() {
  local rank
  for ((rank = 0; rank < ranks; rank++)); do
    wait "${hosts[$rank]}" || die "rank $rank failed: $(tail -n 5 "$scratch/$rank.log")"
  done
  hosts=()
}

await() { # PATTERN COUNT: in each rank's log
  local rank waited=0
  for ((rank = 0; rank < ranks; rank++)); do
    until [ "$(grep -c "$1" "$scratch/$rank.log")" -ge "$2" ]; do
      [ $waited -lt 12000 ] && kill -0 "${hosts[$rank]}" || die "rank $rank: $(tail -n 5 "$scratch/$rank.log")"
      waited=$((waited + 1))
      sleep 0.1
    done
  done
}

ticks() { # PID: of all its threads, 100 a second
  awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/$1/stat"
}

# A row of the table: the medians of all ranks, and the worst of what has a limit.
row() { # NAME
  local pid before=() i=0
  for pid in "${hosts[@]}"; do before+=("$(ticks "$pid")"); done
  sleep "$idle"
  for pid in "${hosts[@]}"; do
    echo "$(awk '/^VmRSS/ { print $2 / 1024 }' "/proc/$pid/status")" \
      "$(awk '/^Pss:/ { print $2 / 1024 }' "/proc/$pid/smaps_rollup")" \
      "$(find "/proc/$pid/fd" -mindepth 1 | wc -l)" "$(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 | wc -l)" \
      "$(echo "$(ticks "$pid") ${before[$i]} $idle" | awk '{ print ($1 - $2) / $3 }')"
    i=$((i + 1))
  done >"$scratch/row"
  awk -v name="$1" '
    function middle(column, n, i, j, t) {
      for (i = 1; i <= NR; i++) v[i] = cell[i, column]
      for (i = 2; i <= NR; i++) for (j = i; j > 1 && v[j] < v[j - 1]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
      return v[int((NR + 1) / 2)]
    }
    { for (i = 1; i <= NF; i++) cell[NR, i] = $i + 0; if ($1 > most) most = $1; if ($5 > busiest) busiest = $5 }
    END { printf "| %s | %.0f | %.0f | %.0f | %d | %d | %.2f | %.2f |\n", name, middle(1), most, middle(2), middle(3),
      middle(4), middle(5), busiest }' "$scratch/row" | tee -a "$table"
}

# Each communicator is a ring: of every channel a rank has a connection to the next rank and one from the last.
communicators=$(((connections + 2 * channels - 1) / (2 * channels)))
{
  echo "$ranks ranks on $(nproc) processors, $(uname -m); $channels channels; each row over $idle s without traffic."
  echo
  echo "| each rank | RSS, MB | worst | PSS, MB | descriptors | threads | processor, % | worst |"
  echo "|---|---:|---:|---:|---:|---:|---:|---:|"
} | tee "$table"
start 1 --pause $((idle + 10)) --verbose
await 'device 0' 1
sleep 8
row "connected, before the first message"
finish
start "$communicators" --rest "$rest"
await 'wrong$' "$communicators"
row "after $((communicators * 2 * channels)) connections, at once"
left=$((rest - 2 * idle - 2))
sleep $((left > 0 ? left : 0))
row "the same, $((rest - idle)) s later"
finish
echo "trigon benchmarks: $table" >&2
