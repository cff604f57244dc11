#!/usr/bin/env bash
# differential.sh - verifier and compiler against the interpreter, for long, on the classes of policy's tests;
# "./trigon benchmarks policy" builds them and comes here:
#     differential.sh differential [STREAMS [THREADS [SEED]]]
#     differential.sh jars           collects in policy/engine/target/jars what this needs on a machine without
#                                    Maven's files
# JAVA names the java of a JDK or of a distribution (dist/target/trigon/runtime/bin/java).
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")"
java=${JAVA:-${JAVA_HOME:+$JAVA_HOME/bin/}java}
jars() {
  mkdir -p target/jars
  find "$HOME/.m2/repository/org/assertj" -name 'assertj-core-*.jar' | sort -V | tail -n 1 | xargs cp -t target/jars
}
differential() { # [STREAMS [THREADS [SEED]]]
  [ -d target/jars ] || jars
  local classes=target/test-classes:target/classes:../../system/target/classes
  exec "$java" --enable-native-access=ALL-UNNAMED -cp "$classes:target/jars/*" trigon.policy.DifferentialRun "$@"
}
case ${1:-help} in
  differential) differential "${@:2}" ;;
  jars) jars ;;
  *) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' differential.sh; exit 2 ;;
esac
