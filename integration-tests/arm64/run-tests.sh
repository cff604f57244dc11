#!/usr/bin/env bash
# Runs the arm64 distribution, and unit tests on an arm64 JVM, on an x86-64 machine: the processor is emulated by
# qemu-user, the kernel is this machine's. The distribution has to be built: "./trigon arm64 test" sees to that.
# usage: run-tests.sh [all]   all: every unit test of verbs, handshake and transport but the fuzz tests, in place of a
#                             quick selection
#
# It cannot show what comes of arm64's weaker memory order, since x86-64 hosts keep the stronger one; nor its speed.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
project=$(cd -- "$here/../.." && pwd)
distribution=$project/dist/target/trigon-aarch64
run=$project/dist/cross/run.sh
java=$project/.cross/aarch64/jdk/bin/java
case ${1:-} in
  '') quick=yes ;;
  all) quick= ;;
  *) sed -n '2,/^set/{/^set/d; s/^# \{0,1\}//p}' "$0" >&2; exit 2 ;;
esac

scratch=$(mktemp -d "${TMPDIR:-/tmp}/trigon-arm64.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

step() { # TITLE COMMAND...: shows the end of what it printed, or all if it failed
  local title=$1 start=$SECONDS
  shift
  if "$@" >"$scratch/log" 2>&1; then
    echo "arm64: $title: passed, $((SECONDS - start)) s"
  else
    cat "$scratch/log"
    echo "arm64: $title: FAILED" >&2
    exit 1
  fi
}

host() { # OPTIONS...: plays NCCL's part; under emulation the C1 compiler alone is the quickest
  TRIGON_LINKS=software TRIGON_CONFIG=$scratch/trigon.yaml TRIGON_NODE=a NCCL_DEBUG=WARN \
    TRIGON_JAVA_OPTS="-XX:TieredStopAtLevel=1 ${warm_up:-}" \
    "$run" aarch64 "$distribution/libexec/nccl-host" --plugin "$distribution/lib/libnccl-net-trigon.so" \
    --timeout 240 "$@"
}

all_reduce() { # RANKS: a process each
  local ranks=$1 rank pids=() status=0 warm_up=-Dtrigon.warmup=false
  for ((rank = 0; rank < ranks; rank++)); do
    host --rank "$rank" --ranks "$ranks" --rendezvous "$scratch/of-$ranks" --bytes 262144 &
    pids+=($!)
  done
  for rank in "${!pids[@]}"; do
    wait "${pids[$rank]}" || status=1
  done
  [ "$(grep -c '^rank .* 0 wrong$' "$scratch/log")" -eq "$ranks" ] || status=1
  return $status
}

unit_tests() {
  local tests=trigon.verbs.**,trigon.handshake.**,trigon.transport.**
  # what takes the longest there, or measures memory and allocation, which the processor does not change, is left out
  [ -z "$quick" ] || tests=trigon.verbs.ffm.*Test,HandshakeTest,HandshakeCodecTest,HandshakeFrameDecoderTest,\
AuthenticationTest,trigon.handshake.StripesTest,SoftwareNetPluginTest,\
trigon.transport.TriangleTest,RequestTableTest,RequestsTest,HandleTableTest,\
MessageProtocolTest,ClearToSendMemoryTest,PartSharesTest,PlannedMessageTest,CandidatePathsTest,VirtualDeviceTest
  rm -rf "$project"/{verbs,handshake,transport}/target/surefire-reports
  # one at a time, and a second time where one fails: the tests' deadlines are for processors that are not emulated
  "$run" aarch64 "$project/mvnw" -T 1 -B -ntp -f "$project/pom.xml" -pl verbs,handshake,transport -am test \
    "-Djvm=$java" "-Dlane.library=$project/lane/target/native-aarch64/libtrigon-lane.so" \
    -Dtest.jvm.tier=1 "-Dtest=$tests,!*FuzzTest" -Dsurefire.failIfNoSpecifiedTests=false \
    -Dspotless.check.skip=true -Dsurefire.rerunFailingTestsCount=1
  local module
  for module in verbs handshake transport; do
    grep -q 'name="os.arch" value="aarch64"' "$project/$module/target/surefire-reports"/*.xml || {
      echo "no test of $module ran on arm64"
      return 1
    }
  done
}

cat >"$scratch/trigon.yaml" <<END
version: 1
handshake: {timeout: 60s}
nodes:
  a: {nics: [{address: 127.0.12.1/24}]}
END
"$distribution/bin/trigon" --version
step "contract of NCCL's calls" host --mode contract
step "all-reduce of 2 ranks" all_reduce 2
step "all-reduce of 3 ranks" all_reduce 3
step "unit tests of verbs, handshake, transport" unit_tests
cat "$project"/{verbs,handshake,transport}/target/surefire-reports/*.txt | awk '
  /^Tests run/ { run += $3; failed += $5; wrong += $7; skipped += $9 }
  END { printf "arm64: %d tests, %d failed, %d skipped\n", run, failed + wrong, skipped }'
