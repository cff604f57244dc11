#!/usr/bin/env bash
# use.sh - uses an installed Trigon as a user does: the commands that need no hardware, of which each that succeeds says
# nothing on stderr, and a job whose ranks load the plugin by the path that "trigon env" prints, without
# LD_LIBRARY_PATH.
# usage: use.sh TRIGON [HANDSHAKE-TIMEOUT]
set -euo pipefail
trigon=$1
timeout=${2:-30s}
unset LD_LIBRARY_PATH NCCL_NET_PLUGIN NCCL_NET
scratch=$(mktemp -d "${TMPDIR:-/tmp}/trigon-use.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

fail() {
  echo "trigon: as $(id -u): $*" >&2
  exit 1
}

# What it writes to stdout is in $scratch/out.
silent() { # ARGUMENTS...
  "$trigon" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null ||
    fail "trigon $* fails with $?: $(tail -n 20 "$scratch/out" "$scratch/err")"
  [ ! -s "$scratch/err" ] || fail "trigon $* succeeds, and yet says on stderr: $(cat "$scratch/err")"
}

# The same, of a command whose status says what it thinks of this machine: 1 is no failure of the command.
silent_judge() { # ARGUMENTS...
  local status=0
  "$trigon" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null || status=$?
  [ $status -le 1 ] && [ ! -s "$scratch/err" ] || fail "trigon $* ends with $status and says: $(cat "$scratch/err")"
}

cat >"$scratch/cables" <<'END'
cables:
- a:eth1 b:eth1
- b:eth2 c:eth1
END
cat >"$scratch/cluster.yaml" <<'END'
version: 1
nodes:
  a: {nics: [{address: 10.0.12.1/24}]}
  b: {nics: [{address: 10.0.12.2/24}]}
END
silent --version
version=$(cat "$scratch/out")
[[ $version =~ ^Trigon\ [0-9].*needs\ glibc\ [0-9.]+\ or\ later$ ]] || fail "--version: $version"
silent help
home=$(eval "$("$trigon" env)" && dirname "$(dirname "$NCCL_NET_PLUGIN")")
for page in "$home"/share/help/trigon-*.txt; do
  page=${page##*/trigon-}
  page=${page%.txt}
  # shellcheck disable=SC2086
  silent help ${page//-/ }
done
silent links
silent links --json
silent plan "$scratch/cables"
silent plan --shape ring:4
TRIGON_CONFIG=$scratch/cluster.yaml silent explain --from a --to b
silent jobs
silent metrics
silent top --times 1
silent support --output "$scratch/support.zip"
silent policy list
silent policy verify "$home/policy/examples/size_aware.o"
silent policy test "$home/policy/examples/size_aware.o"
silent_judge check
silent_judge doctor

silent demo --links software --bytes 65536 --iterations 3 --handshake-timeout "$timeout"
grep -q 'Every element was right on every rank' "$scratch/out" || fail "the demo: $(cat "$scratch/out")"
TRIGON_TRACE=$scratch/trace silent demo --links software --bytes 65536 --iterations 3 --handshake-timeout "$timeout"
silent report "$scratch/trace"

said=$(NCCL_NET_PLUGIN=none NCCL_NET=Socket "$trigon" env 2>&1 >/dev/null)
case $said in
  *NCCL_NET_PLUGIN=none*) ;;
  *) fail "env does not say that NCCL_NET_PLUGIN=none contradicts: $said" ;;
esac
silent env --library-path
silent env
eval "$(cat "$scratch/out")"
[ "$NCCL_NET" = Trigon ] && [ -r "$NCCL_NET_PLUGIN" ] || fail "env has set NCCL_NET_PLUGIN=${NCCL_NET_PLUGIN:-}"
# as a launcher says it of a job on one machine, which may have nothing but a loopback
WORLD_SIZE=1 LOCAL_WORLD_SIZE=1 \
  "$home/libexec/nccl-host" --plugin "$NCCL_NET_PLUGIN" --mode contract >"$scratch/out" 2>&1 ||
  fail "the host program: $(tail -n 20 "$scratch/out")"
