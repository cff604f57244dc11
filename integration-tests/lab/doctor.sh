#!/bin/sh
# Faults planted into three virtual machines that have SoftRoCE devices: does the doctor find each, and nothing else?
# usage: doctor.sh; needs what the build needs, and runs for some minutes
# Exit status: 0 if it does; 125 if the lab itself failed.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
project=$(CDPATH='' cd -- "$here/../.." && pwd)

# build first: the guests may not see what changes later
(cd "$project" && ./mvnw -B -ntp -q -pl cluster -am -DskipTests test-compile) || exit 125
"$here/lab.py" up tri
trap '"$here/lab.py" down' EXIT
trap 'exit 130' INT TERM
cd "$project"
./mvnw -B -ntp -q -pl cluster -am -Dtest=PlantedLabFaults -Dsurefire.failIfNoSpecifiedTests=false \
  "-Dtrigon.lab=$here/lab.py" "$@" test
