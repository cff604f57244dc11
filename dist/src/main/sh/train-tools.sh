#!/usr/bin/env bash
# Makes the AOT cache of the command trigon, lib/tools.aot, by a run of its commands.
# usage: train-tools.sh
set -euo pipefail
home=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/../.." && pwd)
. "$home/libexec/tools-java.sh"

[ -w "$home/lib" ] || {
  echo "train-tools.sh: $home/lib cannot be written to by $(id -un)" >&2
  exit 1
}
rm -f "$home"/lib/tools.aot*
tools_java "$home"
log=$(mktemp "${TMPDIR:-/tmp}/trigon-tools.XXXXXX")
trap 'rm -f "$log"' EXIT
if "${tools_java[@]}" "-XX:AOTCacheOutput=$home/lib/tools.aot" \
  -XX:+UnlockDiagnosticVMOptions -XX:-AOTAdapterCaching -XX:-AOTStubCaching \
  trigon.tools.Rehearsal >"$log" 2>&1 </dev/null &&
  [ -s "$home/lib/tools.aot" ]; then
  tools_binding "$home" >"$home/lib/tools.aot.binding"
else
  echo "train-tools.sh: the run that makes lib/tools.aot failed; the end of what it says:" >&2
  tail -n 25 "$log" >&2
  exit 1
fi
