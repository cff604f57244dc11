#!/bin/sh
# Inside the lab's guest: between rxe_ab and rxe_ba, whose packets cross a pair of veth interfaces.
# usage: lab-guest.sh OUT ROUNDS
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
out=$1
rounds=$2
plugin=$here/../dist/target/trigon/lib/libnccl-net-trigon.so

cat >/tmp/trigon.yaml <<END
version: 1
links: rdma
handshake: {timeout: 60s} # an emulated machine
nodes:
  a: {nics: [{device: rxe_ab, address: 10.0.12.1/24}]}
  b: {nics: [{device: rxe_ba, address: 10.0.12.2/24}]}
END
export TRIGON_CONFIG=/tmp/trigon.yaml NCCL_DEBUG=WARN

perftest() { # ROUND NAME PROGRAM OPTIONS...
  to=$out/$1-$2.txt
  shift 2
  timeout 300 "$@" -d rxe_ba -x 1 -F >/tmp/server.txt 2>&1 &
  sleep 1
  timeout 300 "$@" -d rxe_ab -x 1 -F 10.0.12.2 >"$to" 2>&1 || { cat "$to" /tmp/server.txt >&2; exit 1; }
  wait
}

round=1
while [ "$round" -le "$rounds" ]; do
  perftest "$round" lat ib_write_lat -s 8 -n 2000
  perftest "$round" bw-65536 ib_write_bw -s 65536 -n 200
  perftest "$round" bw-1048576 ib_write_bw -s 1048576 -n 200
  TRIGON_NODE=b timeout 600 "$here/target/native/net-ping-pong" "$plugin" 1 "/tmp/rendezvous-$round" 10 2000 >"$out/$round-b.log" 2>&1 &
  TRIGON_NODE=a timeout 600 "$here/target/native/net-ping-pong" "$plugin" 0 "/tmp/rendezvous-$round" 10 2000 \
    >"$out/$round-trigon.json" 2>"$out/$round-a.log" || { tail -n 20 "$out/$round-a.log" "$out/$round-b.log" >&2; exit 1; }
  wait
  round=$((round + 1))
done
