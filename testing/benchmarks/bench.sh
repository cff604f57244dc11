#!/usr/bin/env bash
# Runs the benchmarks; "./trigon benchmarks help" says what there is. Results are JSON files below
# testing/benchmarks/target/results.
# What is run has to be built: "./trigon benchmarks" sees to that, and "bench.sh pack" makes an archive of it for other
# machines.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
project=$(cd -- "$here/../.." && pwd)
native=$here/target/native
instant_device=$project/testing/instant-device
results=${TRIGON_BENCH_RESULTS:-$here/target/results}
plugin=$project/dist/target/trigon/lib/libnccl-net-trigon.so
# Trigon's work requests as a plugin of their own, so the instant device alone
alone=$native/libfloor.so
everything="instant growth links steady nodes jmh render"

usage() { cat "$project/dist/help/developers/benchmarks.txt"; }

case ${1:-help} in help | -h | --help) usage; exit 0 ;; esac
scratch=$(mktemp -d "${TMPDIR:-/tmp}/trigon-bench.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

die() {
  echo "trigon benchmarks: $*" >&2
  exit 2
}

built() { # FILE: what Maven and CMake make
  [ -e "$1" ] ||
    die "no $1; ./trigon benchmarks builds it, unless <infiniband/verbs.h> is missing: install libibverbs-dev"
}

# The JVM's stops are read from its log, which comes with everything else on stderr.
net_bench() { # NAME COMMAND-BEFORE... -- OPTIONS...
  local name=$1 before=() log
  shift
  while [ "$1" != -- ]; do
    before+=("$1")
    shift
  done
  shift
  built "$native/net-bench"
  mkdir -p "$results"
  log=$results/$name.log
  if ! TRIGON_JAVA_OPTS="${TRIGON_JAVA_OPTS:-} -Xlog:safepoint=info,gc=info:stderr:tn" NCCL_DEBUG=${NCCL_DEBUG:-WARN} \
    "${before[@]}" "$native/net-bench" --plugin harness --plugin "$plugin" --json "$results/$name.json" \
    --jvm-log "$log" "$@" 2>"$log"; then
    tail -n 20 "$log" >&2
    die "net-bench failed; its log is $log"
  fi
  echo "$results/$name.json"
}

# Many connections in a minute leave their ports in TIME_WAIT, and the kernel looks long for one that is free. In a
# network of the program's own few are left so.
in_own_network() {
  local each
  for each in "unshare -n" "unshare -Urn"; do
    if $each "$here/native/own-network.sh" true 2>/dev/null; then
      echo "$each $here/native/own-network.sh"
      return
    fi
  done
  echo "trigon benchmarks: no network namespace here, so later connections may wait for a port" >&2
  echo env
}

# Sees the instant device as a NIC that is driven from user space, if this machine allows a mount namespace.
as_nic() {
  if unshare -m true 2>/dev/null || unshare -Urm true 2>/dev/null; then
    echo "$instant_device/fake-sysfs.sh instant"
  else
    echo "trigon benchmarks: no mount namespace here, so the device's driver has no name; Trigon calls it as it calls" \
      "SoftRoCE" >&2
    echo env
  fi
}

instant() { # NAME OPTIONS...
  local name=$1
  shift
  built "$native/instant/libibverbs.so.1"
  mkdir -p "$results"
  export LD_LIBRARY_PATH=$native/instant${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} TRIGON_LINKS=rdma
  # shellcheck disable=SC2046 # words
  net_bench "$name" $(in_own_network) $(as_nic) -- --warmup-seconds 2 "$@"
}

# Single operations of the instant device, with the sizes that net-bench takes: those that are asked for last.
operations() { # OPTIONS...
  local option previous='' sizes=
  for option in "$@"; do
    [ "$previous" != --sizes ] || sizes=$option
    previous=$option
  done
  built "$native/verbs-floor"
  mkdir -p "$results"
  LD_LIBRARY_PATH=$native/instant "$native/verbs-floor" "$sizes" >"$results/instant-floor.json"
}

# One connection used while others rest, with the least and with the most of them: two processes whose samples
# alternate, so that what the machine's clock does in the minutes of growth is not in it.
one_of_many() { # OPTIONS...
  local turns=$scratch/turns few
  mkdir -p "$turns"
  instant growth-one-of-few --token "$turns" --begins "$@" &
  few=$!
  instant growth-one-of-many --token "$turns" "$@" || {
    wait "$few" || :
    return 1
  }
  wait "$few"
}

# Messages of host memory, with GPU memory off and allowed: pairs of processes whose samples alternate, since two
# processes differ by some per cent as it is.
gpu_memory() { # OPTIONS...
  local pass size turns first second sizes="8 65536" passes=7
  [ ${#quick[@]} -eq 0 ] || passes=2
  rm -f "$results"/gpu-memory-*.json
  for ((pass = 1; pass <= passes; pass++)); do
    for size in $sizes; do
      turns=$scratch/turns-$pass-$size
      mkdir -p "$turns"
      TRIGON_GPU_MEMORY=off instant "gpu-memory-off-$size-$pass" --token "$turns" --begins --sizes "$size" "$@" &
      first=$!
      TRIGON_GPU_MEMORY=auto instant "gpu-memory-auto-$size-$pass" --token "$turns" --sizes "$size" "$@" ||
        second=failed
      wait "$first" && [ -z "${second:-}" ] || return 1
    done
  done >&2
  # shellcheck disable=SC2086 # words
  "$here/gpu-memory.py" "$results" $sizes
}

# Two instant devices, as two cables of this node to itself, in a network namespace that has their addresses.
divided() {
  namespace=trigon-bench-$$
  trap 'ip netns del "$namespace" 2>/dev/null; rm -rf "$scratch"' EXIT
  ip netns add "$namespace" || die "no network namespaces here: needs root"
  ip -n "$namespace" link set lo up
  for cable in 1 2; do
    ip -n "$namespace" link add "cable$cable" type veth peer name "end$cable"
    ip -n "$namespace" addr add "10.77.$cable.1/24" dev "cable$cable"
    ip -n "$namespace" link set "end$cable" up
    ip -n "$namespace" link set "cable$cable" up
  done
  sleep 1 # until the kernel says that there is a carrier
  built "$native/instant/libibverbs.so.1"
  mkdir -p "$results"
  export LD_LIBRARY_PATH=$native/instant${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} TRIGON_LINKS=rdma
  export INSTANTVERBS_DEVICES=one0=10.77.1.1/24,two0=10.77.2.1/24
  for stripes in one all; do
    TRIGON_STRIPES=$stripes net_bench "divided-$stripes" \
      ip netns exec "$namespace" "$instant_device/fake-sysfs.sh" instant -- \
      --sizes 8,16384,32768,65536,262144 "$@"
  done
}

links() { # NAME OPTIONS...
  local name=$1
  shift
  cat >"$scratch/trigon.yaml" <<END
version: 1
links: software
nodes:
  a: {nics: [{address: 127.0.12.1/24}]}
END
  # shellcheck disable=SC2046 # words
  net_bench "$name" $(in_own_network) env "TRIGON_CONFIG=$scratch/trigon.yaml" TRIGON_NODE=a -- --samples 51 \
    --sample-seconds 0.02 "$@"
}

# A TCP connection without anything on top.
socket_operations() { # MESSAGES RESTED-MESSAGES
  built "$native/socket-floor"
  mkdir -p "$results"
  "$native/socket-floor" "$@" >"$results/links-floor.json"
}

steady() { # OPTIONS...
  # the links first: the other puts the instant device in the way
  links steady-links --sizes 8 --window 1 --warmup-seconds 5 --test-seconds 60 "$@"
  instant steady-instant --sizes 8 --window 1 --warmup-seconds 5 --test-seconds 60 "$@"
}

# By a JDK, or where an archive was unpacked, by the distribution's own runtime.
java_with_classes() { # MAIN-CLASS ARGUMENTS...
  local classes
  if [ -d "$here/target/jars" ]; then
    JAVA_HOME=$project/dist/target/trigon/runtime
    classes=$here/target/jars/*
  else
    # shellcheck source=/dev/null
    . "$project/.mvn/find-jdk.sh"
    trigon_find_jdk
    classes=$(cat "$here/target/runtime.classpath")
  fi
  "$JAVA_HOME/bin/java" --enable-native-access=ALL-UNNAMED -cp "$here/target/classes:$classes" "$@"
}

cold() { # OPTIONS...
  "$here/cold.sh" "$results" "$@"
  java_with_classes trigon.benchmarks.Cold "$results/cold.tsv" "$results"
}

# A test of the module, since the simulation is one. In larger rings each node knows all others, which takes a heap.
announcements() { # NODES,... LARGEST-RING HEAP
  mkdir -p "$results"
  "$project/mvnw" -q -B -ntp -f "$project/pom.xml" -pl relay/topology -am test -Dtest=ConvergenceTest \
    -Dsurefire.failIfNoSpecifiedTests=false "-Dtrigon.nodes=${1:-10,16,100,256,1000,4096}" \
    "-Dtrigon.ring=${2:-256}" "-Dtest.jvm.options=-Xmx${3:-2500m}" "-Dtrigon.table=$results/announcements.tsv" >&2
  java_with_classes trigon.benchmarks.Announcements "$results/announcements.tsv" "$results"
}

jmh() { # NAME OPTIONS...
  local name=$1
  shift
  mkdir -p "$results"
  java_with_classes org.openjdk.jmh.Main -rf json -rff "$results/$name.json" "$@"
  echo "$results/$name.json"
}

# Each by itself, so that one that fails ends nothing else.
all() { # NAME...
  local name start failed=
  # shellcheck disable=SC2086 # words
  [ $# -gt 0 ] || set -- $everything
  for name in "$@"; do
    echo "trigon benchmarks: $name" >&2
    start=$SECONDS
    "$here/bench.sh" "$name" || failed+=" $name"
    echo "trigon benchmarks: $name took $((SECONDS - start)) s" >&2
  done
  [ -z "$failed" ] || die "failed:$failed"
}

# The folders as they are here, with nothing but what is run.
pack() { # FILE
  local kit=$scratch/trigon-bench jar
  local to=$kit/testing/benchmarks
  [ -n "${1:-}" ] || die "pack needs the name of the archive"
  built "$native/net-bench"
  built "$native/instant/libibverbs.so.1"
  mkdir -p "$to/target/native/instant" "$to/target/jars" "$to/native" \
    "$kit/dist/target" "$kit/dist/help/developers" "$kit/testing/instant-device"
  cp "$here"/{bench,cold,footprint,relay,stripes,trace}.sh "$here"/{relay,stripes}-results.py "$to"
  cp "$project/dist/help/developers/benchmarks.txt" "$kit/dist/help/developers"
  cp "$here/native/own-network.sh" "$to/native"
  cp "$instant_device/fake-sysfs.sh" "$kit/testing/instant-device"
  cp "$native"/{net-bench,net-ping-pong,libfloor.so,socket-floor,verbs-floor,verbs-ping-pong} \
    "$native"/{trace-cost,libtrace-cost-code.so} "$to/target/native"
  cp "$native/instant/libibverbs.so.1" "$to/target/native/instant"
  cp -r "$here/target/classes" "$to/target"
  tr : '\n' <"$here/target/runtime.classpath" | while read -r jar || [ -n "$jar" ]; do
    cp "$jar" "$to/target/jars"
  done
  cp -a "$project/dist/target/trigon" "$kit/dist/target"
  XZ_OPT=${XZ_OPT:--T0} tar -C "$scratch" -cJf "$1" trigon-bench
  ls -l "$1"
}

command=$1
shift
quick=()
jmh_length=(-f 1 -wi 3 -w 1 -i 5 -r 1)
socket_messages=(1000000 300)
if [ "${1:-}" = --quick ]; then
  shift
  quick=(--samples 3 --sample-seconds 0.001 --warmup-seconds 0.01 --setup-seconds 0.05 --test-seconds 0.01)
  jmh_length=(-f 0 -wi 0 -i 1 -r 10ms)
  socket_messages=(1000 3)
fi
case $command in
  instant)
    set -- --sizes 8,1024,8192,65536,262144,1048576 "${quick[@]}" "$@"
    operations "$@"
    instant instant --plugin "$alone" "$@"
    ;;
  growth)
    set -- --plugin "$alone" --comms 1,16,256,1024 --sizes 8 "${quick[@]}" "$@"
    one_of_many "$@"
    instant growth "$@"
    ;;
  gpu-memory) gpu_memory "${quick[@]}" "$@" ;;
  divided) divided "${quick[@]}" "$@" ;;
  links)
    socket_operations "${socket_messages[@]}"
    links links --sizes 8,65536,1048576 "${quick[@]}" "$@"
    ;;
  steady) steady "${quick[@]}" "$@" ;;
  cold)
    [ ${#quick[@]} -eq 0 ] || set -- --processes 1 --rounds 200 --sizes 65536 "$@"
    cold "$@"
    ;;
  footprint)
    [ ${#quick[@]} -eq 0 ] || set -- --ranks 2 --connections 32 --idle 1 --rest 3 "$@"
    "$here/footprint.sh" "$results" "$@"
    ;;
  trace)
    [ ${#quick[@]} -eq 0 ] || set -- --sizes 65536 --turns 1 --rounds 20 "$@"
    built "$native/trace-cost"
    "$here/trace.sh" "$results" "$@"
    ;;
  jmh)
    # JMH takes no option twice
    [ $# -eq 0 ] || [ ${#quick[@]} -gt 0 ] || jmh_length=()
    jmh jmh -e NodesBenchmark "${jmh_length[@]}" "$@"
    ;;
  nodes)
    [ $# -eq 0 ] || [ ${#quick[@]} -gt 0 ] || jmh_length=()
    # in passes over all numbers of nodes, since the machine's clock changes in the minutes that this takes
    passes=1
    [ ${#quick[@]} -gt 0 ] || [ $# -gt 0 ] || {
      jmh_length=(-f 1 -wi 5 -w 1 -i 7 -r 300ms)
      passes=3
    }
    rm -f "$results"/nodes-*.json
    for ((pass = 1; pass <= passes; pass++)); do
      jmh "nodes-$pass" "${jmh_length[@]}" "$@" NodesBenchmark
    done
    ;;
  software) java_with_classes trigon.software.device.SpeedBenchmark ;;
  handshake) java_with_classes trigon.handshake.HandshakeBenchmark ;;
  lifelines)
    [ $# -gt 0 ] || set -- 100 1000
    java_with_classes trigon.handshake.LifelineBenchmark "$@"
    ;;
  policy)
    objects=$project/policy/engine/src/test/c
    case ${1:-} in
      decision) java_with_classes trigon.policy.DecisionBenchmark "$objects" ;;
      reload) java_with_classes trigon.policy.ReloadBenchmark "$objects" "${@:2}" ;;
      *)
        # shellcheck source=/dev/null
        . "$project/.mvn/find-jdk.sh"
        trigon_find_jdk
        exec "$project/policy/engine/differential.sh" "$@"
        ;;
    esac
    ;;
  stripes) exec "$here/stripes.py" "$results" "$@" ;;
  relay) exec "$here/relay.py" "$results" "$@" ;;
  announcements) announcements "$@" ;;
  lab) exec "$here/lab.sh" "$results" "$@" ;;
  render) java_with_classes trigon.benchmarks.Render "$results" "${1:-$results/page}" ;;
  all) all "$@" ;;
  pack) pack "$@" ;;
  *)
    usage >&2
    exit 2
    ;;
esac
