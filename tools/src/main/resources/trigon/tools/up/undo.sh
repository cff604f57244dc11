#!/bin/sh
# Undoes what "trigon up" has changed on this node, backwards by the journal beside it. May run twice.
#   undo.sh        all of it
#   undo.sh wait   the same once the time in "until" (seconds of uptime) has come, unless "kept" is there before
#   undo.sh down   all but the package
set -u
LC_ALL=C PATH=/usr/sbin:/usr/bin:/sbin:/bin
export LC_ALL PATH

await() {
  while :; do
    if [ ! -e "$here/journal" ] || [ -e "$here/kept" ]; then exit 0; fi
    read -r up rest </proc/uptime
    deadline=$(cat "$here/until" 2>/dev/null)
    [ "${up%%.*}" -lt "${deadline:-0}" ] || return 0
    sleep 1
  done
}

same() { # ONE OTHER: both are missing, or have the same content
  if [ -L "$1" ] || [ -L "$2" ]; then
    [ "$(readlink "$1")" = "$(readlink "$2")" ]
  elif [ -e "$1" ] && [ -e "$2" ]; then
    cmp -s "$1" "$2"
  else
    [ ! -e "$1" ] && [ ! -e "$2" ]
  fi
}

difference() { # NUMBER PATH: a secret is not shown
  case $2 in
    *.key) echo "  it has another key" ;;
    *) diff "$here/new.$1" "$2" 2>/dev/null | head -n 40 | sed 's/^/  /' ;;
  esac
}

restore() { # NUMBER PATH
  same "$here/old.$1" "$2" && return 0
  if [ -e "$here/new.$1" ] || [ -L "$here/new.$1" ]; then
    same "$here/new.$1" "$2" || {
      echo "left $2"
      difference "$1" "$2"
      return 0
    }
  fi
  if [ -e "$here/old.$1" ] || [ -L "$here/old.$1" ]; then
    cp -pP "$here/old.$1" "$2.trigon-old" && mv -f "$2.trigon-old" "$2"
  else
    rm -f "$2"
  fi
}

package() { # PATH: the folder of the package as before, if one was there
  [ "$mode" = down ] && return 0
  rm -rf "$1.trigon-new"
  if [ -e "$1.trigon-old" ]; then
    rm -rf "$1"
    mv "$1.trigon-old" "$1"
  elif [ ! -e "$here/had-package" ]; then
    rm -rf "$1"
  fi
}

undo() { # TYPE REST
  case $1 in
    file) restore "${2%% *}" "${2#* }" ;;
    folder) rmdir "$2" 2>/dev/null ;;
    package) package "$2" ;;
    run) (eval "$2") </dev/null >/dev/null 2>&1 ;;
  esac
}

main() {
  here=$(cd -- "$(dirname -- "$0")" && pwd) || exit 1
  mode=${1-all}
  if [ "$mode" = wait ]; then await; fi
  # of two that run at the same time, the second one waits for the first; one that was killed is waited for in vain
  tries=0
  until mkdir "$here/undoing" 2>/dev/null || [ ! -e "$here/journal" ] || [ "$tries" -ge 20 ]; do
    tries=$((tries + 1))
    sleep 1
  done
  [ -e "$here/journal" ] || exit 0
  number=$(wc -l <"$here/journal")
  while [ "$number" -gt 0 ]; do
    line=$(sed -n "${number}p" "$here/journal")
    undo "${line%% *}" "${line#* }"
    number=$((number - 1))
  done
  rm -rf "$here"
  rmdir /var/lib/trigon/up /var/lib/trigon 2>/dev/null
  exit 0
}

main "$@"
