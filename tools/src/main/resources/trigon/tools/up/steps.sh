set -eu
J=@FOLDER@
if [ ! -e "$J/journal" ] || [ -e "$J/undoing" ]; then
  echo "its time is over, and it is as before" >&2
  exit 1
fi
read -r up rest </proc/uptime
echo $((${up%%.*} + @SECONDS@)) >"$J/until.$$"
mv "$J/until.$$" "$J/until"

note() { # LINE: before what it undoes
  printf '%s\n' "$*" >>"$J/journal"
}

folder() { # PATH: with those above it
  [ -d "$1" ] && return 0
  folder "${1%/*}"
  note "folder $1"
  mkdir -m 755 "$1"
}

save() { # NUMBER PATH
  if [ -e "$2" ] || [ -L "$2" ]; then cp -pP "$2" "$J/old.$1"; fi
}

numbered() { # the next number
  number=$(grep -c '' "$J/journal" || :)
}

put() { # MODE GROUP PATH <CONTENT: writes it whole, or changes nothing
  folder "${3%/*}"
  numbered
  cat >"$J/new.$number"
  if [ ! -L "$3" ] && cmp -s "$J/new.$number" "$3" && [ "$(stat -c '%a %G' "$3")" = "$1 $2" ]; then
    rm "$J/new.$number"
    return 0
  fi
  save "$number" "$3"
  note "file $number $3"
  cp "$J/new.$number" "$3.trigon-new"
  chgrp "$2" "$3.trigon-new"
  chmod "$1" "$3.trigon-new"
  mv -f "$3.trigon-new" "$3"
}

link() { # TARGET PATH
  [ "$(readlink "$2" || :)" = "$1" ] && return 0
  folder "${2%/*}"
  numbered
  ln -s "$1" "$J/new.$number"
  save "$number" "$2"
  note "file $number $2"
  cp -P "$J/new.$number" "$2.trigon-new"
  mv -f "$2.trigon-new" "$2"
}

changing() { # PATH: something else is going to write it; then "changed" with the same number
  numbered
  save "$number" "$1"
  note "file $number $1"
}

changed() { # NUMBER PATH
  if [ -e "$2" ]; then cp -pP "$2" "$J/new.$1"; fi
}

add() { # INTERFACE ADDRESS
  note "run ip addr del $2 dev $1"
  ip addr replace "$2" dev "$1"
}

remove() { # INTERFACE ADDRESS, with the routes that go with it
  broadcast=$(ip -o addr show dev "$1" | sed -n "s|.* $2 \(brd [0-9.]*\) .*|\1|p")
  ip -4 route show dev "$1" | grep -v 'proto kernel' | grep '^[a-z0-9./: ]*$' | while read -r route; do
    note "run ip route replace $route dev $1"
  done
  note "run ip addr replace $2 $broadcast dev $1"
  ip addr del "$2" dev "$1"
}

mtu() { # INTERFACE BYTES
  note "run ip link set $1 mtu $(cat "/sys/class/net/$1/mtu")"
  ip link set "$1" mtu "$2"
}

up() { # INTERFACE
  note "run ip link set $1 down"
  ip link set "$1" up
}

hear() { # INTERFACE: its link-local IPv6 address, until "quiet"
  note "run echo 1 >/proc/sys/net/ipv6/conf/$1/disable_ipv6"
  echo 0 >"/proc/sys/net/ipv6/conf/$1/disable_ipv6"
}

quiet() { # INTERFACE: without IPv6, as before
  echo 1 >"/proc/sys/net/ipv6/conf/$1/disable_ipv6"
}
