#!/bin/sh
# Latency and bandwidth over SoftRoCE, Trigon's and perftest's in turns in one boot of the lab. Called by bench.sh.
# usage: lab.sh RESULTS [ROUNDS]
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
project=$(CDPATH='' cd -- "$here/.." && pwd)
results=$1
rounds=${2:-3}
command -v ib_write_lat >/dev/null || {
  echo "trigon bench: there is no ib_write_lat: install perftest; the lab's guest sees it then" >&2
  exit 2
}
mkdir -p "$results/lab"
rm -f "$results/lab"/*
LAB_SHARE=$results/lab "$project/integration-tests/lab/lab.sh" run -t 3000 sh "$here/lab-guest.sh" "$results/lab" "$rounds"
python3 "$here/lab-results.py" "$results/lab" >"$results/lab.json"
echo "$results/lab.json"
