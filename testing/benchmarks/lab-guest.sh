#!/bin/sh
# Inside the lab's guest: between rxe_ab and rxe_ba, whose packets cross a pair of veth interfaces. perftest and
# Trigon take turns. Trigon's processes live through all rounds, and sleep while it is not their turn.
# usage: lab-guest.sh OUT ROUNDS WARMUP-SECONDS
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
out=$1
rounds=$2
warmup=$3
plugin=$here/../../dist/target/trigon/lib/libnccl-net-trigon.so
native=$here/target/native
turns=/tmp/trigon-turns
iterations=1000

cat >/tmp/trigon.yaml <<END
version: 1
links: rdma
handshake: {timeout: 60s} # an emulated machine
nodes:
  a: {nics: [{device: rxe_ab, address: 10.0.12.1/24}]}
  b: {nics: [{device: rxe_ba, address: 10.0.12.2/24}]}
END
export TRIGON_CONFIG=/tmp/trigon.yaml NCCL_DEBUG=WARN

give_up() { # MESSAGE FILE...
  echo "lab-guest.sh: $1" >&2
  shift
  tail -n 20 "$@" >&2 || :
  exit 1
}

perftest() { # ROUND NAME PROGRAM OPTIONS...
  to=$out/$1-$2.txt
  shift 2
  timeout 120 "$@" -d rxe_ba -x 1 -F >/tmp/server.txt 2>&1 &
  server=$!
  listening="$(printf ':%04X' 18515) 00000000:0000 0A"
  until grep -q "$listening" /proc/net/tcp; do
    kill -0 $server 2>/dev/null || give_up "$1 does not listen" /tmp/server.txt
    sleep 0.1
  done
  timeout 120 "$@" -d rxe_ab -x 1 -F 10.0.12.2 >"$to" 2>&1 || give_up "$1 failed" "$to" /tmp/server.txt
  wait $server
}

await_trigon() { # WHAT
  until [ -e "$turns/done.$1" ]; do
    kill -0 $rank0 2>/dev/null || give_up "net-ping-pong has ended" "$out/a.log" "$out/b.log"
    sleep 0.1
  done
}

trigon() { # ROUND NAME
  printf 1 >"$turns/.turn"
  mv "$turns/.turn" "$turns/turn.$2.$1"
  await_trigon "$2.$1"
}

TRIGON_NODE=b timeout 900 "$native/net-ping-pong" "$plugin" 1 "$turns" "$warmup" $iterations "$rounds" \
  >"$out/b.log" 2>&1 &
TRIGON_NODE=a timeout 900 "$native/net-ping-pong" "$plugin" 0 "$turns" "$warmup" $iterations "$rounds" \
  >"$out/trigon.json" 2>"$out/a.log" &
rank0=$!
await_trigon warm-up
round=0
while [ "$round" -lt "$rounds" ]; do
  echo "round $((round + 1)) of $rounds" >&2
  perftest $round lat ib_write_lat -s 8 -n $iterations
  trigon $round latency
  perftest $round bw-65536 ib_write_bw -s 65536 -n 400
  trigon $round short
  trigon $round short-asleep
  perftest $round bw-1048576 ib_write_bw -s 1048576 -n 50
  trigon $round long
  trigon $round long-asleep
  round=$((round + 1))
done
wait $rank0 || give_up "net-ping-pong failed" "$out/a.log" "$out/b.log"
wait
