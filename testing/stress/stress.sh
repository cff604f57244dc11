#!/usr/bin/env bash
# Tries what threads tell each other by memory, millions of times; docs/design/memory-order.md says what. Ends with an
# error if anything was seen that must not be, or a test did not run.
# usage: stress.sh [DURATION]: of each test, by default 1s; 300ms is enough for a look
set -euo pipefail
module=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
duration=${1:-1s}
[[ $duration =~ ^([1-9][0-9]{0,5})(ms|s|m|h)$ ]] ||
  { echo "stress: $duration is no DURATION such as 300ms, 10s or 5m" >&2; exit 2; }
case ${BASH_REMATCH[2]} in ms) unit=1 ;; s) unit=1000 ;; m) unit=60000 ;; *) unit=3600000 ;; esac
milliseconds=$((BASH_REMATCH[1] * unit))
. "$module/../../.mvn/find-jdk.sh"
trigon_find_jdk
cd "$module/target"

# one kind of JVM, one fork, and all actors compiled alike: JCStress' own choice takes hours
options="--enable-native-access=ALL-UNNAMED -XX:+UseSerialGC"
"$JAVA_HOME/bin/java" --enable-native-access=ALL-UNNAMED -cp "classes:$(cat runtime.classpath)" \
  org.openjdk.jcstress.Main -jvmArgs "$options" -sc false -hs 256 -f 1 -fsm 1 -iters 1 -time "$milliseconds" \
  -r results/ | tee stress.log
rm -f jcstress-results-*.bin.gz

# JCStress itself ends well when a test could not be run at all
last=$(grep -o '[0-9]* planned; [0-9]* passed, [0-9]* failed, [0-9]* soft errs, [0-9]* hard errs' stress.log | tail -1)
[[ $last =~ ^([0-9]+)\ planned\;\ ([0-9]+)\ passed ]] ||
  { echo "stress: JCStress has not said what came of it, see $PWD/stress.log" >&2; exit 1; }
[ "${BASH_REMATCH[1]}" -gt 0 ] && [ "${BASH_REMATCH[1]}" = "${BASH_REMATCH[2]}" ] ||
  { echo "stress: not all tests passed: $last; see $PWD/results/index.html" >&2; exit 1; }
