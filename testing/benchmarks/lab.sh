#!/bin/sh
# Latency and bandwidth over SoftRoCE, Trigon's and perftest's in turns in one boot of the lab. Called by bench.py.
# usage: lab.sh RESULTS [ROUNDS [WARMUP-SECONDS]]
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
project=$(CDPATH='' cd -- "$here/../.." && pwd)
results=$1
rounds=${2:-5}
warmup=${3:-10}
command -v ib_write_lat >/dev/null || {
  echo "trigon benchmarks: there is no ib_write_lat: install perftest; the lab's guest sees it then" >&2
  exit 2
}
mkdir -p "$results/lab"
rm -f "$results/lab"/*
LAB_SHARE=$results/lab "$project/integration-tests/lab/lab.py" run -t 1200 \
  sh "$here/lab-guest.sh" "$results/lab" "$rounds" "$warmup"
python3 "$here/lab-results.py" "$results/lab" >"$results/lab.json"
echo "$results/lab.json"
