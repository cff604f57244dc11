#!/usr/bin/env bash
# differential.sh - properties of verifier and compiler for long, on the classes of policy's tests;
# "./trigon benchmarks policy" builds them and comes here:
#     differential.sh differential [STREAMS [THREADS [SEED]]]  what is accepted does the same compiled and interpreted
#     differential.sh subsumption [PAIRS [THREADS [SEED]]]     a state that covers another stands for all its machines
#     differential.sh jars           collects in policy/engine/target/jars what this needs on a machine without
#                                    Maven's files
# JAVA_OPTIONS: more options for it, such as -Dtrigon.policy.runs=1000, the inputs of each program.
# JAVA names the java of a JDK or of a distribution (dist/target/trigon/runtime/bin/java).
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")"
java=${JAVA:-${JAVA_HOME:+$JAVA_HOME/bin/}java}
jars() {
  mkdir -p target/jars
  find "$HOME/.m2/repository/org/assertj" -name 'assertj-core-*.jar' | sort -V | tail -n 1 | xargs cp -t target/jars
}
run() { # CLASS [TRIALS [THREADS [SEED]]]
  [ -d target/jars ] || jars
  local classes=target/test-classes:target/classes:../../system/target/classes
  # shellcheck disable=SC2086
  exec "$java" ${JAVA_OPTIONS:-} --enable-native-access=ALL-UNNAMED -cp "$classes:target/jars/*" \
    "trigon.policy.$1" "${@:2}"
}
case ${1:-help} in
  differential) run DifferentialRun "${@:2}" ;;
  subsumption) run verify.SubsumptionRun "${@:2}" ;;
  jars) jars ;;
  *) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' differential.sh; exit 2 ;;
esac
