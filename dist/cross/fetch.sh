#!/usr/bin/env bash
# fetch.sh - brings what building for another processor, and running it under emulation, takes: Debian packages,
# unpacked into the project's folder .cross, and installed nowhere. Some 40 s and 500 MB the first time, nothing
# afterwards.
#
#   fetch.sh aarch64|x86_64 [lab]   "lab": also a kernel and a busybox
#
#   .cross/ARCH/jdk       a JDK 25 of that processor, with jmods
#   .cross/ARCH/root      a root: its C library, libibverbs, a shell, iproute2
#   .cross/ARCH/headers   those of libibverbs
#   .cross/ARCH/lab       a kernel and a busybox, for the lab
#   .cross/tools          qemu-user, which runs one processor's programs on the other
#
# The packages are those of Debian 13, since Debian 12 has no JDK 25, and apt checks their signatures. TRIGON_DEBIAN,
# TRIGON_DEBIAN_SECURITY: other mirrors than those of /etc/apt, or, without any there, deb.debian.org. Versions are not
# fixed: a suite has one only.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
. "$here/platforms.sh"
release=trixie

die() {
  echo "trigon: $*" >&2
  exit 1
}

arch=$(platform "${1:-}")
folder=$cross/$arch
mkdir -p "$folder"
exec 9>"$cross/lock"
flock 9 # two builds at once fetch once

# Whatever this script fetches is fetched again when this script changes.
stamp=$(sha256sum <"$here/fetch.sh")
is_fetched() { [ "$(cat "$folder/.fetched-$1" 2>/dev/null)" = "$stamp" ]; }
fetched() { echo "$stamp" >"$folder/.fetched-$1"; }

# The mirror in the machine's own configuration, of a suite of Debian's.
mirror() { # SUFFIX DEFAULT
  local found
  found=$(sed -n "s/^URIs: *\([^ ]*\/debian$1\)\/* *.*/\1/p; s/^deb .*\(http[^ ]*\/debian$1\)\/* .*/\1/p" \
    /etc/apt/sources.list /etc/apt/sources.list.d/*.sources /etc/apt/sources.list.d/*.list 2>/dev/null | head -n 1)
  echo "${found:-$2}"
}

# apt with an empty machine of its own: it knows both processors, and has nothing installed.
own_apt() {
  local apt=$cross/apt keys=/usr/share/keyrings/debian-archive-keyring.gpg debian security
  [ -r $keys ] || die "no $keys, by which packages are checked; as root: apt-get install debian-archive-keyring"
  debian=${TRIGON_DEBIAN:-$(mirror '' http://deb.debian.org/debian)}
  security=${TRIGON_DEBIAN_SECURITY:-$(mirror -security http://deb.debian.org/debian-security)}
  mkdir -p "$apt"/{preferences.d,sources.d,state/lists/partial,cache/archives/partial}
  touch "$apt/status"
  cat >"$apt/sources.list" <<END
deb [signed-by=$keys] $debian $release main
deb [signed-by=$keys] $security $release-security main
END
  cat >"$apt/apt.conf" <<END
APT::Architecture "$(debian_name "$this_machine")";
APT::Architectures { "$(debian_name "$this_machine")"; "$(debian_name "$arch")"; };
APT::Install-Recommends "false";
APT::Sandbox::User "";
Dir::State "$apt/state";
Dir::State::status "$apt/status";
Dir::Cache "$apt/cache";
Dir::Etc::sourcelist "$apt/sources.list";
Dir::Etc::sourceparts "$apt/sources.d";
Dir::Etc::preferencesparts "$apt/preferences.d";
Acquire::Languages "none";
END
  export APT_CONFIG=$apt/apt.conf
  apt-get -qq update || die "cannot fetch the lists of packages from $debian and $security"
}

unpack() { # FOLDER FILE...
  local to=$1 file
  shift
  mkdir -p "$to"
  for file; do dpkg-deb --extract "$file" "$to"; done
}

download() { # FOLDER PACKAGE...: these alone
  local to=$1 debs
  shift
  debs=$(mktemp -d "$cross/debs.XXXXXX")
  (cd "$debs" && apt-get -qq download "$@" 2>"$debs/log") || die "cannot download $*: $(cat "$debs/log")"
  unpack "$to" "$debs"/*.deb
  rm -rf "$debs"
}

download_with_dependencies() { # FOLDER PACKAGE...
  local to=$1
  shift
  rm -f "$cross/apt/cache/archives"/*.deb
  apt-get -qq -y --download-only install "$@" >/dev/null || die "cannot download $*"
  # Debian's folders of programs and libraries are links since Debian 12, made by a package's scripts, which nobody runs
  mkdir -p "$to/usr/bin" "$to/usr/sbin" "$to/usr/lib"
  ln -sfn usr/bin "$to/bin"
  ln -sfn usr/sbin "$to/sbin"
  ln -sfn usr/lib "$to/lib"
  unpack "$to" "$cross/apt/cache/archives"/*.deb
  rm -f "$cross/apt/cache/archives"/*.deb
}

fetch_machine() {
  local of links link target
  of=$(debian_name "$arch")
  echo "trigon: fetching a JDK and a root of $arch" >&2
  rm -rf "$folder/jdk.new" "$folder/jdk" "$folder/root" "$folder/headers" "$cross/tools"
  download "$folder/jdk.new" "openjdk-25-jdk-headless:$of" "openjdk-25-jre-headless:$of"
  # its settings are links to /etc of the machine where it would be installed
  find "$folder/jdk.new" -type l -lname '/etc/*' | while read -r link; do
    target=$folder/jdk.new$(readlink "$link")
    rm "$link"
    [ ! -e "$target" ] || cp -RL "$target" "$link"
  done
  mv "$folder/jdk.new/usr/lib/jvm/java-25-openjdk-$of" "$folder/jdk"
  rm -rf "$folder/jdk.new"
  download_with_dependencies "$folder/root" "libc6:$of" "libgcc-s1:$of" "libstdc++6:$of" "zlib1g:$of" \
    "libibverbs1:$of" "ibverbs-providers:$of" "dash:$of" "bash:$of" "coreutils:$of" "sed:$of" "grep:$of" \
    "findutils:$of" "iproute2:$of"
  # its headers alone: those of the C library are the compiler's
  download "$folder/headers" "libibverbs-dev:$of"
  download "$cross/tools" "qemu-user:$(debian_name "$this_machine")"
  find "$cross/tools/usr/bin" -type f ! -name qemu-aarch64 ! -name qemu-x86_64 -delete
}

fetch_lab() {
  local of kernel
  of=$(debian_name "$arch")
  echo "trigon: fetching a kernel of $arch" >&2
  rm -rf "$folder/lab"
  kernel=$(apt-cache depends "linux-image-$of:$of" | sed -n "s/^ *Depends: *\(linux-image-[^ :]*\).*/\1/p" | head -n 1)
  [ -n "$kernel" ] || die "no linux-image-$of in Debian's $release"
  download "$folder/lab/kernel" "$kernel:$of"
  download "$folder/lab/busybox" "busybox-static:$of"
}

if ! is_fetched machine; then
  own_apt
  fetch_machine
  fetched machine
fi
if [ "${2:-}" = lab ] && ! is_fetched lab; then
  own_apt
  fetch_lab
  fetched lab
fi
