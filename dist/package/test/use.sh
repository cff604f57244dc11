#!/usr/bin/env bash
# use.sh - uses an installed Trigon as a user does: version, exports, and a job whose ranks load the plugin by the path
# that "trigon env" prints, without LD_LIBRARY_PATH.
# usage: use.sh TRIGON [HANDSHAKE-TIMEOUT]
set -euo pipefail
trigon=$1
unset LD_LIBRARY_PATH NCCL_NET_PLUGIN NCCL_NET

fail() {
  echo "trigon: $*" >&2
  exit 1
}

version=$("$trigon" --version)
[[ $version =~ ^Trigon\ [0-9].*needs\ glibc\ [0-9.]+\ or\ later$ ]] || fail "--version: $version"
log=$(mktemp "${TMPDIR:-/tmp}/trigon-use.XXXXXX")
"$trigon" demo --links software --bytes 65536 --iterations 3 --handshake-timeout "${2:-30s}" >"$log" 2>&1 &&
  grep -q 'Every element was right on every rank' "$log" || fail "the demo: $(cat "$log")"

said=$(NCCL_NET_PLUGIN=none NCCL_NET=Socket "$trigon" env 2>&1 >/dev/null)
case $said in
  *NCCL_NET_PLUGIN=none*) ;;
  *) fail "env does not say that NCCL_NET_PLUGIN=none contradicts: $said" ;;
esac
eval "$("$trigon" env)"
[ "$NCCL_NET" = Trigon ] && [ -r "$NCCL_NET_PLUGIN" ] || fail "env has set NCCL_NET_PLUGIN=${NCCL_NET_PLUGIN:-}"
host=$(dirname "$(dirname "$NCCL_NET_PLUGIN")")/libexec/nccl-host
# as a launcher says it of a job on one machine, which may have nothing but a loopback
WORLD_SIZE=1 LOCAL_WORLD_SIZE=1 "$host" --plugin "$NCCL_NET_PLUGIN" --mode contract >"$log" 2>&1 ||
  fail "the host program: $(tail -n 20 "$log")"
rm "$log"
