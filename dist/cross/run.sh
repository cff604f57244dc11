#!/usr/bin/env bash
# run.sh - runs a command that sees the other processor's programs as if they were this machine's: the kernel hands them
# to qemu-user, children included, and they find their libraries in the root that fetch.sh has brought.
# usage: run.sh aarch64|x86_64 COMMAND...
#
# Only the command sees it: the handler is registered in a user and mount namespace of its own. Needs no root, but Linux
# 6.7 or later, and unprivileged user namespaces.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
. "$here/platforms.sh"
arch=$(platform "${1:-}")
shift
[ $# -gt 0 ] || { sed -n '2,/^set/{/^set/d; s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
[ "$arch" != "$this_machine" ] || exec "$@"
"$here/fetch.sh" "$arch"

# The first 20 bytes of an ELF program or library of that processor (e_machine: 183 and 62, see elf(5)), and which of
# their bits count.
case $arch in
  aarch64) machine='\xb7' ;;
  x86_64) machine='\x3e' ;;
esac
zeros='\x00\x00\x00\x00\x00\x00\x00\x00\x00'
ones='\xff\xff\xff\xff\xff\xff\xff\xff\xff'
magic='\x7fELF\x02\x01\x01'"$zeros"'\x02\x00'"$machine"'\x00'
mask='\xff\xff\xff\xff\xff\xff\xff'"$ones"'\xfe\xff\xff\xff'
# P: keeps argv[0]; O, C: opened, and credentials taken, from the program; F: qemu is opened now, whatever is mounted
# later
export TRIGON_HANDLER=":trigon-$arch:M::$magic:$mask:$cross/tools/usr/bin/qemu-$arch:POCF"
export QEMU_LD_PREFIX=$cross/$arch/root

# shellcheck disable=SC2016
exec unshare --user --map-root-user --mount bash -c '
  mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc &&
    printf "%s" "$TRIGON_HANDLER" >/proc/sys/fs/binfmt_misc/register || {
    echo "trigon: cannot register qemu-user: needs Linux 6.7 or later, this is $(uname -r)" >&2
    exit 125
  }
  unset TRIGON_HANDLER
  exec "$@"' bash "$@"
