#!/usr/bin/env bash
# What a trace costs: a record by itself, and all-reduces over software links with and without a trace, in turns.
# usage: trace.sh RESULTS [OPTIONS]; see "./trigon benchmarks help"
set -euo pipefail
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
results=$1
shift
sizes=65536,262144,1048576,8388608 turns=10 rounds=200 distribution=$here/../../dist/target/trigon

die() {
  echo "trigon benchmarks trace: $*" >&2
  exit 2
}

while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || die "$1 needs a value"
  case $1 in
    --sizes) sizes=$2 ;;
    --turns) turns=$2 ;;
    --rounds) rounds=$2 ;;
    --distribution) distribution=$2 ;;
    *) die "unknown option $1; see ./trigon benchmarks help" ;;
  esac
  shift 2
done
scratch=$(mktemp -d "${TMPDIR:-/tmp}/trigon-trace-bench.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$results"
table=$results/trace.md

all_reduces() { # BYTES FILE VARIABLE...: microseconds of each round of rank 0 are added to the file
  local bytes=$1 file=$2 rank
  shift 2
  rm -rf "$scratch/rendezvous"
  for rank in 0 1; do
    env "$@" RANK=$rank TRIGON_LINKS=software NCCL_DEBUG=WARN "$distribution/libexec/nccl-host" \
      --plugin "$distribution/lib/libnccl-net-trigon.so" --rank $rank --ranks 2 --rendezvous "$scratch/rendezvous" \
      --bytes "$bytes" --iterations "$rounds" --warmup "$rounds" --spin --print-rounds --profiler 6 --timeout 300 \
      >"$scratch/out.$rank" 2>"$scratch/log.$rank" &
  done
  wait -n || die "a rank failed: $(tail -n 5 "$scratch"/log.*)"
  wait -n || die "a rank failed: $(tail -n 5 "$scratch"/log.*)"
  python3 - "$scratch/out.0" >>"$file" <<'END'
import json, statistics, sys
rounds = json.load(open(sys.argv[1]))["round_us"]
print(statistics.median(rounds))
END
}

{
  echo "| a record | ns |"
  echo "|---|---:|"
  "$here/target/native/trace-cost" | python3 -c '
import json, sys
names = {"off_ns": "a call, without a trace", "clock_ns": "of the others, the clock",
         "posted_ns": "a message is posted", "test_ns": "a test that finds nothing",
         "done_ns": "a test that finds a message done",
         "profiler_start_ns": "a step of NCCL'"'"'s profiler begins", "profiler_state_ns": "it goes on"}
for name, value in json.load(sys.stdin).items():
    print(f"| {names[name]} | {value} |")'
  echo
  echo "| all-reduce, 2 ranks | without | with a trace | ratio |"
  echo "|---:|---:|---:|---:|"
} | tee "$table"
for bytes in ${sizes//,/ }; do
  rm -f "$scratch"/us.*
  for ((turn = 0; turn < turns; turn++)); do
    all_reduces "$bytes" "$scratch/us.without" TRIGON_TRACE=
    all_reduces "$bytes" "$scratch/us.with" "TRIGON_TRACE=$scratch/trace"
    rm -rf "$scratch/trace"
  done
  python3 - "$bytes" "$scratch/us.without" "$scratch/us.with" <<'END' | tee -a "$table"
import statistics, sys
without, traced = (sorted(map(float, open(name))) for name in sys.argv[2:])
kib = int(sys.argv[1]) // 1024
quarter = max(1, len(without) // 4)
a, b = statistics.median(without), statistics.median(traced)
best = statistics.mean(traced[:quarter]) / statistics.mean(without[:quarter])
print(f"| {kib} KiB | {a:.1f} us | {b:.1f} us | {b / a:.3f}; of the best quarter of the turns {best:.3f} |")
END
done
echo "$table"
