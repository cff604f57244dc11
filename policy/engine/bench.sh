#!/usr/bin/env bash
# bench.sh - long runs on the classes of policy's tests; "./trigon benchmarks policy" builds them and comes here:
#     bench.sh reload [DECISIONS_PER_SECOND [SECONDS [TURNS]]]      policies replaced while four threads decide
#     bench.sh differential [STREAMS [THREADS [SEED]]]              verifier and compiler against the interpreter
#     bench.sh decision                                             what a call costs in a warm loop
#     bench.sh jars                                                 collects in policy/engine/target/jars what these
#                                                                   need on a machine without Maven's files
# JAVA names the java of a JDK or of a distribution (dist/target/trigon/runtime/bin/java).
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")"
java=${JAVA:-${JAVA_HOME:+$JAVA_HOME/bin/}java}
jars() {
  mkdir -p target/jars
  find "$HOME/.m2/repository/org/assertj" -name 'assertj-core-*.jar' | sort -V | tail -n 1 | xargs cp -t target/jars
}
run() { # CLASS [ARGUMENT...]
  [ -d target/jars ] || jars
  local classes=target/test-classes:target/classes:../../verbs/api/target/classes:../../testing/support/target/classes
  exec "$java" --enable-native-access=ALL-UNNAMED -cp "$classes:target/jars/*" "trigon.policy.$1" "${@:2}"
}
case ${1:-help} in
  reload) shift; run ReloadBenchmark "$@" ;;
  differential) shift; run DifferentialRun "$@" ;;
  decision) run DecisionBenchmark ;;
  jars) jars ;;
  *) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' bench.sh; exit 2 ;;
esac
