#!/usr/bin/env bash
# What Trigon's start costs: dlopen to init, the first messages, memory, threads, and the size of the distribution.
# One JSON object on stdout. usage: run.sh [-n RUNS] [-w MILLISECONDS] [-p PLUGIN] [DISTRIBUTION]
#   -n  processes per variant (default 11)
#   -w  from init to the first listen (default 0, then 600: NCCL's bootstrap lies between them)
#   -p  another network plugin, measured after Trigon
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
project=$here/../../..
runs=11 waits="0 600" other=
while getopts n:w:p: option; do
  case $option in
    n) runs=$OPTARG ;;
    w) waits=$OPTARG ;;
    p) other=$OPTARG ;;
    *) sed -n '2,7p' "$0" >&2; exit 2 ;;
  esac
done
shift $((OPTIND - 1))
distribution=${1:-$project/dist/target/trigon}
plugin=$distribution/lib/libnccl-net-trigon.so
[ -z "$other" ] || [ -r "$other" ] || { echo "run.sh: no $other, which -p names" >&2; exit 2; }
[ -r "$plugin" ] || { echo "run.sh: no $plugin: run ./trigon build first" >&2; exit 2; }

scratch=$(mktemp -d "${TMPDIR:-/tmp}/trigon-startup.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
"${CC:-cc}" -std=gnu11 -O2 -Wall -Wextra -I"$project/nccl/abi" "$here/startup.c" -ldl -o "$scratch/startup"

unset TRIGON_CONFIG TRIGON_NODE TRIGON_HOME TRIGON_LOG JAVA_TOOL_OPTIONS _JAVA_OPTIONS
export TRIGON_LINKS=${TRIGON_LINKS:-software}
variant() { # NAME JAVA_OPTIONS [PLUGIN]
  local wait
  for wait in $waits; do
    printf ',\n"%s, listen after %s ms": ' "$1" "$wait"
    TRIGON_JAVA_OPTS="$2" "$scratch/startup" -p "${3:-$plugin}" -n "$runs" -w "$wait"
  done
}
model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
echo "{\"date\": \"$(date -u +%FT%TZ)\", \"cpu\": \"$model\", \"cores\": $(nproc), \"kernel\": \"$(uname -r)\","
echo "\"links\": \"$TRIGON_LINKS\", \"load_before\": \"$(cut -d' ' -f1-3 /proc/loadavg)\","
echo "\"distribution_tar_gz_mb\": $(tar czf - -C "$distribution" . | wc -c | awk '{printf "%.1f", $1 / 1e6}')"
variant "as shipped" ""
variant "without warm-up" "-Dtrigon.warmup=false"
variant "without AOT cache and warm-up" "-Xshare:auto -Dtrigon.warmup=false"
[ -z "$other" ] || variant "the other plugin" "" "$other"
echo "}"
