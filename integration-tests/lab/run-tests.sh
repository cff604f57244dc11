#!/bin/sh
# Boots the lab once, runs JUnit test classes in its guest, and shuts it down.
#   run-tests.sh                        build, then run all *LabTest classes of integration-tests
#   run-tests.sh CLASSPATH CLASS...     run these; JUnit's console launcher must be on the class path
# LAB_JAVA_OPTIONS: more options for the JVM. LAB_TEST_TIMEOUT: seconds for the whole run, 1200 by default.
# LAB_TESTS_BUILT=yes: there is nothing to build.
# Exit status: 0 if all passed; 124 past the time limit; 125 if the lab itself failed.
# Reports in JUnit's XML format: integration-tests/target/lab-reports (LAB_SHARE).
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
project=$(CDPATH='' cd -- "$here/../.." && pwd)
module=$project/integration-tests

. "$project/.mvn/find-jdk.sh"
trigon_find_jdk || exit 125

if [ $# -eq 0 ]; then
  [ "${LAB_TESTS_BUILT:-}" = yes ] ||
    (cd "$project" && ./mvnw -q package -DskipTests -pl integration-tests -am) || exit 125
  classpath=$module/target/test-classes:$(cat "$module/target/lab.classpath")
  set -- "--scan-classpath=$module/target/test-classes" --include-classname='.*LabTest'
else
  classpath=$1
  shift
  [ $# -ge 1 ] || { echo "run-tests.sh: name the test classes after the class path" >&2; exit 2; }
  for class; do
    set -- "$@" "--select-class=$class"
    shift
  done
fi

# the guest sees the project read-only, except for this directory
: "${LAB_SHARE:=$module/target/lab-reports}"
export LAB_SHARE
mkdir -p "$LAB_SHARE"

# under emulation the C1 compiler alone, and the simplest collector, start the fastest; some tests count native memory
# shellcheck disable=SC2086
exec "$here/lab.py" run -t "${LAB_TEST_TIMEOUT:-1200}" \
  "$JAVA_HOME/bin/java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData -XX:NativeMemoryTracking=summary \
  --add-exports=java.base/sun.nio.ch=ALL-UNNAMED --enable-native-access=ALL-UNNAMED \
  "-Dtrigon.lane.library=$project/lane/target/native/libtrigon-lane.so" \
  ${LAB_JAVA_OPTIONS:-} -cp "$classpath" \
  org.junit.platform.console.ConsoleLauncher execute --disable-banner --disable-ansi-colors \
  --details=tree --details-theme=ascii \
  --reports-dir="$LAB_SHARE" "$@"
