#!/usr/bin/env bash
# Builds, then runs the container tests alone, on the engine that there is or on one of its own (engine.sh).
#   run-tests.sh [OPTION...]   options of JUnit's console launcher, such as --include-methodname=PATTERN
# Exit status: 0 if all passed. Without an engine they fail.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
project=$here/../..
module=$project/integration-tests

. "$project/.mvn/find-jdk.sh"
trigon_find_jdk

engine=()
if [ -z "${DOCKER_HOST:-}" ] && ! [ -S /var/run/docker.sock ] &&
  ! [ -S "${XDG_RUNTIME_DIR:-/run/user/$(id -u)}/docker.sock" ]; then
  engine=("$here/engine.sh" run)
  "$here/engine.sh" check # before the build, which takes minutes
fi

(cd "$project" && ./mvnw -q package -DskipTests -pl integration-tests -am)

# as in pom.xml
export TRIGON_CONTAINERS=required TESTCONTAINERS_RYUK_DISABLED=true TESTCONTAINERS_HOST_OVERRIDE=localhost
exec "${engine[@]}" "$JAVA_HOME/bin/java" \
  --add-exports=java.base/sun.nio.ch=ALL-UNNAMED --enable-native-access=ALL-UNNAMED \
  "-Dtrigon.lane.library=$project/lane/target/native/libtrigon-lane.so" \
  -Dtrigon.distribution="$project/dist/target/trigon" \
  -cp "$module/target/test-classes:$(cat "$module/target/lab.classpath")" \
  org.junit.platform.console.ConsoleLauncher execute --disable-banner --disable-ansi-colors \
  --details=tree --details-theme=ascii \
  --scan-classpath="$module/target/test-classes" --include-classname='.*ContainersIT' "$@"
