#!/usr/bin/env bash
# compose.sh - runs the example for Docker Compose as its recipe says, with the image of "./trigon package oci" and, for
# the ranks, an image of nothing but this machine's C library. Exits with 0 if no element was wrong.
#   integration-tests/containers/engine.sh run integration-tests/containers/compose.sh
# Needs docker-compose (Debian's package of that name), besides the engine.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
project=$(cd -- "$here/../.." && pwd)
distribution=$project/dist/target/trigon
project_name=trigon-example

loaded=$(docker load <"$(ls "$project"/dist/target/packages/trigon-*-oci.tar | tail -n 1)")
IMAGE=$(sed -n 's/^Loaded image: //p' <<<"$loaded" | grep -m 1 "$(dpkg --print-architecture)")
SYSTEM_IMAGE=$project_name-system:here
export IMAGE SYSTEM_IMAGE

# "libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x...)", "/lib64/ld-linux-x86-64.so.2 (0x...)"
libraries=$(ldd "$distribution/libexec/nccl-host" "$distribution/lib/libnccl-net-trigon.so" \
  "$distribution/runtime/lib/server/libjvm.so" "$distribution/runtime/lib/libnio.so" |
  sed -n 's,^[^(]*[[:blank:]]/\([^ ]*\) (0x.*,\1,p' | grep -v "^${distribution#/}" | sort -u)
# shellcheck disable=SC2086 # a library a word
tar --create --dereference --directory / $libraries | docker import - "$SYSTEM_IMAGE" >/dev/null

compose=(docker-compose --ansi never --project-name "$project_name"
  --file "$project/docs/examples/compose/compose.yaml")
trap '"${compose[@]}" down --volumes >/dev/null 2>&1' EXIT
output=$(timeout 300 "${compose[@]}" up 2>&1) || { echo "$output"; exit 1; }
grep -E 'wrong|exited|via' <<<"$output"
[ "$(grep -c ', 0 wrong$' <<<"$output")" -eq 3 ]
