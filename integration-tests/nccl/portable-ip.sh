#!/usr/bin/env bash
# Makes a folder with the program ip that runs on any Linux of this machine's architecture, for run.sh --ip.
set -euo pipefail

usage() {
  cat <<'END'
usage: portable-ip.sh FOLDER

Puts this machine's ip (package iproute2) into FOLDER, a new or empty one, with
the libraries and the loader that it needs. On a machine without ip:
run.sh ... --ip FOLDER/ip
END
}

fail() {
  echo "portable-ip.sh: $*" >&2
  exit 1
}

case ${1:-} in -h | --help | help) usage; exit 0 ;; esac
[ $# -eq 1 ] || { usage >&2; exit 2; }

folder=$1
program=$(command -v ip) || fail "no program ip here to copy; install the package iproute2"
program=$(readlink -f -- "$program")
[ ! -e "$folder" ] || [ -z "$(ls -A -- "$folder")" ] || fail "$folder is not empty"
needed=$(ldd "$program") || fail "$program is not a dynamic program"
mkdir -p -- "$folder/lib"

loader=
for path in $(grep -o '/[^ ]*' <<<"$needed"); do # neither the addresses nor the kernel's own library
  case $path in
    */ld-linux*.so.* | */ld64.so.*) loader=$path ;;
    *) cp -L -- "$path" "$folder/lib/" ;;
  esac
done
[ -n "$loader" ] || fail "ldd names no loader for $program"
cp -L -- "$loader" "$folder/lib/loader"
cp -L -- "$program" "$folder/lib/ip-program"

# the loader gets the libraries as an argument, so that what ip starts sees nothing of them
cat >"$folder/ip" <<'END'
#!/bin/sh
here=$(cd -- "$(dirname -- "$(readlink -f -- "$0")")" && pwd) || exit 1
exec "$here/lib/loader" --library-path "$here/lib" "$here/lib/ip-program" "$@"
END
chmod 755 "$folder/ip" "$folder/lib/loader" "$folder/lib/ip-program"
echo "$folder/ip: $("$folder/ip" -V)" || fail "the copy does not run"
