#!/bin/sh
# run.sh BUILD [TIMES [NAME...]] - the device's own tests out of a build folder, so many times with other seeds.
set -eu
build=$1
times=${2:-1}
[ $# -le 2 ] && shift $# || shift 2
export SIMVERBS_CTL="$build/simulated/simverbs-ctl"
first=${SIMVERBS_TEST_SEED:-$(date +%s)}
n=0
while [ $n -lt "$times" ]; do
	SIMVERBS_TEST_SEED=$((first + n)) timeout 600 "$build/simulated/device-tests" "$@"
	n=$((n + 1))
done
