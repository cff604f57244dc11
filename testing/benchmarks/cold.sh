#!/usr/bin/env bash
# How long all-reduces take from a process's first on: fresh processes each time, ranks on one machine, software links
# on the loopback interface, NCCL's part played by the C host. tables.py prints the table.
# usage: cold.sh RESULTS [OPTIONS]; see "./trigon benchmarks help"
set -euo pipefail
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
results=$1
shift
ranks=3 processes=10 rounds=1000 sizes=65536,262144,1048576 channels=2 pause=0 cpus=
distributions=() java_options=()

die() {
  echo "trigon benchmarks cold: $*" >&2
  exit 2
}

while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || die "$1 needs a value"
  case $1 in
    --ranks) ranks=$2 ;;
    --processes) processes=$2 ;;
    --rounds) rounds=$2 ;;
    --sizes) sizes=$2 ;;
    --channels) channels=$2 ;;
    --pause) pause=$2 ;;
    --cpus) cpus=$2 ;;
    --java-options) java_options+=("$2") ;;
    --distribution) distributions+=("$2") ;;
    *) die "unknown option $1; see ./trigon benchmarks help" ;;
  esac
  shift 2
done
[[ $ranks =~ ^[2-9]$ ]] || die "--ranks $ranks: must be 2 to 9"
[[ $processes =~ ^[1-9][0-9]*$ ]] || die "--processes $processes: must be a number, at least 1"
[[ $rounds =~ ^[1-9][0-9]*$ && $rounds -ge 200 ]] || die "--rounds $rounds: must be a number, at least 200"
[[ $sizes =~ ^[1-9][0-9]*(,[1-9][0-9]*)*$ ]] || die "--sizes $sizes: must be numbers with commas between them"
[[ $pause =~ ^[0-9]+$ ]] || die "--pause $pause: must be a number of seconds"
[ ${#java_options[@]} -gt 0 ] || java_options=("")
[ ${#distributions[@]} -gt 0 ] || distributions=("$here/../../dist/target/trigon")
pinned=()
[ -z "$cpus" ] || pinned=(taskset -c "$cpus")

scratch=$(mktemp -d "${TMPDIR:-/tmp}/trigon-cold.XXXXXX")
hosts=()
cleanup() {
  [ ${#hosts[@]} -eq 0 ] || kill "${hosts[@]}" 2>/dev/null || true
  rm -rf "$scratch"
}
trap cleanup EXIT
mkdir -p "$results"
out=$results/cold.tsv
: >"$out"
{
  echo "version: 1"
  echo "links: software"
  echo "nodes:"
  for ((rank = 0; rank < ranks; rank++)); do
    echo "  node$rank: {nics: [{address: 127.0.77.$((rank + 1))/24}]}"
  done
} >"$scratch/trigon.yaml"

measure() { # DISTRIBUTION JAVA_OPTIONS BYTES
  local rank host failed=
  rm -rf "$scratch/rendezvous"
  mkdir "$scratch/rendezvous"
  hosts=()
  for ((rank = 0; rank < ranks; rank++)); do
    TRIGON_JAVA_OPTS=$2 TRIGON_CONFIG=$scratch/trigon.yaml TRIGON_NODE=node$rank NCCL_DEBUG=${NCCL_DEBUG:-WARN} \
      LOCAL_WORLD_SIZE=$ranks "${pinned[@]}" "$1/libexec/nccl-host" --plugin "$1/lib/libnccl-net-trigon.so" \
      --rank $rank --ranks "$ranks" --rendezvous "$scratch/rendezvous" --bytes "$3" --iterations "$rounds" --warmup 0 \
      --channels "$channels" --pause "$pause" --spin --print-rounds --timeout 300 \
      >"$scratch/$rank.json" 2>"$scratch/$rank.log" </dev/null &
    hosts+=($!)
  done
  for host in "${hosts[@]}"; do
    wait "$host" || failed=1
  done
  hosts=()
  [ -z "$failed" ] || {
    tail -n 20 "$scratch"/*.log >&2
    die "an all-reduce of $3 bytes failed"
  }
}

for ((process = 1; process <= processes; process++)); do
  for distribution in "${distributions[@]}"; do
    [ -x "$distribution/libexec/nccl-host" ] || die "no distribution in $distribution"
    for options in "${java_options[@]}"; do
      for bytes in ${sizes//,/ }; do
        measure "$distribution" "$options" "$bytes"
        for ((rank = 0; rank < ranks; rank++)); do
          printf '%s\t%s\t%s\t%s\n' "$process" "${distribution#"$here/../../dist/target/"}" "$options" \
            "$(cat "$scratch/$rank.json")" >>"$out"
        done
      done
    done
  done
  echo "trigon benchmarks cold: processes $process of $processes" >&2
done
